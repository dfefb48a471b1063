"""`arcwise analyze`: what the trees of a treebank look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from arcwise.cli.tables import Cell, Numbers, Report, Table, print_reports
from arcwise.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from arcwise.evaluation.structure import Structure

_BAR = 30  # characters of the longest bar of a histogram
_COVER = 99.0


@click.command("analyze")
@click.argument("treebanks", metavar="TREEBANK...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True,
    help="What to print: tables for people, or all counts for programs.",
)  # fmt: skip
@click.option(
    "--skip-bad", is_flag=True, help="Leave out malformed sentences and those without a tree, and count them."
)
@click.option(
    "--cover", type=click.FloatRange(0, 100), show_default="99", metavar="PERCENT",
    help="Name the smallest class of trees that covers so many of the sentences.",
)  # fmt: skip
@click.option(
    "--local-optima", is_flag=True,
    help="Count the trees in which a climber can get stuck, under the scores of --model, instead.",
)  # fmt: skip
@click.option("--model", metavar="MODEL", help="A first-order model that comes with arcwise, or a file.")
@click.option(
    "--most", type=click.IntRange(1), show_default="10000", metavar="N",
    help="Count no more local optima of a sentence than this.",
)  # fmt: skip
def command(
    treebanks: tuple[str, ...],
    form: str,
    skip_bad: bool,
    cover: float | None,
    local_optima: bool,
    model: str | None,
    most: int | None,
) -> None:
    """Count the shapes, lengths, arcs, labels and roots of the trees in each TREEBANK.

    Treebanks are CoNLL-U, CoNLL-X, CoNLL-2008 or CoNLL-2009 files, plain or compressed, or `-` for standard
    input. Several are reported one by one and, as text and JSON, all together.

    Classes of trees go from projective to any, by block degree and well-nestedness. The smallest that covers --cover percent is what
    `arcwise train --shape auto` has a model keep to.

    --local-optima looks at the trees that a first-order model can find for each sentence, not at those in the treebank: how many are
    such that no change of one head betters them, among the arcs that the pruner keeps (Zhang et al. 2014, table 2)? Half of the
    sentences have no more of them than it says under 50%, and so on. They are counted among trees with any number of roots, as in the
    paper, and if the model finds trees of one root, among these, too. A change of one head never changes the one root, so there
    is then one at least for every word that can be the root.

    \b
    Example:
      arcwise analyze train.conllu dev.conllu
      arcwise analyze --format json --skip-bad - < raw.conllu
      arcwise analyze test.conllu --local-optima --model en
    """
    if local_optima:
        if model is None:
            raise click.UsageError("--local-optima needs the scores of a first-order model: --model MODEL")
        if cover is not None:
            raise click.UsageError(
                "--cover does not go with --local-optima, which looks at no classes of trees"
            )
        from arcwise.cli.local_optima import local_optima_reports
        from arcwise.search.local_optima import MOST

        print_reports(local_optima_reports(treebanks, model, MOST if most is None else most, skip_bad), form)
        return
    for name, value in (("--model", model), ("--most", most)):
        if value is not None:
            raise click.UsageError(f"{name} goes with --local-optima only")
    structures = _measure(treebanks, skip_bad)
    cover = _COVER if cover is None else cover
    if len(structures) > 1:
        structures.append((f"all {len(structures)} treebanks", _total(structures)))
    print_reports(
        [Report(name, _numbers(one, cover), list(_tables(one, cover))) for name, one in structures], form
    )


def _measure(treebanks: tuple[str, ...], skip_bad: bool) -> list[tuple[str, Structure]]:
    from arcwise.evaluation.structure import measure_structure
    from arcwise.treebank.reading import BlockReader

    structures = []
    with progress_bar() as show:
        for treebank in treebanks:
            with BlockReader(treebank, skip_bad=skip_bad) as reader:
                structure = measure_structure(
                    reader,
                    skip_bad=skip_bad,
                    on_block=lambda _: show(reader.file, reader.bytes_read, reader.bytes_total),
                )
            structure.skipped += reader.skipped
            structures.append((reader.file, structure))
            if structure.skipped:
                first = f"; the first: {reader.skipped_errors[0]}" if reader.skipped_errors else ""
                say(f"skipped {structure.skipped} sentences of {reader.file}{first}")
    return structures


def _total(structures: list[tuple[str, Structure]]) -> Structure:
    total = structures[0][1]
    for _, structure in structures[1:]:
        total += structure
    return total


def _numbers(structure: Structure, cover: float) -> Numbers:
    """All counts, by name, with those that have a parameter as an inner dictionary."""
    from arcwise.evaluation.structure import smallest_class

    s, classes, smallest = structure, structure.classes, smallest_class(structure, cover / 100)
    sentences, words, between = max(1, s.sentences), max(1, s.words), max(1, s.arc_lengths.total())
    return {
        "sentences": s.sentences,
        "skipped": s.skipped,
        "words": s.words,
        "mean_length": s.mean_length,
        "median_length": s.median_length,
        "longest": s.longest,
        "nonprojective_sentences": s.nonprojective_sentences,
        "ill_nested_sentences": s.ill_nested,
        "one_inherit_sentences": s.one_inherit,
        "several_root_sentences": s.several_roots,
        "nonprojective_arcs": s.nonprojective_arcs,
        "left_arcs": s.left_arcs,
        "right_arcs": s.arc_lengths.total() - s.left_arcs,
        "mean_arc_length": s.mean_arc_length,
        "distinct_labels": len(s.labels),
        "percent": {
            "nonprojective_sentences": 100 * s.nonprojective_sentences / sentences,
            "ill_nested_sentences": 100 * s.ill_nested / sentences,
            "one_inherit_sentences": 100 * s.one_inherit / sentences,
            "several_root_sentences": 100 * s.several_roots / sentences,
            "nonprojective_arcs": 100 * s.nonprojective_arcs / words,
            "left_arcs": 100 * s.left_arcs / between,
        },
        "well_nested_by_block_degree": _by_number(_degrees(s, well_nested=True)),
        "ill_nested_by_block_degree": _by_number(_degrees(s, well_nested=False)),
        "by_class": {str(shape): trees for shape, trees in classes.items()},
        "smallest_class": {str(smallest): 100 * classes[smallest] / sentences},
        "by_gap_degree": _by_number(_gap_degrees(s)),
        "by_edge_degree": _by_number(s.edge_degrees),
        "by_roots": _by_number(s.roots),
        "by_length": _by_number(s.lengths),
        "by_arc_length": _by_number(s.arc_lengths),
        "labels": dict(_by_frequency(s.labels)),
    }


def _degrees(structure: Structure, well_nested: bool) -> Counter[int]:
    return Counter(
        {d: trees for (d, nested), trees in structure.block_degrees.items() if nested == well_nested}
    )


def _gap_degrees(structure: Structure) -> Counter[int]:
    both = _degrees(structure, well_nested=True) + _degrees(structure, well_nested=False)
    return Counter({degree - 1: trees for degree, trees in both.items()})


def _by_number(counts: Counter[int]) -> dict[str, float]:
    return {str(key): counts[key] for key in sorted(counts)}


def _by_frequency(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _tables(structure: Structure, cover: float) -> Iterator[Table]:
    from arcwise.evaluation.structure import smallest_class

    s, smallest = structure, smallest_class(structure, cover / 100)
    sentences, arcs, between = s.sentences, s.words, s.arc_lengths.total()
    right_arcs = between - s.left_arcs
    yield Table(
        "Overview",
        ["", "number", "%"],
        [
            ["sentences", sentences, ""],
            ["sentences skipped", s.skipped, ""],
            ["words", s.words, ""],
            ["words a sentence, mean", s.mean_length, ""],
            ["words a sentence, median", s.median_length, ""],
            ["words a sentence, most", s.longest, ""],
            ["non-projective sentences", *_share(s.nonprojective_sentences, sentences)],
            ["ill-nested sentences", *_share(s.ill_nested, sentences)],
            ["1-inherit sentences", *_share(s.one_inherit, sentences)],
            ["sentences with one root", *_share(s.roots[1], sentences)],
            ["sentences with several roots", *_share(s.several_roots, sentences)],
            ["non-projective arcs", *_share(s.nonprojective_arcs, arcs)],
            ["arcs to the left", *_share(s.left_arcs, between)],
            ["arcs to the right", *_share(right_arcs, between)],
            ["mean length of an arc", s.mean_arc_length, ""],
            ["labels", len(s.labels), ""],
        ],
    )
    well, ill = _capped(_degrees(s, well_nested=True), 4), _capped(_degrees(s, well_nested=False), 4)
    yield Table(
        "Sentences by block degree and nesting",
        ["block degree", "well-nested", "%", "ill-nested", "%"],
        [[_capped_name(d, 4), *_share(well[d], sentences), *_share(ill[d], sentences)] for d in range(1, 6)],
    )
    mark = f"the smallest that covers {cover:g}%"
    yield Table(
        "Sentences by class",
        ["class", "sentences", "%", ""],
        [
            [str(shape), *_share(trees, sentences), mark if shape == smallest else ""]
            for shape, trees in s.classes.items()
        ],
    )
    gap, edge = _capped(_gap_degrees(s), 3), _capped(s.edge_degrees, 3)
    yield Table(
        "Sentences by gap degree and edge degree",
        ["degree", "gap degree", "%", "edge degree", "%"],
        [[_capped_name(d, 3), *_share(gap[d], sentences), *_share(edge[d], sentences)] for d in range(5)],
    )
    roots = _capped(s.roots, 3)
    yield Table(
        "Sentences by roots",
        ["roots", "sentences", "%"],
        [[_capped_name(number, 3), *_share(roots[number], sentences)] for number in range(1, 5)],
    )
    yield Table("Sentences by words", ["words", "sentences", "%", ""], _histogram(s.lengths))
    lengths = Counter[int]()
    for length, count in s.arc_lengths.items():
        lengths[abs(length)] += count
    yield Table("Arcs between words by length", ["length", "arcs", "%", ""], _histogram(lengths))
    yield Table(
        "Labels", ["label", "arcs", "%"], [[label, *_share(n, arcs)] for label, n in _by_frequency(s.labels)]
    )


def _share(part: int, whole: int) -> tuple[int, float]:
    """A count and its percentage."""
    return part, 100 * part / max(1, whole)


def _capped(counts: Counter[int], last: int) -> Counter[int]:
    """The counts, with all that lie beyond `last` counted as one more than it."""
    capped = Counter[int]()
    for value, count in counts.items():
        capped[min(value, last + 1)] += count
    return capped


def _capped_name(value: int, last: int) -> str:
    return str(value) if value <= last else f">{last}"


def _histogram(counts: Counter[int]) -> list[list[Cell]]:
    """Counts of 1, 2, 3-4, 5-8, 9-16, ... with bars."""
    bins = Counter[int]()
    for value, count in counts.items():
        bins[(value - 1).bit_length()] += count
    longest = max(bins.values(), default=1)
    rows: list[list[Cell]] = []
    for power in range(max(bins, default=-1) + 1):
        low, high = 2**power // 2 + 1, 2**power
        name = f"{low}-{high}" if low < high else str(high)
        rows.append([name, *_share(bins[power], counts.total()), "█" * round(_BAR * bins[power] / longest)])
    return rows
