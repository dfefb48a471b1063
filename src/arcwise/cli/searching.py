"""Dual decomposition and linear programs on the command line: their options, traces, and how often each means was needed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from arcwise.pipeline.parsed import Trees
    from arcwise.pipeline.parser import Parser
    from arcwise.treebank.block import Block

_MOST_STEPS = 1000  # medians are told up to here

exact_option = click.option(
    "--exact/--no-exact", default=True, show_default=True,
    help="Go on until every tree is proved best, or stop dual decomposition after --iterations and price after the linear program.",
)  # fmt: skip
iterations_option = click.option(
    "--iterations", type=click.IntRange(1), metavar="K",
    help="Steps of dual decomposition at most, with --no-exact.  [default: 5000]",
)  # fmt: skip
rule_option = click.option(
    "--rule", type=click.Choice(["gap", "paper"]), default="gap", show_default=True,
    help="How long the steps of dual decomposition are: after the gap that is left, or as Koo et al. (2010) have them; of branch and "
    "bound rows, steps and branches: our own, or as Corro et al. (2016) have them.",
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
    help="After so many seconds on one sentence a program, or branch and bound for a --shape, gives up, with the best tree so far "
    "and its gap.",
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


class Counts:
    """What a search took for the sentences of a run, in counts that do not grow with it; of those that it saw as a whole, not of
    those parsed in pieces.
    """

    def __init__(self) -> None:
        self._searched = False
        self._sentences = self._certified = 0
        self._worst = 0.0

    def add(self, trees: Trees) -> None:
        """Count the sentences of a block."""
        if not trees.report.any():
            return
        self._searched = True
        certified = trees.certified[trees.whole]
        gaps = (trees.bounds - trees.scores)[trees.whole]
        self._sentences += len(certified)
        self._certified += int(certified.sum())
        self._worst = max(self._worst, float(gaps[~certified].max(initial=0.0)))
        self._count(trees.report[trees.whole], certified)

    def lines(self, sentences: int) -> Iterator[str]:
        """What to tell of a run of so many sentences; nothing if no search counts its steps."""
        if self._searched:
            yield f"proved best: {self._certified:,} of {sentences:,} sentences{self._how()}{self._gap()}"
            if self._sentences:
                yield from self._more()

    def _count(self, report: NDArray[np.int64], certified: NDArray[np.bool_]) -> None:
        raise NotImplementedError

    def _how(self) -> str:
        return ""

    def _more(self) -> Iterator[str]:
        raise NotImplementedError

    def _gap(self) -> str:
        return f"; the largest gap is {self._worst:.4g}" if 0.0 < self._worst < inf else ""


class ProgramCounts(Counts):
    """Of linear and integer programs (`arcwise.pipeline.program_sentences`)."""

    def __init__(self) -> None:
        super().__init__()
        self._sums: dict[int, int] = {}
        self._whole = self._branched = self._unfinished = 0

    def _count(self, report: NDArray[np.int64], certified: NDArray[np.bool_]) -> None:
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

        self._whole += int((report[:, FRACTIONAL] == 0).sum())
        self._branched += int((report[:, BRANCHES] > 0).sum())
        self._unfinished += int((report[:, UNFINISHED] > 0).sum())
        for column in (SCORED, ADDED, PARTS, ROUNDS, ARCS, CUTS):
            self._sums[column] = self._sums.get(column, 0) + int(report[:, column].sum())

    def _how(self) -> str:
        if not self._sentences:
            return ""
        share = 100 * self._whole / self._sentences
        return f"; the linear program is integral for {share:.2f}%, {self._branched:,} needed branches"

    def _more(self) -> Iterator[str]:
        from arcwise.pipeline.program_sentences import ADDED, ARCS, CUTS, PARTS, ROUNDS, SCORED

        scored, added, parts = (self._sums[column] for column in (SCORED, ADDED, PARTS))
        rounds, arcs, cuts = (self._sums[column] / self._sentences for column in (ROUNDS, ARCS, CUTS))
        yield (
            f"programs: {rounds:.1f} solved a sentence, {arcs:.0f} arcs, {cuts:.1f} sets of words cut; of {parts:,} parts {scored:,} "
            f"were scored ({100 * scored / max(parts, 1):.1f}%) and {added:,} built ({100 * added / max(parts, 1):.1f}%)"
        )
        if self._unfinished:
            yield f"{self._unfinished:,} programs ended by the time limit or by a failure of the solver"


class ClimbingCounts(Counts):
    """Of hill climbing (`arcwise.pipeline.climbing_sentences`)."""

    def __init__(self) -> None:
        super().__init__()
        self._climbed = self._runs = self._tops = self._changes = 0

    def _count(self, report: NDArray[np.int64], certified: NDArray[np.bool_]) -> None:
        from arcwise.pipeline.climbing_sentences import CHANGES, RUNS, TOPS

        self._climbed += int((report[:, RUNS] > 0).sum())
        self._runs += int(report[:, RUNS].sum())
        self._tops += int(report[:, TOPS].sum())
        self._changes += int(report[:, CHANGES].sum())

    def _more(self) -> Iterator[str]:
        if self._climbed:
            yield (
                f"hill climbing: {self._climbed:,} sentences, {self._runs / self._climbed:.1f} runs a sentence, which ended in "
                f"{self._tops / self._climbed:.1f} different trees; {self._changes / self._runs:.1f} heads changed a run"
            )


class SearchCounts(Counts):
    """Of dual decomposition, or of branch and bound for a class of trees (`arcwise.pipeline.dual_sentences`)."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = dict.fromkeys(("by agreement", "by the bound", "by the finish"), 0)
        self._finished = self._fixed = self._improved = self._branched = 0
        self._searched_on = self._nodes = 0
        self._automata = self._recomputed = self._steps = 0
        self._by_steps = [0] * _MOST_STEPS  # sentences, those of more steps with the last

    def _count(self, report: NDArray[np.int64], certified: NDArray[np.bool_]) -> None:
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

        finished, ended = report[:, ROUNDS] > 0, report[:, ENDED]
        for name, chosen in (
            ("by agreement", (ended == AGREED) & ~finished),
            ("by the bound", (ended == CLOSED) & ~finished),
            ("by the finish", finished),
        ):
            self._ended[name] += int((chosen & certified).sum())
        self._finished += int(finished.sum())
        self._fixed += int((report[:, FIXED] > 0).sum())
        self._improved += int((report[:, IMPROVED] > 0).sum())
        self._branched += int((report[:, BRANCHES] > 0).sum())
        self._searched_on += int((report[:, STEPS] > 0).sum())
        self._nodes += int(report[:, BRANCHES].sum())
        self._automata += int(report[:, AUTOMATA].sum())
        self._recomputed += int(report[:, RECOMPUTED].sum())
        self._steps += int(report[:, STEPS].sum())
        for steps in report[:, STEPS].tolist():
            self._by_steps[min(steps, _MOST_STEPS - 1)] += 1

    def _how(self) -> str:
        shares = [
            f"{100 * number / self._certified:.2f}% {name}" for name, number in self._ended.items() if number
        ]
        return f" ({', '.join(shares)})" if shares and self._automata else ""

    def _more(self) -> Iterator[str]:
        if not self._automata:
            yield (
                f"branch and bound: {self._nodes:,} nodes for {self._searched_on:,} sentences whose best tree is of another shape"
            )
            return
        yield (
            f"dual decomposition: {self._steps / self._sentences:.1f} steps a sentence, {self._median()} in the median, "
            f"{100 * self._recomputed / self._automata:.0f}% of the automata computed in each"
        )
        if self._finished:
            yield (
                f"the finish: arcs fixed in {self._fixed:,} sentences, better trees found in {self._improved:,}, branches in "
                f"{self._branched:,}"
            )

    def _median(self) -> str:
        so_far = accumulate(self._by_steps)
        steps = next(steps for steps, seen in enumerate(so_far) if 2 * seen >= self._sentences)
        return f"{steps:,}" if steps < _MOST_STEPS - 1 else f"{steps:,} or more"
