"""The command line: one file a command, loaded when it is called."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

import arcwise
from arcwise.cli.signals import INTERRUPTED, heeding_signals

# Each command lives in the module of its name, as a click command called `command`.
_COMMANDS = (
    *("parse", "train", "calibrate", "evaluate", "analyze", "decode", "cluster"),
    *("bench", "experiment", "plot", "warmup"),
)

_REFUSED = 2  # an exit status


class _LazyGroup(click.Group):
    """Commands that are imported when they are called, and end with a plain line whatever goes wrong outside of arcwise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"arcwise.cli.{name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of our output went away (`arcwise parse ... | head`): nothing is wrong with the input.
            _drop_output()
            ctx.exit(0)
        except OSError as error:
            _drop_output()
            place = f"{error.filename}: " if error.filename else ""
            click.echo(f"arcwise: {place}cannot write: {str(error.strerror or error).lower()}", err=True)
            ctx.exit(_REFUSED)
        except KeyboardInterrupt:
            _drop_output()
            click.echo("arcwise: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        return result


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    """A warning as one plain line, as all else that commands tell."""
    click.echo(f"arcwise: {' '.join(str(message).split())}", err=True)


def _drop_output() -> None:
    """What standard output still holds goes nowhere: the interpreter must not stumble over it at its end."""
    with suppress(OSError, ValueError):  # where standard output is no real file there is nothing to drop
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.command(
    cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(arcwise.__version__, prog_name="arcwise")
def arcwise_command() -> None:
    """Dependency trees, searched for and proved best.

    \b
    Example:
      arcwise parse --text "Our neighbours did not believe it."
      arcwise parse book.txt -o book.conllu
      arcwise train train.conllu --dev dev.conllu -o my.arcwise
    """


def main() -> None:
    """Run the command line. What arcwise refuses ends with one line on standard error and exit status 2."""
    with heeding_signals(), warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            arcwise_command(prog_name="arcwise")
        except arcwise.ArcwiseError as error:
            click.echo(f"arcwise: {error}", err=True)
            sys.exit(_REFUSED)
