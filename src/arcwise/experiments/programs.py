"""Table 2 of Koo et al. 2010: linear and integer programs beside dual decomposition, on a development treebank and where scores are
random. All searches see the same sentences, and of them the arcs that the pruner keeps.

Sib: siblings. G+S: siblings and grandchildren, without the grand-siblings of the automata, for which there is no program here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.experiments.learners import treebank_files
from arcwise.experiments.random_instances import instance
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import EPOCHS, Tell, trained
from arcwise.pipeline.best_trees import repeated
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.program_sentences import FRACTIONAL, UNFINISHED
from arcwise.search.decode import decode
from arcwise.search.options import has_option
from arcwise.treebank.block import Block
from arcwise.treebank.reading import read_blocks

MODELS = {"Sib": "dual-sibling", "G+S": "dual-grandchild"}
# Options of `Parser.searching` and of `decode`.
_BEST = "DD, finish"
SEARCHES: dict[str, dict[str, Any]] = {
    "LP(S)": {"decoder": "lp", "relaxation": "pairs", "connected": "single-flow"},
    "LP(M)": {"decoder": "lp", "relaxation": "pairs", "connected": "multi-flow"},
    "LP": {"decoder": "lp"},
    "ILP": {"decoder": "ilp"},
    "price": {"decoder": "price"},
    "DD-5000": {"decoder": "dual", "exact": False, "rule": "paper", "iterations": 5000},
    "DD-250": {"decoder": "dual", "exact": False, "rule": "paper", "iterations": 250},
    _BEST: {"decoder": "dual"},
}
_EXACT = "ILP", "price", _BEST
_EQUAL = 1e-6  # scores that differ by less are the same
_DIFFERENCE = "largest difference"
_TOGETHER = 10  # sentences, or random instances, that one search parses before the next one does
_TRAINING, _SENTENCES = 0.5, 0.4  # shares of a model, for the progress bar


class Found(NamedTuple):
    """What one search found in a treebank. seconds: of CPU time, by group of sentences. correct: by word whose head is known. The
    others by sentence, as of `Trees`.
    """

    seconds: NDArray[np.float64]
    correct: NDArray[np.bool_]
    scores: NDArray[np.float64]
    bounds: NDArray[np.float64]
    certified: NDArray[np.bool_]
    report: NDArray[np.int64]

    @property
    def uas(self) -> float:
        """In percent."""
        return 100 * float(self.correct.mean())

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Of programs, those that were solved in time."""
        finished: NDArray[np.bool_] = self.report[:, UNFINISHED] == 0
        return finished

    @property
    def integral(self) -> float:
        """Of programs, those whose solution is a tree, in percent."""
        return 100 * float((self.finished & (self.report[:, FRACTIONAL] == 0)).mean())


def side_by_side(
    searches: Mapping[str, Parser], file: Path, longest: int | None = None, tell: Tell = lambda share: None
) -> dict[str, Found]:
    """The sentences of a treebank that have at most so many words, on one thread. The searches take turns, a few sentences each, so
    that what slows down the machine slows down all of them; the first ones are parsed twice, and timed when all is compiled.
    """
    with read_blocks(file) as blocks:
        groups = [group for block in blocks for group in _groups(block, longest)]
    if not groups:
        raise InputError(f"no sentences of up to {longest} words", file=str(file))
    found: dict[str, list[Found]] = {name: [] for name in searches}
    for done, group in enumerate(groups):
        for name, parser in searches.items():
            if done == 0:
                parser.parse_block(group)
            started = thread_time()
            trees = parser.parse_block(group)
            seconds = np.array([thread_time() - started])
            correct = (trees.heads == group.heads)[group.heads >= 0]
            found[name].append(
                Found(seconds, correct, trees.scores, trees.bounds, trees.certified, trees.report)
            )
        tell((done + 1) / len(groups))
    return {
        name: Found(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        for name, parts in found.items()
    }


def table_2(
    treebank: Path, models: Path, epochs: int = EPOCHS, *, instances: int = 200, words: int = 10,
    seconds: float | None = None, tell: Tell = lambda share: None,
) -> Iterator[Rows]:  # fmt: skip
    """A row for every model and search, whenever a model is ready, trained if need be. UAS, trees that are the program's solution and
    trees proved best in percent, CPU time a sentence, the largest difference to the score of the best tree, and trees that are the
    solution where scores are random. seconds: after which a program gives up on a sentence.
    """
    rows: dict[str, dict[str, float]] = {}
    for number, (model, search) in enumerate(MODELS.items()):

        def tell_from(start: float, size: float, number: int = number) -> Callable[[float], None]:
            return lambda share: tell((number + start + size * share) / len(MODELS))

        parser = trained(treebank, search, models, epochs, tell_from(0.0, _TRAINING))
        searches = {
            name: parser.searching(**options, **_limit(options, seconds))
            for name, options in SEARCHES.items()
        }
        found = side_by_side(searches, treebank_files(treebank)[1], tell=tell_from(_TRAINING, _SENTENCES))
        for done, (name, options) in enumerate(SEARCHES.items()):
            one, certified = found[name], 100 * float(found[name].certified.mean())
            rows[f"{model}, {name}"] = {
                "UAS": one.uas,
                "integral, %": certified if options["decoder"] == "dual" else one.integral,
                "certified, %": certified,
                "seconds": float(one.seconds.sum()) / len(one.scores),
                _DIFFERENCE: float(np.abs(one.scores - found[_BEST].scores).max()),
                "random integral, %": _random(model, options, instances, words, seconds),
            }
            left = 1 - _TRAINING - _SENTENCES
            tell_from(_TRAINING + _SENTENCES, left)((done + 1) / len(SEARCHES))
        yield rows


def tables(title: str, rows: Rows) -> Iterator[str]:
    """The table in Markdown, and whether the searches that are exact agree."""
    yield from markdown(title, rows)
    yield ""
    apart = [
        name
        for name, row in rows.items()
        if name.split(", ", 1)[1] in _EXACT and not row[_DIFFERENCE] < _EQUAL
    ]
    if apart:
        yield f"Not the same scores as those of {_BEST}: {'; '.join(apart)}."
    else:
        yield f"{', '.join(_EXACT[:-1])} and {_EXACT[-1]} score the same on every sentence, within {_EQUAL:g}."


def _groups(block: Block, longest: int | None) -> Iterator[Block]:
    """A few sentences at a time."""
    sizes = np.diff(block.words)
    chosen = np.flatnonzero(sizes <= (sizes.max() if longest is None else longest))
    for first in range(0, len(chosen), _TOGETHER):
        yield repeated(block, chosen[first : first + _TOGETHER])


def _limit(options: dict[str, Any], seconds: float | None) -> dict[str, Any]:
    """The limit of time, for searches that have one."""
    return {"seconds": seconds} if has_option(options["decoder"], "seconds") else {}


def _random(model: str, options: dict[str, Any], instances: int, words: int, seconds: float | None) -> float:
    """How often the solution is a tree, or proved best by dual decomposition, where scores are random; in percent."""
    whole = 0
    for first in range(0, instances, _TOGETHER):
        numbers = range(first, min(first + _TOGETHER, instances))
        problems = [instance(model, words, 0, number) for number in numbers]
        for parse in decode(problems, single_root=False, **options, **_limit(options, seconds)):
            whole += parse.stats.get("integral", parse.certified)
    return 100 * whole / instances
