"""`arcwise bench`: how fast, how small and how good, beside others and beside the targets."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from arcwise.bench.row import Row
    from arcwise.bench.timing import Say

_OF_MODELS = ("dual", "programs")  # measured only if they are named
_NAMES = (
    "training",
    "learners",
    "parsing",
    "orders",
    *_OF_MODELS,
    "text",
    "reading",
    "search",
    "sums",
    "charts",
    "clusters",
)
_WITHOUT_TREEBANK = ("search", "sums", "charts", "clusters")
_PACKAGES = ("arcwise", "numba", "numpy", "highspy")
_PEERS = (
    "conllu",
    "ufal.chu_liu_edmonds",
    "ufal.udpipe",
    "brown-clustering",
    "spacy",
    "scipy",
    "torch",
    "torch-struct",
    "supar",
)
_HEADER = ("figure", "ours", "peer", "peer's", "ratio", "target", "reached")
_NOTES = """\
Medians; what is compared took turns in one process. CPU time on one thread, unless it says elapsed.
ratio: how many times as good as the peer, above 1 is better for us."""


@click.command("bench")
@click.argument("names", metavar="[NAME]...", nargs=-1, type=click.Choice(_NAMES))
@click.option(
    "--treebank", metavar="DIR", type=click.Path(),
    help="A folder with files train.*, dev.* and test.*; without it, words are made up, which is no use for text.",
)  # fmt: skip
@click.option(
    "--model", metavar="MODEL", type=click.Path(path_type=Path),
    help="For parsing and text: a model that `arcwise train` made. Without it, parsing trains one on gold tags, and that is "
    "measured too; text takes the one named en that comes with arcwise.",
)  # fmt: skip
@click.option(
    "--beside", metavar="MODEL", type=click.Path(path_type=Path),
    help="For orders: a model of first order, whose time is compared.",
)  # fmt: skip
@click.option(
    "--udpipe", metavar="FILE", multiple=True, type=click.Path(path_type=Path),
    help="For text: a trained model of UDPipe 1 to compare with. Several, if tokenizer, tagger and parser are not in one file.",
)  # fmt: skip
@click.option(
    "--rounds", type=click.IntRange(1), default=30, show_default=True,
    help="How often short things are measured; long things less often.",
)  # fmt: skip
@click.option("--peers", is_flag=True, help="For parsing: prepare UDPipe and spaCy, if installed; a minute.")
@click.option("--json", "form", flag_value="json", help="Print all figures for programs.")
@click.option("--markdown", "form", flag_value="markdown", help="Print a table to paste into a document.")
def command(
    names: tuple[str, ...],
    treebank: str | None,
    model: Path | None,
    beside: Path | None,
    udpipe: tuple[Path, ...],
    rounds: int,
    peers: bool,
    form: str | None,
) -> None:
    """Measure arcwise on this machine beside other packages that are installed, and beside its targets.

    \b
    NAME is one or more of the following; all but dual and programs if none is given, text only with a treebank, orders only
    with both models:
      training  time, memory and accuracy of a model trained with the defaults
      learners  an epoch of every learner beside one of the perceptron
      parsing   words a second from CoNLL-U to CoNLL-U, threads, time to start, size of the model
      dual      of a model of higher order over all trees: speed, trees proved best, what the finish costs
      programs  of a model of second order over all trees: price and cut beside full programs, cuts beside flow
      orders    of a model that searches a chart: arcs kept, the best trees among them, time beside the first order
      text      words, sentences, tags and trees from raw text: how good, how fast, how soon
      reading   reading a treebank file
      search    trees from arc scores
      sums      partition functions and marginals from arc scores
      charts    projective trees from scores of higher parts: how the time grows
      clusters  Brown clusters of text: how fast, how good

    Targets are those of the treebank UD English EWT, release 2.16, in a folder named en_ewt.

    \b
    Example:
      arcwise bench search
      arcwise bench learners --treebank en_ewt --rounds 5
      arcwise bench parsing --treebank en_ewt --model my.arcwise --peers
      arcwise bench orders --treebank en_ewt --model third.arcwise --beside first.arcwise
      arcwise bench dual --treebank en_ewt --model second.arcwise
      arcwise bench programs --treebank hu_szeged --model grandparents.arcwise --rounds 3
      arcwise bench text --treebank en_ewt --udpipe en_ewt.udpipe
      arcwise bench --treebank en_ewt --markdown
    """
    if "text" in names and treebank is None:
        raise click.UsageError("text needs --treebank")
    for name in {"orders", *_OF_MODELS} & {*names}:
        if treebank is None or model is None:
            raise click.UsageError(f"{name} needs --treebank and --model")
    left_out = {*_OF_MODELS, "text"} if treebank is None else {*_OF_MODELS}
    if treebank is None or model is None or beside is None:
        left_out.add("orders")
    names = names or tuple(name for name in _NAMES if name not in left_out)
    with TemporaryDirectory() as folder, _progress() as say:
        rows = _measure(names, treebank, model, beside, udpipe, rounds, peers, Path(folder), say)
    if form == "json":
        figures = [asdict(row) | {"ratio": row.ratio} for row in rows]
        click.echo(json.dumps({"machine": _machine(), "rows": figures}, ensure_ascii=False, indent=2))
    elif form == "markdown":
        _print_markdown(rows)
    else:
        _print_text(rows)


def _measure(
    names: tuple[str, ...],
    folder: str | None,
    model: Path | None,
    beside: Path | None,
    udpipe: tuple[Path, ...],
    rounds: int,
    peers: bool,
    scratch: Path,
    say: Say,
) -> list[Row]:
    """The rows of all names, in the order of _NAMES: training first, so that its memory is its own and parsing has its model."""
    rows: list[Row] = []
    if not {*names} <= {*_WITHOUT_TREEBANK}:
        from arcwise.bench.treebank import find_treebank, make_treebank

        treebank = find_treebank(folder) if folder is not None else make_treebank(scratch)
        trained = scratch / "trained.arcwise"
    if "training" in names or ("parsing" in names and model is None):
        from arcwise.bench import training

        rows += training.rows(treebank, trained, say)
    if "learners" in names:
        from arcwise.bench import learners

        rows += learners.rows(treebank, rounds, say)
    if "parsing" in names:
        from arcwise.bench import parsing, training

        if model is not None:  # a speed means nothing if the trees are wrong
            rows += training.accuracy_rows(treebank, model, model.name, say)
        rows += parsing.rows(treebank, model or trained, rounds, peers, say)
    if "orders" in names:
        from arcwise.bench import orders

        assert model is not None
        rows += orders.rows(treebank, model, beside, rounds, say)
    if "dual" in names:
        from arcwise.bench import dual

        assert model is not None
        rows += dual.rows(treebank, model, rounds, say)
    if "programs" in names:
        from arcwise.bench import programs

        assert model is not None
        rows += programs.rows(treebank, model, rounds, say)
    if "text" in names:
        from arcwise.bench import text

        rows += text.rows(treebank, model or "en", udpipe, rounds, say)
    if "reading" in names:
        from arcwise.bench import reading

        rows += reading.rows(treebank, rounds, say)
    if "search" in names:
        from arcwise.bench import search

        rows += search.rows(rounds, say)
    if "sums" in names:
        from arcwise.bench import sums

        rows += sums.rows(rounds, say)
    if "charts" in names:
        from arcwise.bench import charts

        rows += charts.rows(rounds, say)
    if "clusters" in names:
        from arcwise.bench import clusters

        rows += clusters.rows(rounds, say)
    return rows


@contextmanager
def _progress() -> Iterator[Say]:
    """Shows what is being measured, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)


def _machine() -> dict[str, str]:
    """When, on what and with what this was measured."""
    machine = {
        "date": date.today().isoformat(),
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "packages": _versions(_PACKAGES),
        "peers": _versions(_PEERS) or "none installed",
    }
    if hasattr(os, "getloadavg"):
        machine["load at the end"] = f"{os.getloadavg()[0]:.1f}"
    return machine


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or "unknown processor"


def _versions(packages: tuple[str, ...]) -> str:
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _cells(row: Row) -> tuple[str, ...]:
    peer = (
        _number(row.peer_value, row.unit)
        if row.peer_value is not None
        else "not installed"
        if row.peer
        else ""
    )
    return (
        row.name,
        f"{_number(row.ours, row.unit)} {row.unit}",
        row.peer,
        peer,
        "" if row.ratio is None else f"{row.ratio:.3g}",
        row.target,
        {True: "yes", False: "NO", None: ""}[row.reached],
    )


def _number(value: float, unit: str) -> str:
    """
    >>> _number(53251.18, "words/s"), _number(87.256, "%"), _number(3.14159, "us")
    ('53,251', '87.26', '3.14')
    """
    if unit == "%":
        return f"{value:.2f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _print_text(rows: list[Row]) -> None:
    for what, value in _machine().items():
        click.echo(f"{what}: {value}")
    click.echo()
    table = [_HEADER, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    right = (1, 3, 4)
    for cells in table:
        padded = [
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        click.echo("  ".join(padded).rstrip())
    click.echo(f"\n{_NOTES}")


def _print_markdown(rows: list[Row]) -> None:
    for what, value in _machine().items():
        click.echo(f"- {what}: {value}")
    click.echo(f"\n| {' | '.join(_HEADER)} |\n|---|---:|---|---:|---:|---|---|")
    for row in rows:
        click.echo(f"| {' | '.join(_cells(row))} |")
    click.echo(f"\n{_NOTES}")
