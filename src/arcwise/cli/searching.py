"""Dual decomposition and linear programs on the command line: their options, traces, and how often each means was needed."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from arcwise.pipeline.parsed import Trees
    from arcwise.pipeline.parser import Parser
    from arcwise.treebank.block import Block


exact_option = click.option(
    "--exact/--no-exact", default=True, show_default=True,
    help="Go on until every tree is proved best, or stop dual decomposition after --iterations and price after the linear program.",
)  # fmt: skip
iterations_option = click.option(
    "--iterations", type=click.IntRange(1), default=5000, show_default=True, metavar="K",
    help="Steps of dual decomposition at most.",
)  # fmt: skip
relaxation_option = click.option(
    "--relaxation", type=click.Choice(["all", "pairs", "sums", "all-rows"]), default="all", show_default=True,
    help="How a linear program ties parts to arcs: pairs (ArcGP, GPArc), sums (OneGP, NoGP), both, or both in all rows.",
)  # fmt: skip
connected_option = click.option(
    "--connected", type=click.Choice(["cuts", "single-flow", "multi-flow"]), default="cuts", show_default=True,
    help="How a linear program ties arcs to trees: cutting planes, or flow of one commodity or of many.",
)  # fmt: skip
seconds_option = click.option(
    "--seconds", type=click.FloatRange(0), metavar="S",
    help="After so many seconds on one sentence a program gives up, with the best tree so far and its gap.",
)  # fmt: skip


restarts_option = click.option(
    "--restarts", type=click.IntRange(1, 1 << 16), metavar="K",
    help="Of --decoder climb: it ends after so many runs in a row without a better tree.  [default: 20]",
)  # fmt: skip
start_option = click.option(
    "--start", type=click.Choice(["best-first", "first-order", "uniform", "best"]),
    help="Where its runs begin: at the first-order best tree, then at trees drawn uniformly (best-first, the default); at trees "
    "drawn by first-order scores; at trees drawn uniformly; or a single run at the best.",
)  # fmt: skip
seed_option = click.option(
    "--seed", type=click.IntRange(0, (1 << 64) - 1), metavar="N", help="Of what it draws.  [default: 0]"
)


class Tracer:
    """Parses blocks, one after another, and writes the steps of each sentence to a file; not of those parsed in pieces."""

    def __init__(self, path: str, parser: Parser) -> None:
        from arcwise.evaluation.traces import TraceWriter

        self._parser, self._sentences = parser, 0
        self._writer = TraceWriter(path)

    def parse(self, block: Block, keep: bool) -> Trees:
        """The trees of a block."""
        from arcwise.evaluation.traces import SentenceTrace
        from arcwise.pipeline.dual_sentences import ENDED, ROUNDS
        from arcwise.search.dual import how_it_ended
        from arcwise.treebank.sentence import Sentence

        trees, traces = self._parser.trace_block(block, keep)
        for i, steps in enumerate(traces):
            self._sentences += 1
            if not trees.whole[i]:
                continue
            certified = bool(trees.certified[i])
            finished = trees.report[i, ROUNDS] > 0
            ended = how_it_ended(int(trees.report[i, ENDED]), bool(finished), certified)
            self._writer.write(
                SentenceTrace(
                    self._sentences, Sentence(block, i).sent_id, int(block.words[i + 1] - block.words[i]), ended,
                    float(trees.scores[i]), float(trees.bounds[i]), steps[:, 0], steps[:, 1], steps[:, 2],
                )
            )  # fmt: skip
        return trees

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._writer.close()


def describe_programs(reports: list[Any], certified: int, sentences: int, worst: float) -> Iterator[str]:
    """The same for linear programs; reports: of `arcwise.pipeline.program_sentences`, by block."""
    import numpy as np

    from arcwise.pipeline.program_sentences import (
        ADDED,
        ARCS,
        BRANCHES,
        CUTS,
        FRACTIONAL,
        PARTS,
        ROUNDS,
        SCORED,
        UNFINISHED,
    )

    report = np.concatenate(reports)
    gap = "" if certified == sentences else f"; the largest gap is {worst:.4g}"
    whole, branched = (report[:, FRACTIONAL] == 0).mean(), int((report[:, BRANCHES] > 0).sum())
    yield (
        f"proved best: {certified:,} of {sentences:,} sentences; the linear program is integral for {100 * whole:.2f}%, "
        f"{branched:,} needed branches{gap}"
    )
    scored, added, parts = (int(report[:, column].sum()) for column in (SCORED, ADDED, PARTS))
    yield (
        f"programs: {report[:, ROUNDS].mean():.1f} solved a sentence, {report[:, ARCS].mean():.0f} arcs, "
        f"{report[:, CUTS].mean():.1f} sets of words cut; of {parts:,} parts {scored:,} were scored "
        f"({100 * scored / max(parts, 1):.1f}%) and {added:,} built ({100 * added / max(parts, 1):.1f}%)"
    )
    if report[:, UNFINISHED].any():
        yield f"{int((report[:, UNFINISHED] > 0).sum()):,} programs ended by the time limit or by a failure of the solver"


def describe_climbing(reports: list[Any], certified: int, sentences: int, worst: float) -> Iterator[str]:
    """The same for hill climbing; reports: of `arcwise.pipeline.climbing_sentences`, by block."""
    import numpy as np

    from arcwise.pipeline.climbing_sentences import CHANGES, RUNS, TOPS

    report = np.concatenate(reports)
    climbed = report[report[:, RUNS] > 0]
    gap = f"; the largest gap is {worst:.4g}" if certified < sentences and np.isfinite(worst) else ""
    yield f"proved best: {certified:,} of {sentences:,} sentences{gap}"
    if len(climbed):
        runs, tops, changes = (climbed[:, column].mean() for column in (RUNS, TOPS, CHANGES))
        yield (
            f"hill climbing: {len(climbed):,} sentences, {runs:.1f} runs a sentence, which ended in {tops:.1f} different trees; "
            f"{changes / max(runs, 1):.1f} heads changed a run"
        )


def describe_search(reports: list[Any], certified: int, sentences: int, worst: float) -> Iterator[str]:
    """How many trees are proved best, and by what; reports: of `arcwise.pipeline.dual_sentences`, by block."""
    import numpy as np

    from arcwise.pipeline.dual_sentences import (
        AUTOMATA,
        BRANCHES,
        ENDED,
        FIXED,
        IMPROVED,
        RECOMPUTED,
        ROUNDS,
        STEPS,
    )
    from arcwise.search.dual_decomposition import AGREED, CLOSED

    report = np.concatenate(reports)
    if not report[:, AUTOMATA].any():
        gap = "" if certified == sentences else f"; the largest gap is {worst:.4g}"
        yield f"proved best: {certified:,} of {sentences:,} sentences{gap}"
        searched = report[:, STEPS] > 0
        nodes = int(report[:, BRANCHES].sum())
        yield f"branch and bound: {nodes:,} nodes for {int(searched.sum()):,} sentences whose best tree is of another shape"
        return
    finished = report[:, ROUNDS] > 0
    shares = [
        f"{100 * np.mean(chosen):.2f}% {name}"
        for name, chosen in (
            ("by agreement", (report[:, ENDED] == AGREED) & ~finished),
            ("by the bound", (report[:, ENDED] == CLOSED) & ~finished),
            ("by the finish", finished),
        )
        if chosen.any()
    ]
    gap = "" if certified == sentences else f"; the largest gap is {worst:.4g}"
    yield f"proved best: {certified:,} of {sentences:,} sentences ({', '.join(shares)}){gap}"
    recomputed = report[:, RECOMPUTED].sum() / max(report[:, AUTOMATA].sum(), 1)
    yield (
        f"dual decomposition: {report[:, STEPS].mean():.1f} steps a sentence, {int(np.median(report[:, STEPS]))} in the median, "
        f"{100 * recomputed:.0f}% of the automata computed in each"
    )
    if finished.any():
        yield (
            f"the finish: arcs fixed in {int((report[:, FIXED] > 0).sum()):,} sentences, better trees found in "
            f"{int((report[:, IMPROVED] > 0).sum()):,}, branches in {int((report[:, BRANCHES] > 0).sum()):,}"
        )
