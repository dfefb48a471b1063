"""The command line: one file a command, loaded when it is called."""

from __future__ import annotations

import sys
from importlib import import_module

import click

import arcwise

# Each command lives in the module of its name, as a click command called `command`.
_COMMANDS = ("parse", "train", "evaluate", "analyze", "decode", "bench", "warmup")


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"arcwise.cli.{name}").command
        return command


@click.command(
    cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(arcwise.__version__, prog_name="arcwise")
def arcwise_command() -> None:
    """Dependency trees, searched for and proved best.

    \b
    Example:
      arcwise train train.conllu --dev dev.conllu -o my.arcwise
      arcwise parse text.conllu --model my.arcwise -o parsed.conllu
    """


def main() -> None:
    """Run the command line; what arcwise refuses ends with one line on standard error and exit status 2."""
    try:
        arcwise_command(prog_name="arcwise")
    except arcwise.ArcwiseError as error:
        click.echo(f"arcwise: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (`arcwise parse ... | head`): nothing is wrong with the input.
        sys.stderr.close()
        sys.exit(0)
