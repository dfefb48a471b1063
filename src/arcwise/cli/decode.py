"""`arcwise decode`: the best trees of score matrices that anyone made."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from arcwise.cli.searching import (
    connected_option,
    exact_option,
    iterations_option,
    relaxation_option,
    restarts_option,
    rule_option,
    seconds_option,
    seed_option,
    start_option,
)
from arcwise.cli.terminal import progress_bar
from arcwise.errors import ArcwiseError, InputError, NoTreeError

if TYPE_CHECKING:
    from arcwise.constraints.reading import ConstraintFile
    from arcwise.search.result import Parse

Arc = tuple[int, int]
Named = tuple[str, Any]

_MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")
_DAMAGED = (OSError, ValueError, EOFError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error)
_WITH_BOUNDS = ("dual", "climb", "lp", "ilp", "price", "lagrangian", "branch-and-bound")
_TOGETHER = 1 << 22  # matrices are read and searched in groups of about so many scores: 32 MB


def _arcs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[Arc, ...]:
    arcs = []
    for value in values:
        try:
            h, m = (int(part) for part in value.split(","))
        except ValueError:
            raise click.BadParameter(f"{value!r} is not a head and a modifier, as in 0,3") from None
        arcs.append((h, m))
    return tuple(arcs)


@click.command("decode")
@click.argument("scores", metavar="SCORES.npz", type=click.Path())
@click.option("--projective", is_flag=True, help="Only trees whose arcs do not cross.")
@click.option("--multi-root", is_flag=True, help="Allow several words headed by the root 0.")
@click.option("--k-best", "k", type=click.IntRange(1), metavar="K", help="The K best trees of every matrix.")
@click.option(
    "--required", multiple=True, callback=_arcs, metavar="H,M", help="An arc that every tree must have."
)
@click.option(
    "--forbidden", multiple=True, callback=_arcs, metavar="H,M", help="An arc that no tree may have."
)
@click.option(
    "--constraints", "wishes", type=click.Path(), metavar="FILE",
    help="What trees must be like, one constraint a line; `@NAME` before it is the array that it is for.",
)  # fmt: skip
@click.option(
    "--shape", metavar="CLASS",
    help="Only trees of a class: projective, 1-inherit, well-nested, a greatest block degree like 2, or both like 2-well-nested.",
)  # fmt: skip
@click.option(
    "--decoder", metavar="METHOD",
    help="How to search: spanning-tree, eisner, branch-and-bound or lagrangian; for tables of parts dual, climb, lp, ilp or price, "
    "or with --projective sibling, carreras, model0, model1, model2 and others; one that fits if not given.",
)  # fmt: skip
@exact_option
@iterations_option
@click.option(
    "--budget", type=click.IntRange(1), metavar="N",
    help="After so much work for each word an exact dual decomposition gives up, too (about as many nanoseconds); with a --shape, "
    "after so many nodes of branch and bound.  [default: 100,000,000; 20,000 nodes]",
)  # fmt: skip
@rule_option
@relaxation_option
@connected_option
@seconds_option
@restarts_option
@start_option
@seed_option
@click.option(
    "--trace", type=click.Path(), metavar="TRACE",
    help="Write bound and score of every step of dual decomposition to this file, for `arcwise plot`.",
)  # fmt: skip
@click.option(
    "-f", "--format", "form", type=click.Choice(["heads", "conllu", "json"]), default="heads", show_default=True,
    help="heads: name, score and heads of the words 1..n in one line; json: one object a line.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads.")
@click.option(
    "-o", "--output", default="-", metavar="OUT", help="Where to write; standard output if not given."
)
def command(
    scores: str,
    projective: bool,
    multi_root: bool,
    k: int | None,
    required: tuple[Arc, ...],
    forbidden: tuple[Arc, ...],
    wishes: str | None,
    shape: str | None,
    decoder: str | None,
    exact: bool,
    iterations: int | None,
    budget: int | None,
    rule: str,
    relaxation: str,
    connected: str,
    seconds: float | None,
    restarts: int | None,
    start: str | None,
    seed: int | None,
    trace: str | None,
    form: str,
    jobs: int,
    output: str,
) -> None:
    """Find the best tree of every score matrix in SCORES.npz (or one .npy), exactly.

    A matrix of n words is (n+1, n+1): row h, column m scores the arc from head h to modifier m, where 0 is
    the root and -inf forbids an arc. A three-dimensional array is many matrices. Trees come in the file's
    order, each with the name of its array.

    Arrays named NAME/arcs, NAME/siblings, NAME/grandchildren, NAME/grand_siblings, NAME/tri_siblings and so on, or arcs, siblings and
    so on, are tables of the parts of one sentence: see `arcwise.Scores`. With --projective a chart is searched, else all trees by
    dual decomposition. The tree is proved best either way; with --no-exact it may have a gap, as json tells. --decoder lp solves a
    linear program, ilp an integer one, price builds of both only what matters (pip install 'arcwise[lp]').

    Trees of a --shape are found by branch and bound, or with --decoder lagrangian by its first bound alone, which may leave a gap.
    With --decoder climb trees are found by randomized hill climbing, and proved best where they meet a bound from elsewhere.

    An option that the search does not have is refused.

    \b
    Example:
      python -c "import numpy as np; np.savez('scores.npz', mary=np.random.randn(4, 4))"
      arcwise decode scores.npz --projective --format conllu
      arcwise decode scores.npz --k-best 5 --required 0,2
      arcwise decode scores.npz --shape 2-well-nested --format json
      echo "subtree 2-3" > rules.txt && arcwise decode scores.npz --constraints rules.txt
      python -c "import numpy as np; np.savez('parts.npz', arcs=np.zeros((4, 4)), siblings=np.random.randn(4, 4, 4))"
      arcwise decode parts.npz
      arcwise decode parts.npz --projective --k-best 3
      arcwise decode parts.npz --decoder lp --relaxation pairs --connected single-flow --format json
    """
    from arcwise.evaluation.traces import TraceWriter, sentence_trace
    from arcwise.treebank.writing import open_output

    options: dict[str, Any] = {"projective": projective, "single_root": not multi_root, "decoder": decoder}
    searching: dict[str, Any] = {
        "exact": exact, "iterations": iterations, "budget": budget, "rule": rule, "relaxation": relaxation, "connected": connected,
        "seconds": seconds, "restarts": restarts, "start": start, "seed": seed, "trace": trace is not None,
    }  # fmt: skip
    if k is None:
        options |= searching
    else:
        _refuse_with_k_best(searching)
    if trace == "-":
        raise click.UsageError("--trace needs the name of a file")
    if shape is not None:
        options |= _of_shape(shape, k)
    constraints = _constraints(wishes, k)
    render = {"heads": _heads_line, "conllu": _conllu, "json": _json_line}[form]
    with (
        progress_bar(only_compiling=True) as show,
        open_output(output) as file,
        nullcontext() if trace is None else TraceWriter(trace) as writer,
    ):
        number = 0
        for group in _groups(_matrices(scores)):
            for name, parses in _search(scores, group, k, required, forbidden, constraints, jobs, options):
                show("found", 1, None)
                number += 1
                if writer is not None:
                    writer.write(sentence_trace(parses[0], number, name))
                for rank, parse in enumerate(parses, start=1):
                    text = render(" ".join(name.split()), parse, rank if k else None)
                    file.write(text.encode("utf-8", "replace"))
    unmatched = [] if constraints is None else constraints.unmatched()
    if unmatched:
        raise InputError(
            f"no array is called {' or '.join(unmatched)}",
            expected="the name or the number of one (the trees written satisfy all other lines)",
            file=wishes,
        )


def _refuse_with_k_best(searching: dict[str, Any]) -> None:
    """InputError for what says how to search for one tree."""
    nothing = {"exact": True, "rule": "gap", "relaxation": "all", "connected": "cuts", "trace": False}
    for name, value in searching.items():
        if value != nothing.get(name):
            option = "--no-exact" if name == "exact" else f"--{name}"
            raise InputError(f"{option} with --k-best", expected="one of them")


def _of_shape(name: str, k: int | None) -> dict[str, Any]:
    """The options of `decode` that ask for a class of trees."""
    from arcwise.trees.shapes import read_shape

    if k is not None:
        raise InputError("--shape with --k-best", expected="one of them")
    shape = read_shape(name)
    return {
        "block_degree": shape.block_degree or None,
        "well_nested": shape.well_nested,
        "one_inherit": shape.one_inherit,
    }


def _constraints(path: str | None, k: int | None) -> ConstraintFile | None:
    from arcwise.constraints.reading import read_constraints

    if path is None:
        return None
    if k is not None:
        raise InputError("--constraints with --k-best", expected="one of them")
    return read_constraints(path)


def _search(
    path: str,
    group: list[tuple[int, Named]],
    k: int | None,
    required: tuple[Arc, ...],
    forbidden: tuple[Arc, ...],
    wishes: ConstraintFile | None,
    jobs: int,
    options: dict[str, Any],
) -> Iterator[tuple[str, list[Parse]]]:
    """The trees of every matrix of a group; an error names file and array."""
    from arcwise.search.decode import decode, k_best

    each = [wishes.of(number, name) if wishes else [] for number, (name, _) in group]
    if k is None:
        try:
            constraints: dict[str, Any] = {
                "required": [required] * len(group),
                "forbidden": [forbidden] * len(group),
            }
            if wishes:
                constraints["constraints"] = each
            parses = decode([matrix for _, (_, matrix) in group], jobs=jobs, **constraints, **options)
        except ArcwiseError:
            pass  # one by one, the culprit has a name
        else:
            yield from ((name, [parse]) for (_, (name, _)), parse in zip(group, parses, strict=True))
            return
    for (_, (name, matrix)), own in zip(group, each, strict=True):
        try:
            if k is None:
                yield (
                    name,
                    [decode(matrix, required=required, forbidden=forbidden, constraints=own, **options)],
                )
            else:
                yield name, k_best(matrix, k, required=required, forbidden=forbidden, **options)
        except NoTreeError as error:
            raise NoTreeError(f"{path}: array {name!r}: {error}") from None
        except InputError as error:
            raise InputError(f"array {name!r}: {error}", file=path) from None


@contextmanager
def _reading(path: str, what: str) -> Iterator[None]:
    """Whatever a damaged file makes the reader raise, as an InputError."""
    try:
        yield
    except _DAMAGED as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot read {what} ({reason})", expected="a .npz or .npy file", file=path
        ) from None


def _matrices(path: str) -> Iterator[Named]:
    """The matrices of a .npz or .npy file with their names, read one by one."""
    import numpy as np

    from arcwise.parts.scores import Scores

    with _reading(path, "it"):
        file = open(path, "rb")  # noqa: SIM115
    with file:
        with _reading(path, "it"):
            if not file.read(6).startswith(_MAGIC):
                raise ValueError("it is something else")
            file.seek(0)
            loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            yield from _named(path, "scores", loaded)
            return
        if not loaded.files:
            raise InputError("no arrays", expected="at least one", file=path)
        tables = _sentences_of_parts(loaded.files)
        of_parts: dict[str, dict[str, Any]] = {sentence: {} for sentence in tables}
        for name in loaded.files:
            with _reading(path, f"array {name!r}"):
                array = loaded[name]
            sentence, _, table = name.rpartition("/")
            if table not in tables.get(sentence, ()):
                yield from _named(path, name, array)
                continue
            of_parts[sentence][table] = array
            if of_parts[sentence].keys() == tables[sentence]:
                try:
                    yield sentence or "scores", Scores(**of_parts.pop(sentence))
                except InputError as error:
                    raise InputError(f"tables of {sentence or 'scores'!r}: {error}", file=path) from None


def _sentences_of_parts(names: list[str]) -> dict[str, set[str]]:
    """The tables of each sentence that has some beside its arcs."""
    from arcwise.parts.scores import TABLES

    tables: dict[str, set[str]] = {}
    for name in names:
        sentence, _, table = name.rpartition("/")
        if table in TABLES:
            tables.setdefault(sentence, set()).add(table)
    return {sentence: found for sentence, found in tables.items() if "arcs" in found and len(found) > 1}


def _named(path: str, name: str, array: Any) -> Iterator[Named]:
    if getattr(array, "ndim", None) == 3:
        yield from ((f"{name}[{b}]", matrix) for b, matrix in enumerate(array))
    elif getattr(array, "ndim", None) == 2:
        yield name, array
    else:
        shape = getattr(array, "shape", "none")
        raise InputError(
            f"array {name!r} has shape {shape}", expected="(n+1, n+1) or (b, n+1, n+1)", file=path
        )


def _groups(matrices: Iterator[Named]) -> Iterator[list[tuple[int, Named]]]:
    """Some matrices at a time, numbered from 1."""
    group: list[tuple[int, Named]] = []
    entries = 0
    for number, (name, matrix) in enumerate(matrices, start=1):
        if group and type(matrix) is not type(group[0][1][1]):
            yield group
            group, entries = [], 0
        group.append((number, (name, matrix)))
        entries += matrix.size
        if entries >= _TOGETHER:
            yield group
            group, entries = [], 0
    if group:
        yield group


def _heads_line(name: str, parse: Parse, rank: int | None) -> str:
    return f"{name}\t{parse.score!r}\t{' '.join(map(str, parse.heads[1:].tolist()))}\n"


def _json_line(name: str, parse: Parse, rank: int | None) -> str:
    result: dict[str, Any] = {"name": name, "score": parse.score, "heads": parse.heads[1:].tolist()}
    if rank is not None:
        result["rank"] = rank
    elif parse.bound is not None and parse.stats.get("method") in _WITH_BOUNDS:
        result |= {"bound": parse.bound, "certified": parse.certified}
    return json.dumps(result, ensure_ascii=False) + "\n"


def _conllu(name: str, parse: Parse, rank: int | None) -> str:
    heads = parse.heads[1:].tolist()
    if not heads:
        raise InputError(f"array {name!r} has no words", expected="at least one, to write CoNLL-U")
    lines = [f"# sent_id = {name}" + (f"-{rank}" if rank else ""), f"# score = {parse.score!r}"]
    for m, h in enumerate(heads, start=1):
        lines.append(f"{m}\tw{m}\t_\t_\t_\t_\t{h}\t{'dep' if h else 'root'}\t_\t_")
    return "\n".join(lines) + "\n\n"
