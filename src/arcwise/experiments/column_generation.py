"""Column generation inside a chart and inside dual decomposition (Riedel et al. 2012, section 4.5): grandparents, no arc pruned.

The search looks at a few arcs only; then it is asked whether a better tree could have one of the others. Whatever u is, a tree scores
no more than the sum over its arcs of

    w[a] = u[a] + sum over the arcs b from a's modifier of (score of b below a - u[b])+

so that the best tree under w with a given arc bounds all trees that have it. u begins with what dual decomposition has found, or with
the most that an arc scores below those looked at, and follows a subgradient of the best tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from time import thread_time
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.experiments.learners import treebank_files
from arcwise.experiments.tables import Rows
from arcwise.experiments.trained_models import EPOCHS, Tell, trained
from arcwise.features.arcs import most_arc_features
from arcwise.features.attributes import number_words
from arcwise.features.coarse import coarse_scores
from arcwise.features.context import most_context_features
from arcwise.features.parts import make_part_tokens
from arcwise.features.tokens import hash_tokens, make_tokens
from arcwise.kernels import kernel
from arcwise.parts.arcs import make_arcs, prune
from arcwise.parts.graph import Graph, Ints, Level, make_graph
from arcwise.parts.tables import Floats, Kind, Tables
from arcwise.pipeline.chart_sentences import part_tables
from arcwise.pipeline.forest import EXACT
from arcwise.pipeline.parser import Parser
from arcwise.pipeline.sentences import Weights
from arcwise.search.automata import Flags
from arcwise.search.chart import make_levels
from arcwise.search.derivations import chart_tree
from arcwise.search.dual import UNLIMITED, begin, search
from arcwise.search.sibling_automata import sibling_automata
from arcwise.search.tree_search import TreeSearch, best_heads, make_tree_search
from arcwise.treebank.reading import read_blocks

LONGEST = 60
_MODEL = "dual-grandparent"
_TRAINING = 0.5  # the share of the time, for the progress bar
_HEADS, _MOST = (
    3,
    4,
)  # of every word: the best arcs to begin with, and those added at first; then twice as many each time
_STEPS, _POLYAK, _PATIENCE = (
    150,
    1.5,
    10,
)  # of the subgradient, as in `arcwise.search.dual_decomposition.Steps`
_SLACK = 0.5  # scores are whole numbers

COLUMNS = (
    "words", "arcs a word", "arcs a word columns", "arcs a word pruned",
    "ms scoring", "ms search", "ms columns", "ms scoring pruned", "ms search pruned", "rounds",
    "% parts searched", "% equal", "% lost by pruning",
)  # fmt: skip
_TIMES, _RATES = 4, 10  # where they begin
T = TypeVar("T")


class Sentence(NamedTuple):
    """A graph of arcs, without senses and labels, level 1 of it, and the scores of its arcs, and by steps, of arcs and grand parts
    together: whole numbers. kind: what chart and automata remember. trees: whether they must be projective.
    """

    graph: Graph
    level: Level
    arcs: Floats
    step: Floats
    kind: Kind
    trees: TreeSearch


class Found(NamedTuple):
    """The arc into each word of the best tree, and its score. rounds: of searching and pricing. arcs, parts: that were searched."""

    tree: Ints
    score: float
    rounds: int
    arcs: int
    parts: int


@kernel
def search_all(sentence: Sentence) -> tuple[Ints, float, Floats]:
    """The best tree, its score, and the multipliers of dual decomposition, -inf if that was not used."""
    graph, level, arcs, step, kind, trees = sentence
    tree, none = np.zeros(len(graph.position), np.int32), np.empty(0)
    levels, u = make_levels(graph, kind), np.full(len(arcs), -np.inf)
    tables = Tables(step, none, none, none, none, none, none, none, none, none, none)
    if trees.projective:
        return tree, chart_tree(graph, levels, kind, tables, trees.single_root, tree), u
    automata = sibling_automata(kind, graph, level, tables, trees.single_root)
    problem, state = begin(graph, automata, kind.complete > 0, trees, arcs, _SLACK, UNLIMITED)
    search(problem, state, EXACT.steps, EXACT.paper, True, np.empty((0, 3)))
    return state.best_tree, state.incumbent[0], state.at[0]


@kernel
def _restrict(sentence: Sentence, arcs: NDArray[np.int64]) -> Sentence:
    """The same sentence with these arcs only, in ascending order, the first of them arc 0."""
    graph, level = sentence.graph, sentence.level
    part = make_graph(graph.position, graph.head[arcs[1:]], graph.modifier[arcs[1:]])
    of_part = make_levels(part, sentence.kind)[0]
    step = np.zeros(of_part.steps[len(of_part.steps) - 1])
    for p in range(len(arcs)):
        m = part.modifier[p]
        for q in range(part.out[m], part.out[m + 1]):
            number = level.steps[arcs[p]] + arcs[q] - graph.out[m]
            step[of_part.steps[p] + q - part.out[m]] = sentence.step[number]
    return Sentence(part, of_part, sentence.arcs[arcs], step, sentence.kind, sentence.trees)


@kernel
def _excess(sentence: Sentence, a: int, b: int, u: Floats) -> float:
    """How much more than u[b] the arc b scores below a; -inf if no tree has the two."""
    graph = sentence.graph
    g, h, m = graph.head[a], graph.modifier[a], graph.modifier[b]
    if g == m or (sentence.trees.projective and a > 0 and (m < g) != (h < g)):
        return -np.inf
    return float(sentence.step[sentence.level.steps[a] + b - graph.out[h]] - u[b])


@kernel
def _weigh(sentence: Sentence, u: Floats, alive: Flags, S: Floats) -> None:
    """Fill S with w. O(steps)."""
    graph = sentence.graph
    S[:] = -np.inf
    for a in range(1, len(graph.head)):
        m = graph.modifier[a]
        if alive[a]:
            S[graph.head[a], m] = u[a]
            for b in range(graph.out[m], graph.out[m + 1]):
                if alive[b]:
                    S[graph.head[a], m] += max(0.0, _excess(sentence, a, b, u))


@kernel
def _move(sentence: Sentence, b: int, by: float, u: Floats, S: Floats) -> None:
    """Add to u[b], and so to w. O(n)."""
    graph, h = sentence.graph, sentence.graph.head[b]
    u[b] += by
    S[h, graph.modifier[b]] += by
    for a in graph.into[graph.into_first[h] : graph.into_first[h + 1]]:
        excess = _excess(sentence, a, b, u)
        S[graph.head[a], h] += max(0.0, excess) - max(0.0, excess + by)


@kernel
def _bound(sentence: Sentence, S: Floats, heads: Ints, U: Floats) -> float:
    """Fill in the best tree under w, whose value is returned, and by arcs a quick bound on all trees that have it."""
    graph, most, total = sentence.graph, np.zeros(len(S)), 0.0
    for m in range(1, len(S)):
        most[m] = S[:, m].max()
        total += most[m]
    best = best_heads(S, sentence.trees, heads)
    for a in range(1, len(graph.head)):
        U[a] = min(best, total - most[graph.modifier[a]] + S[graph.head[a], graph.modifier[a]])
    return best


@kernel
def _price(sentence: Sentence, inside: Flags, alive: Flags, u: Floats, score: float) -> Floats:
    """Take arcs outside from `alive` with which no tree is better than the score; returns bounds for the others. u: -inf where it is
    not known.
    """
    graph, trees, enough = sentence.graph, sentence.trees, score + _SLACK
    size, arcs = len(graph.position), len(graph.head)
    zero, top, below = np.zeros(arcs), np.full(arcs, -np.inf), np.full(arcs, -np.inf)
    arc = np.zeros((size, size), np.int32)
    for a in range(arcs):
        m = graph.modifier[a]
        arc[graph.head[a], m] = a
        for b in range(graph.out[m], graph.out[m + 1]):
            x = _excess(sentence, a, b, zero)
            top[b] = max(top[b], x)
            below[b] = max(below[b], x if inside[a] else -np.inf)
    for b in range(1, arcs):
        if graph.head[b] == 0 or u[b] == -np.inf:
            u[b] = below[b] if below[b] > -np.inf else top[b]
    S, U, g, column = np.empty((size, size)), np.zeros(arcs), np.zeros(arcs), np.empty(size)
    heads, others = np.empty(size, np.int32), np.empty(size, np.int32)
    share, since, least = _POLYAK, 0, np.inf
    _weigh(sentence, u, alive, S)
    for _ in range(_STEPS):
        best = _bound(sentence, S, heads, U)
        since = 0 if best < least else since + 1
        least = min(best, least)
        if since >= _PATIENCE:
            share, since = 0.5 * share, 0
        still_open = False
        for b in range(1, arcs):
            if alive[b] and not inside[b]:
                if U[b] > enough:
                    still_open = True
                else:
                    alive[b], S[graph.head[b], graph.modifier[b]] = False, -np.inf
        if not still_open:
            return U
        g[:] = 0.0
        for m in range(1, size):
            a = arc[heads[m], m]
            g[a] -= heads[m] > 0
            for b in range(graph.out[m], graph.out[m + 1]):
                g[b] += alive[b] and _excess(sentence, a, b, u) > 0.0
        norm = (g * g).sum()
        for b in range(1, arcs if norm > 0.0 else 0):
            if g[b] != 0.0:
                _move(sentence, b, share * (best - score) / norm * g[b], u, S)
    _weigh(sentence, u, alive, S)
    _bound(sentence, S, heads, U)
    for a in range(1, 0 if trees.projective else arcs):  # a chart is quicker than so many searches
        h, m = graph.head[a], graph.modifier[a]
        if alive[a] and not inside[a] and heads[m] != h:
            column[:] = S[:, m]
            S[:, m] = -np.inf
            S[h, m] = column[h]
            U[a] = min(U[a], best_heads(S, trees, others))
            S[:, m] = column
            alive[a] = U[a] > enough
    return U


@kernel
def _add(graph: Graph, worth: Floats, alive: Flags, most: int, inside: Flags) -> bool:
    """Put so many of the arcs into each word inside that are alive and worth most: whether there were any."""
    added = False
    for m in range(1, len(graph.position)):
        for _ in range(most):
            best, arc = -np.inf, 0
            for b in graph.into[graph.into_first[m] : graph.into_first[m + 1]]:
                if alive[b] and not inside[b] and worth[b] > best:
                    best, arc = worth[b], b
            if arc > 0:
                inside[arc] = added = True
    return added


@kernel
def generate_columns(sentence: Sentence) -> Found:
    """The best tree of all arcs of a sentence, found among few of them."""
    graph = sentence.graph
    size, arcs = len(graph.position), len(graph.head)
    inside, alive, u = np.zeros(arcs, np.bool_), np.ones(arcs, np.bool_), np.empty(arcs)
    S, heads = np.full((size, size), -np.inf), np.empty(size, np.int32)
    for b in range(1, arcs):
        S[graph.head[b], graph.modifier[b]] = sentence.arcs[b]
    best_heads(S, sentence.trees, heads)
    for b in range(1, arcs):
        inside[b] = heads[graph.modifier[b]] == graph.head[b]
    inside[0] = True
    _add(graph, sentence.arcs, alive, _HEADS, inside)
    rounds, most = 0, _MOST
    while True:
        rounds += 1
        numbers = np.flatnonzero(inside)
        part = _restrict(sentence, numbers)
        tree, score, multipliers = search_all(part)
        u[:] = -np.inf
        u[numbers] = multipliers
        U = _price(sentence, inside, alive, u, score)
        if not _add(graph, U, alive, most, inside):
            return Found(numbers[tree].astype(np.int32), score, rounds, len(numbers) - 1, len(part.step))
        most *= 2


@kernel
def score_sentence(numbers: Ints, weights: Weights, pruned: bool, projective: bool) -> Sentence:
    """All arcs of a sentence, or those that the pruner keeps, with the scores of all their parts. For models of grandparents."""
    templates, size = weights.templates, len(numbers)
    tokens = make_tokens(size - 1, templates.end)
    part_tokens, labels = make_part_tokens(size - 1, weights.parts.templates), np.full(size, -1, np.int32)
    S, heads = np.empty((size, size)), np.empty(size, np.int32)
    trees = make_tree_search(size - 1, weights.single_root, projective)
    hash_tokens(numbers, templates, tokens)
    coarse_scores(tokens, templates, weights.coarse, weights.coarse_bits, S)
    best_heads(S, trees, heads)
    most, threshold = (weights.most_heads, weights.threshold) if pruned else (size + 1, np.inf)
    arcs = make_arcs(size - 1, most)
    prune(S, heads, most, threshold, arcs)
    indices = np.empty(most_arc_features(size - 1, templates), np.uint32)
    rows = np.empty(most_context_features(templates), np.uint32)
    graph, levels, of_arcs, tables = part_tables(
        numbers, weights, not projective, tokens, part_tokens, arcs, labels, indices, rows
    )
    return Sentence(graph, levels[0], of_arcs, tables.step, weights.kind, trees)


def measure(parser: Parser, file: Path, projective: bool, longest: int = LONGEST) -> dict[str, float]:
    """COLUMNS of a model of grandparents on a treebank, leaving out longer sentences. Of CPU times, the least of three is taken."""
    weights, words = parser.model.weights(), parser.model.vocabulary()
    rows: list[list[float]] = []
    with read_blocks(file) as blocks:
        for block in blocks:
            numbers = number_words(block.data, block.starts, block.stops, block.words, words)
            starts = block.words + np.arange(len(block.words))
            for begin, end in pairwise(starts.tolist()):
                if 2 <= end - begin <= longest + 1:
                    if not rows:
                        _row(numbers[begin:end], weights, projective)  # compiles
                    rows.append(_row(numbers[begin:end], weights, projective))
    if not rows:
        raise InputError("no sentences", expected=f"some of 1 to {longest} words", file=str(file))
    means = np.array(rows).mean(axis=0)
    means[_RATES:] *= 100
    means[1:_TIMES] /= means[0]
    return dict(zip(COLUMNS, means.tolist(), strict=True))


def _row(numbers: Ints, weights: Weights, projective: bool) -> list[float]:
    """What one sentence adds to `measure`."""
    of_scoring, sentence = _timed(lambda: score_sentence(numbers, weights, False, projective))
    of_search, (_, best, _) = _timed(lambda: search_all(sentence))
    of_columns, found = _timed(lambda: generate_columns(sentence))
    of_pruning, pruned = _timed(lambda: score_sentence(numbers, weights, True, projective))
    of_pruned, (_, kept, _) = _timed(lambda: search_all(pruned))
    return [
        len(numbers) - 1, len(sentence.arcs) - 1, found.arcs, len(pruned.arcs) - 1,
        of_scoring, of_search, of_columns, of_pruning, of_pruned, found.rounds,
        found.parts / len(sentence.step), found.score == best, kept < best,
    ]  # fmt: skip


def _timed(task: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds of CPU time, the least of three, and what comes of it."""
    times = []
    for _ in range(3):
        started = thread_time()
        found = task()
        times.append(1000 * (thread_time() - started))
    return min(times), found


def table(
    treebank: Path, models: Path, epochs: int = EPOCHS, longest: int = LONGEST, tell: Tell = lambda share: None
) -> Iterator[Rows]:  # fmt: skip
    """The rows of the chart and of dual decomposition, on the development treebank; the model is trained if need be."""
    parser = trained(treebank, _MODEL, models, epochs, lambda share: tell(_TRAINING * share))
    dev, name, rows = treebank_files(treebank)[1], treebank.resolve().name, {}
    for search_name, projective in (("chart", True), ("dual decomposition", False)):
        rows[f"{name}, {search_name}"] = measure(parser, dev, projective, longest)
        tell(1.0 - _TRAINING * projective / 2)
        yield dict(rows)
