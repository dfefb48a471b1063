"""`arcwise analyze --local-optima`: in how many trees a climber can get stuck under a model's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcwise.cli.tables import Cell, Numbers, Report, Table
from arcwise.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from arcwise.evaluation.local_optima import LocalOptima, Summary

_BLOCK_BYTES = 1 << 16  # of sentences between two moves of the progress bar


def local_optima_reports(treebanks: tuple[str, ...], model: str, most: int, skip_bad: bool) -> list[Report]:
    """A report for each treebank and, if there are several, one for all."""
    with progress_bar() as show:
        from arcwise.evaluation.local_optima import LocalOptima
        from arcwise.pipeline.parser import load
        from arcwise.treebank.reading import BlockReader

        parser = load(model)
        parser.check_first_order("local optima are counted")
        measured: list[tuple[str, LocalOptima]] = []
        for treebank in treebanks:
            found = LocalOptima(most)
            with BlockReader(
                treebank, skip_bad=skip_bad, check_trees=False, block_bytes=_BLOCK_BYTES
            ) as reader:
                for block in reader:
                    before = len(found.lengths)
                    found.count(parser.arc_scores(parser.tag_block(block)), parser.single_root)
                    found.skipped += len(block) - (len(found.lengths) - before)
                    show(reader.file, reader.bytes_read, reader.bytes_total)
            if found.skipped:
                say(f"skipped {found.skipped} sentences of {reader.file} of more than {parser.longest} words")
            if reader.skipped:
                say(
                    f"skipped {reader.skipped} sentences of {reader.file}; the first: {reader.skipped_errors[0]}"
                )
            found.skipped += reader.skipped
            measured.append((reader.file, found))
    if len(measured) > 1:
        total = measured[0][1]
        for _, found in measured[1:]:
            total += found
        measured.append((f"all {len(measured)} treebanks", total))
    return [Report(name, _numbers(found), _tables(found)) for name, found in measured]


def _classes(found: LocalOptima) -> dict[str, tuple[str, dict[str, Summary]]]:
    """For each kind of trees, by its name in JSON, a title, and its sentences by length."""
    from arcwise.evaluation.local_optima import SHORT

    kinds = {"any_roots": ("Local optima among trees with any number of roots", found.any_roots)}
    if found.one_root:
        kinds["one_root"] = ("Local optima among trees of one root", found.one_root)
    return {
        kind: (
            title,
            {
                "all": found.summary(counts),
                f"up to {SHORT}": found.summary(counts, longest=SHORT),
                f"over {SHORT}": found.summary(counts, shortest=SHORT + 1),
            },
        )
        for kind, (title, counts) in kinds.items()
    }


def _numbers(found: LocalOptima) -> Numbers:
    from arcwise.evaluation.local_optima import PERCENTILES

    numbers: Numbers = {"sentences": len(found.lengths), "skipped": found.skipped, "most": found.most}
    for kind, (_, by_length) in _classes(found).items():
        for words, summary in by_length.items():
            inner: dict[str, float] = {"sentences": summary.sentences, "mean_length": summary.mean_length}
            inner |= {
                f"optima_{percent}": count
                for percent, count in zip(PERCENTILES, summary.percentiles, strict=False)
            }
            numbers[f"{kind}_{words.replace(' ', '_')}"] = inner | {
                "one_optimum": summary.one,
                "percent_one_optimum": 100 * summary.one / max(1, summary.sentences),
                "more_than_most": summary.more,
            }
    return numbers


def _tables(found: LocalOptima) -> list[Table]:
    from arcwise.evaluation.local_optima import PERCENTILES

    columns = [
        "words",
        "sentences",
        "mean words",
        *(f"{percent}%" for percent in PERCENTILES),
        "one optimum",
        "%",
    ]
    tables = []
    for title, by_length in _classes(found).values():
        rows: list[list[Cell]] = []
        for words, summary in by_length.items():
            counts: list[Cell] = [
                count if count <= found.most else f">{found.most}" for count in summary.percentiles
            ]
            counts += [""] * (len(PERCENTILES) - len(counts))
            share = 100 * summary.one / max(1, summary.sentences)
            rows.append([words, summary.sentences, summary.mean_length, *counts, summary.one, share])
        tables.append(Table(title, columns, rows))
    return tables
