"""The parser: a model at work on blocks, sentences and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.constraints import Constraint
from arcwise.constraints.reading import as_constraints
from arcwise.errors import ArcwiseError, InputError, ModelError
from arcwise.features.attributes import number_words
from arcwise.features.part_bounds import best_distances
from arcwise.learning.corpus import word_rows
from arcwise.pipeline.best_trees import best_trees, no_probabilities, repeat, repeated
from arcwise.pipeline.confidence import Probabilities, Temperatures, unknown_trees
from arcwise.pipeline.constraining import Constraints, constraints_of
from arcwise.pipeline.dual_sentences import BUDGET, STEPS, Effort
from arcwise.pipeline.forest import (
    EXACT,
    Floats,
    Forest,
    Rows,
    find_forest,
    find_forests,
    make_rows,
    sum_mixture,
)
from arcwise.pipeline.keeping import Kept, contradiction, keep_nothing, read_kept
from arcwise.pipeline.label_probabilities import label_probabilities
from arcwise.pipeline.model import FULL, SPANNING_TREE, Model, load_model
from arcwise.pipeline.parsed import Numbered, Trees
from arcwise.pipeline.pieces import cut, heads_within, join
from arcwise.pipeline.program_sentences import Programs, parse_with_programs
from arcwise.pipeline.repairing import Repairing, room_for_scores
from arcwise.pipeline.sentences import UNKNOWN_LABEL
from arcwise.pipeline.streaming import map_in_order
from arcwise.search.climb import check_climbing
from arcwise.search.climbing import Climbing
from arcwise.search.dual import ITERATIONS, check_options
from arcwise.search.linear_program import check_program_options
from arcwise.search.options import refuse_others
from arcwise.search.part_chart import CLIMB, DUAL, PRICE, PROGRAMS
from arcwise.search.shaped import BRANCH_AND_BOUND
from arcwise.search.start_trees import STARTS
from arcwise.tagging.writing import untagged
from arcwise.text.lines import Split
from arcwise.text.tokeniser import Tokeniser
from arcwise.threads import interruptible
from arcwise.treebank.block import Block, PackedNames, index_block, pack_names
from arcwise.treebank.formats import CONLLU
from arcwise.treebank.sentence import Sentence
from arcwise.trees.shapes import ANY, PROJECTIVE, read_shape

# The longest sentence that is parsed in one piece: a square of scores of 32 MB. A longer one is cut into pieces of this
# many words, each parsed on its own; the roots of the later pieces then hang on the root of the first (`arcwise.pipeline.pieces`).
LONGEST = 2000
# The same for models that search a chart, whose memory grows with the square of the words: 200 MB at most.
LONGEST_IN_CHART = 300
# And for a full linear or integer program of all arcs, which takes 2 GiB then.
LONGEST_IN_PROGRAM = 80
DUAL_PROJECTIVE = "dual-projective"
_BLOCK_BYTES = 1 << 17  # of sentences that are made from raw text at once
_MODELS = Path(__file__).parent.parent / "models"
_NOTHING = np.empty(0)
_FEW_WORDS = 100
_MOST_IN_GROUP = 500  # sentences that are parsed in one call of the kernels


Text = str | Sentence | Sequence[str] | Iterable[Sentence | Sequence[str]]


class Document(list[Sentence]):
    """Parsed sentences; prints as CoNLL-U, and shows the trees in a notebook."""

    def __str__(self) -> str:
        return "".join(map(str, self))

    def draw(self, format: str = "tree", *, width: int | None = None, colour: bool = False) -> str:
        """All trees as text for a terminal; or "svg", "latex" or "dot"."""
        if format == "svg":
            return self._repr_svg_()
        return "\n".join(sentence.draw(format, width=width, colour=colour) for sentence in self)

    def _repr_svg_(self) -> str:
        from arcwise.draw.svg import svg_document

        return svg_document(self)


class Parser:
    """A trained model, ready to parse. Safe to use from several threads at once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.labels = model.names
        self.single_root = model.single_root
        self._own_weights = self._weights = model.weights()
        self._scale = float(model.arrays["scales"][1])
        self._effort, self._projective = EXACT, False
        self._programs: Programs | None = None
        self._climbing: Climbing | None = None
        self._seconds: float | None = None
        self._temperatures = Temperatures.of(model)
        self._vocabulary = model.vocabulary()
        self._allowed = model.arrays["allowed"]
        below = np.flatnonzero(self._allowed[1])
        self._loose = model.names.index("parataxis") if "parataxis" in model.names else int(below[0])
        self._packed_names = _pack(model.names)
        self.tagger = model.tagger
        self.tokeniser = model.tokeniser or Tokeniser.general()

    @property
    def decoders(self) -> tuple[str, ...]:
        """The searches that understand the model, its own first. DUAL also finds the best projective tree."""
        settings = self.model.settings
        if settings.search == FULL:
            return (CLIMB,)
        if settings.dual:
            others = (DUAL, DUAL_PROJECTIVE, *(PROGRAMS if settings.second_order else ()))
        elif settings.search == SPANNING_TREE:
            others = (SPANNING_TREE,)
        else:
            return (settings.search,)
        return (CLIMB, *others) if settings.climb else (*others, CLIMB)

    def searching(
        self, decoder: str | None = None, *, exact: bool = True, iterations: int | None = None, budget: int | None = None,
        rule: str = "gap", relaxation: str = "all", connected: str = "cuts", seconds: float | None = None, pruned: bool = True,
        lazy: bool = False, shape: str | None = None, restarts: int | None = None, start: str | None = None,
        seed: int | None = None,
    ) -> Parser:  # fmt: skip
        """The same parser with another way to search. The other options are those of `arcwise.decode`, and are refused with a search
        that does not have them (`arcwise.search.options`); what an earlier call chose is forgotten. pruned: whether programs look
        only at the arcs that the pruner keeps, or at all arcs. lazy: whether PRICE scores parts only when bounds on their scores do
        not rule them out; this takes more time than to score them all. shape: the class of trees to find (`arcwise.trees.shapes`)
        in place of the model's own; for models of arcs `budget` is then nodes of branch and bound, and `seconds` are those for a
        sentence. restarts, start, seed: of CLIMB; with `exact` it begins with dual decomposition, or a spanning tree, where these
        know the parts, and goes on from their trees where they are not proved best; else it is climbing alone.
        """
        if decoder not in (None, *self.decoders):
            raise InputError(f"decoder {decoder!r}", expected=f"for this model {' or '.join(self.decoders)}")
        options = check_options(
            exact,
            ITERATIONS if iterations is None else iterations,
            BUDGET if budget is None else budget,
            rule,
        )
        program_options = check_program_options(relaxation, connected, exact, seconds)
        climbing = check_climbing(restarts, start, seed, None, exact, 1)
        search = self._name_of_search(decoder, shape)
        if search == BRANCH_AND_BOUND and iterations is not None:
            raise InputError("iterations for trees of a class", expected="a budget of nodes, or seconds")
        refuse_others(
            search, exact, iterations=iterations, budget=budget, rule=rule, relaxation=relaxation,
            connected=connected, seconds=seconds, pruned=pruned, lazy=lazy, restarts=restarts, start=start, seed=seed,
        )  # fmt: skip
        if decoder in PROGRAMS and read_shape(shape or self.model.settings.shape) != ANY:
            raise InputError(f"decoder {decoder!r} for trees of a class", expected=f"decoder {DUAL!r}")
        climbs = decoder == CLIMB or (decoder is None and self.model.settings.climb)
        if climbs and read_shape(shape or self.model.settings.shape) != ANY:
            raise InputError(f"decoder {CLIMB!r} for trees of a class", expected=f"decoder {DUAL!r}")
        other = copy(self)
        other._programs, other._seconds, other._weights = None, seconds, self._own_weights
        if climbs and not isinstance(climbing.start, str):
            raise InputError("the heads of one tree as a start", expected=", ".join(map(repr, STARTS)))
        if climbs:
            other._climbing = Climbing(
                climbing.restarts, STARTS.index(climbing.start), climbing.seed, climbing.bounded
            )
        else:
            other._climbing, other._weights = None, self._own_weights._replace(climb=False)
        if shape is not None:
            settings = replace(self.model.settings, shape=shape)  # refuses what the search does not know
            other._weights = other._weights._replace(shape=ANY if settings.projective else read_shape(shape))
        if decoder in PROGRAMS:
            distances = best_distances(self._weights.parts) if lazy else None
            other._programs = Programs(str(decoder), program_options, pruned, distances)
        other._effort = Effort(options.steps, options.paper, options.budget if options.exact else 0)
        other._projective = decoder == DUAL_PROJECTIVE
        return other

    def _name_of_search(self, decoder: str | None, shape: str | None) -> str:
        """The search that finds the trees, as `arcwise.search.options` has it."""
        decoder = decoder or self.decoders[0]
        of_class = read_shape(shape or self.model.settings.shape) not in (ANY, PROJECTIVE)
        if decoder == SPANNING_TREE and of_class:
            return BRANCH_AND_BOUND
        return DUAL if decoder == DUAL_PROJECTIVE else decoder

    @property
    def climbs(self) -> bool:
        """Whether trees are found by hill climbing."""
        return self._climbing is not None or self._weights.climb

    @property
    def samples(self) -> bool:
        """Whether probabilities are estimated from samples."""
        return self._weights.dual or self._weights.loopy or self._weights.far is not None

    @property
    def longest(self) -> int:
        """How many words a sentence may have to be parsed in one piece."""
        settings, programs = self.model.settings, self._programs
        if programs is not None and not programs.pruned and programs.decoder != PRICE:
            return LONGEST_IN_PROGRAM
        return LONGEST_IN_CHART if settings.projective or settings.higher else LONGEST

    def __repr__(self) -> str:
        roots = "one root" if self.single_root else "several roots"
        return f"<arcwise.Parser: {len(self.labels)} labels, {roots}>"

    def __call__(
        self, text: Text, *, keep: bool = False, constraints: Iterable[Constraint | str] = ()
    ) -> Document:
        """Parse a text, a sentence, or several: each sentence is a Sentence (whose tags are used, if it has any) or a list of words.

        keep: the heads and labels that a Sentence has stay, and the best tree that has them is found, as in `parse_block`:

            given = Sentence.from_words(["Time", "flies"], heads=[-1, 0], labels=["nsubj", None])
            print(parser(given, keep=True))  # "Time" hangs on 2 as nsubj, "flies" is the root

        constraints: what the tree of each sentence must be like (`arcwise.constraints`), as objects or as lines of a file. The best
        tree that satisfies all of them is found, as in `parse_block`:

            print(parser("Time flies like an arrow.", constraints=["root 3", AtMostOne(["nsubj", "csubj"])]))
        """
        rules = as_constraints(constraints)
        if isinstance(text, Sentence):
            sentences = [text]
        elif isinstance(text, str):
            blocks = self.read_text([_utf8(text)])
            return Document(
                sentence for block in blocks for sentence in self._parsed(self.tag_block(block), keep, rules)
            )
        else:
            items: list[Any] = list(text)
            if items and all(isinstance(item, str) for item in items):
                items = [items]
            sentences = [item if isinstance(item, Sentence) else _from_words(item) for item in items]
        return Document(
            parsed for group in _groups(sentences) for parsed in self._parsed(self._block(group), keep, rules)
        )

    def pipe(
        self, texts: Iterable[Text], *, jobs: int = 1, constraints: Iterable[Constraint | str] = ()
    ) -> Iterator[Document]:
        """A document for each text, in order, on so many threads; texts are read only as they are needed. constraints: on all."""
        if isinstance(texts, str):
            raise InputError(
                "one text", expected="several: a list, a file, or anything else that gives one after another"
            )
        parse = partial(self, constraints=as_constraints(constraints))
        with closing(map_in_order(parse, texts, jobs)) as documents:
            yield from documents

    def read_text(
        self,
        chunks: Iterable[bytes],
        *,
        split: Split = "text",
        offsets: bool = False,
        file: str = "",
        block_bytes: int | None = None,
    ) -> Iterator[Block]:
        """Blocks of sentences, without tags and trees, of raw text in UTF-8 of any length (`Tokeniser.stream`)."""
        size = block_bytes or _BLOCK_BYTES
        for data in self.tokeniser.stream(chunks, split=split, offsets=offsets, block_bytes=size, file=file):
            block, _ = index_block(data, CONLLU, file=file, check_trees=False)
            block.lines = np.zeros_like(block.lines)  # it has none in the file
            yield block

    def tag_block(self, block: Block, *, anew: bool = False) -> Block:
        """The block with tags and lemmas where a sentence has none; with `anew`, everywhere. As it is if the model cannot tag."""
        return block if self.tagger is None else self.tagger.tag(block, anew=anew)

    def tagged_sentences(self, block: Block) -> int:
        """How many sentences of a block have tags, which `tag_block` leaves as they are."""
        without = untagged(block.data, block.starts, block.stops, block.words)
        return int(np.count_nonzero(~without[block.words[:-1]]))

    def _block(self, group: list[Sentence]) -> Block:
        """Sentences as one block, tagged."""
        data = b"".join(sentence.to_bytes() for sentence in group)
        block, _ = index_block(data, group[0].format, file=group[0].file, check_trees=False)
        block.lines = np.array([sentence.line for sentence in group], np.int64)
        return self.tag_block(block)

    def _parsed(self, block: Block, keep: bool, constraints: list[Constraint]) -> list[Sentence]:
        """The sentences of a tagged block with their trees."""
        trees = self.parse_block(block, keep, constraints=constraints)
        parsed = block.rewritten(self.with_trees(block, trees))
        return [
            Sentence(
                parsed, i, score=float(trees.scores[i]), certified=bool(trees.certified[i]),
                confidences=partial(self._confidences, parsed, i),
            )
            for i in range(len(parsed))
        ]  # fmt: skip

    def _confidences(self, block: Block, index: int) -> NDArray[np.float64]:
        """The probability of each arc of a sentence's tree, nan for the root's own entry and in a sentence that is too long."""
        first, last = block.words[index : index + 2].tolist()
        found = np.full(last - first + 1, np.nan)
        if last - first <= self.longest:
            bounds = np.array([0, last - first], np.int32)
            numbers = number_words(
                block.data, block.starts[first:last], block.stops[first:last], bounds, self._vocabulary
            )
            rows = unknown_trees(numbers, np.array([0, len(found)]))
            forest = find_forest(rows, self._weights)
            (P,) = forest.squares(sum_mixture(forest, self._temperatures.mixture).arcs)
            found[1:] = P[block.heads[first:last], np.arange(1, len(found))]
        return found

    def parse_block(
        self, block: Block, keep: bool = False, *, confidence: bool = False, min_risk: bool = False, constraints: Constraints = (),
    ) -> Trees:  # fmt: skip
        """The best tree of every sentence of a block, among the arcs that the pruner keeps. Runs without the lock.

        keep: where HEAD or DEPREL say more than `_`, the tree has that head and that label, also one that the model does not know, or
        not from this head; the rest is the best that goes with it. What is given is never pruned. A label that the model knows from
        the root only, or never from it, settles this for a head that is not given. InputError, if no tree has what is given: it
        says which arcs are to blame. Where all is given, the block's bytes stay as they are.

        confidence: also how likely the trees, their arcs and labels are, among all trees of the arcs kept that have what is given.
        min_risk: not the likeliest tree, but the one with the most right arcs to expect. A sentence of more than `longest` words gets
        the best trees of its pieces all the same, and no probabilities.

        constraints: of `arcwise.constraints`, on all sentences, or a list for each sentence of the block; with `keep` also those of
        the column MISC. Where tree and labels satisfy them as they are, they stay. Else the tree is the best that, with labels,
        satisfies them, by the model's own score, and its labels are the best for it that satisfy them: both exactly
        (`arcwise.pipeline.constrained_sentences`). InputError if no tree does, with the fewest constraints, given arcs and given
        labels that no tree has together; and for violations in a sentence of more than `longest` words. Not with `confidence`,
        `min_risk`, programs, and models of belief propagation.
        """
        each = self._constraints(block, constraints, keep, "probabilities" if confidence or min_risk else "")
        if (min_risk or confidence) and len(block):
            explore = partial(self._explore, min_risk=min_risk, confidence=confidence)
            trees = interruptible(explore, block, keep)[1]
            return trees._replace(probabilities=trees.probabilities if confidence else None, ranks=None)
        kept = self._kept(block, keep)
        numbered = self._number(block, kept)
        arc_scores = room_for_scores(numbered.rows, each, keep, self._weights)
        interruptible(self._find_trees, numbered.rows, arc_scores, long=self._is_long(numbered.rows))
        trees = self._trees(block, kept, numbered)
        if not any(each):
            return trees
        how = Repairing(
            self._weights,
            self._effort,
            self._projective,
            self.labels,
            self._allowed,
            self.longest,
            self._scale,
        )
        return interruptible(how.repair, block, kept, numbered, trees, each, arc_scores)

    def trace_block(self, block: Block, keep: bool = False) -> tuple[Trees, list[NDArray[np.float64]]]:
        """The same, and of every sentence the bound, the score of the tree and the number of automata computed anew at every step of
        dual decomposition, (steps, 3); of its first piece, if it is parsed in pieces.
        """
        if not self._weights.dual or self.climbs or self._programs is not None:
            searched_by = self.decoders[0] if self._programs is None else self._programs.decoder
            raise ArcwiseError(
                f"this model finds trees by {searched_by}, and only dual decomposition has steps to trace"
            )
        self._constraints(block, (), keep, "a trace")
        kept = self._kept(block, keep)
        numbered = self._number(block, kept)
        rows, traces = numbered.rows, []
        for piece in range(len(rows.scores)):
            trace = np.full((self._effort.steps, 3), np.nan)
            interruptible(
                rows.part(piece, piece + 1).find_trees,
                self._weights,
                self._effort,
                self._projective,
                _NOTHING,
                trace,
            )
            trace = trace[: rows.report[piece, STEPS]]
            trace[:, :2] *= self._scale
            traces.append(trace)
        return self._trees(block, kept, numbered), [traces[first] for first in numbered.firsts]

    def check_first_order(self, why: str) -> None:
        """ArcwiseError, unless the best tree is the spanning tree of a matrix of arc scores. why: what such a model is needed for."""
        settings = self.model.settings
        if settings.search != "spanning-tree" or self._weights.shape != ANY:
            of_class = f" of shape {self._weights.shape}" if self._weights.shape != ANY else ""
            raise ArcwiseError(
                f"this model finds trees{of_class} by {self.decoders[0]}; {why} only for first-order models of all trees"
            )

    def arc_scores(self, block: Block) -> Iterator[Floats]:
        """The scores S[h, m] of each sentence's arcs as the search for its tree sees them, in order: each with its best label, -inf
        for those that are pruned. Only of first-order models; sentences of more than `longest` words are left out.

        In units of the weights: whole numbers, so ties are ties. Memory of some sentences at a time.
        """
        self.check_first_order("arcs have scores of their own")
        numbered = self._number(block, self._kept(block, False))
        pieces = np.diff(numbered.firsts, append=len(numbered.rows.scores))
        whole = np.repeat(np.diff(block.words) <= self.longest, pieces)
        for _, _, forest in find_forests(numbered.rows, whole, self._weights):
            assert isinstance(forest, Forest)  # since the model is of first order
            yield from forest.squares(forest.scores)

    def k_best_block(
        self, block: Block, k: int, keep: bool = False, *, confidence: bool = False
    ) -> tuple[Block, Trees]:
        """The k best trees of every sentence, best first, all if there are fewer; before them the block of the sentences, each once
        for each of its trees.

        The first is that of `parse_block`. Exact among the arcs that the pruner keeps; O(k n^3) time a sentence. keep, confidence: as
        there; the trees' own probabilities are always told. A sentence of more than `longest` words has one tree.
        """
        if k < 1:
            raise InputError(f"k is {k}", expected="a number of trees, 1 or more")
        if not len(block):
            return block, self.parse_block(block)
        self._constraints(block, (), keep, "the k best trees")
        return interruptible(partial(self._explore, k=k, confidence=confidence), block, keep)

    def _explore(
        self, block: Block, keep: bool, *, k: int = 1, min_risk: bool = False, confidence: bool = False
    ) -> tuple[Block, Trees]:
        """The trees that `best_trees` finds, with their probabilities, and before them the block of a sentence for each."""
        if self._programs is not None:
            raise ArcwiseError(f"decoder {self._programs.decoder!r} finds single trees, and no probabilities")
        if (self._weights.loopy or self._weights.dual or self.climbs) and k > 1:
            way = "hill climbing" if self.climbs else "dual decomposition"
            way = "belief propagation" if self._weights.loopy else way
            raise ArcwiseError(f"this model finds trees by {way}, and not the k best")
        kept = self._kept(block, keep)
        numbered = self._number(block, kept)
        sizes, pieces = np.diff(block.words), np.diff(numbered.firsts, append=len(numbered.rows.scores))
        mixture = self._temperatures.mixture
        best = best_trees(
            numbered.rows, np.repeat(sizes <= self.longest, pieces), self._weights, mixture,
            k=k, min_risk=min_risk, confidence=confidence,
        )  # fmt: skip
        bounds = pairwise(block.words.tolist())
        found = [
            best[piece] or no_probabilities(kept.heads[begin:end], len(mixture.shares))
            for piece, (begin, end) in zip(numbered.firsts, bounds, strict=True)
        ]
        counts = [len(one.heads) for one in found]
        if k > 1 or min_risk:  # not the trees that were filled in: these are given now, and get their labels
            sources = np.repeat(np.arange(len(block)), counts)
            labels = kept.labels[repeat(block.words, sources)]
            kept = Kept(np.concatenate([one.heads.reshape(-1) for one in found]), labels, kept.names)
            block = repeated(block, sources)
            numbered = self._number(block, kept)
            self._find_trees(numbered.rows)
        trees = self._trees(block, kept, numbered)
        scores = np.repeat([one.score for one in found], counts)
        scores = np.where(np.isnan(scores), numbered.rows.scores[numbered.firsts], scores)
        partitions, errors = (
            np.repeat(np.array(each), counts, axis=0).T
            for each in ([one.log_partitions for one in found], [one.errors for one in found])
        )
        by_row = label_probabilities(numbered.rows, self._weights, self._temperatures.labels)
        of_labels = np.where(kept.labels < 0, by_row[numbered.words], 1.0)
        of_labels[np.repeat(~trees.whole, np.diff(block.words))] = np.nan
        with np.errstate(divide="ignore"):
            of_all_labels = np.add.reduceat(np.log(of_labels), block.words[:-1])
        logs = mixture.logarithms(scores, partitions)
        if k > 1:  # never more than 1 together, not even in the last digit
            together = np.add.reduceat(np.exp(logs), np.cumsum([0, *counts[:-1]]))
            logs -= np.repeat(np.log(np.fmax(together, 1.0)), counts)
        arcs = arc_errors = None
        if confidence:
            # No tree is likelier than its arcs, but for the last digits: not even these shall say so.
            arcs = np.concatenate([one.arcs.reshape(-1) for one in found])
            arcs = np.clip(np.maximum(arcs, np.repeat(np.exp(logs), np.diff(block.words))), 0.0, 1.0)
        probabilities = Probabilities(logs + of_all_labels, arcs, of_labels if confidence else None)
        if self.samples:
            errors = mixture.errors(scores, partitions, errors) * np.exp(of_all_labels)
            if confidence:
                arc_errors = np.concatenate([one.arc_errors.reshape(-1) for one in found])
            probabilities = probabilities._replace(errors=errors, arc_errors=arc_errors)
        ranks = np.concatenate([np.arange(1, count + 1, dtype=np.int32) for count in counts])
        return block, trees._replace(probabilities=probabilities, ranks=ranks)

    def _constraints(
        self, block: Block, constraints: Constraints, keep: bool, asked_for: str
    ) -> list[tuple[Constraint, ...]]:
        """The constraints on each sentence; refused if there are any and what is asked for has no answer under them."""
        each = constraints_of(block, constraints, keep)
        if any(each):
            if self._weights.loopy:
                asked_for = "belief propagation"
            if self._weights.far is not None:
                asked_for = "features of whole trees"
            if self._programs is not None:
                asked_for = f"decoder {self._programs.decoder!r}"
            if asked_for:
                raise ArcwiseError(
                    f"constraints do not go with {asked_for}, only with an exact search for the best tree"
                )
        return each

    def _kept(self, block: Block, keep: bool) -> Kept:
        return read_kept(block, self.labels, self._allowed) if keep else keep_nothing(block, self.labels)

    def _number(self, block: Block, kept: Kept) -> Numbered:
        """A block as the kernels take it."""
        pieces = cut(block.words, self.longest)
        numbers = number_words(block.data, block.starts, block.stops, pieces, self._vocabulary)
        starts = pieces + np.arange(len(pieces), dtype=np.int64)
        words = word_rows(pieces)
        heads, labels = np.full(len(numbers), -1, np.int32), np.full(len(numbers), -1, np.int32)
        heads[words] = heads_within(block.words, self.longest, kept.heads)
        labels[words] = np.where(kept.labels < len(self.labels), kept.labels, UNKNOWN_LABEL)
        rows = make_rows(numbers, starts, heads, labels)
        return Numbered(rows, words, np.searchsorted(pieces, block.words[:-1]))

    def _is_long(self, rows: Rows) -> bool:
        """Whether somebody may want to interrupt the search: not that for few words with the usual budget."""
        return len(rows.heads) > _FEW_WORDS or self._effort.budget > BUDGET or self._programs is not None

    def _find_trees(self, rows: Rows, arc_scores: Floats = _NOTHING) -> None:
        if self._programs is None:
            rows.find_trees(
                self._weights, self._effort, self._projective, arc_scores, climbing=self._climbing,
                seconds=self._seconds,
            )  # fmt: skip
        else:
            numbers, starts, heads, labels, scores, bounds, report = rows
            parse_with_programs(
                numbers, starts, self._weights, self._programs, heads, labels, scores, bounds, report
            )

    def _trees(self, block: Block, kept: Kept, numbered: Numbered) -> Trees:
        """The trees that were found, or an InputError if there is none."""
        rows = numbered.rows
        scores = np.add.reduceat(rows.scores * self._scale, numbered.firsts)
        whole = np.diff(block.words) <= self.longest
        for sentence in np.flatnonzero(np.isneginf(scores) | ~whole):
            error = contradiction(block, int(sentence), kept, self.single_root)
            if error is None and np.isneginf(scores[sentence]):
                shape = PROJECTIVE if self._weights.projective or self._projective else self._weights.shape
                error = InputError(
                    f"no tree of shape {shape} has the heads and labels given",
                    expected="some that one has, for this model finds no others",
                    file=block.file or None, line=int(block.lines[sentence]),
                )  # fmt: skip
            if error is not None:
                raise error
        heads, labels = rows.heads[numbered.words], rows.labels[numbered.words]
        join(block.words, self.longest, kept.heads, heads, labels, self._loose)
        labels = np.where(kept.labels < 0, labels, kept.labels)
        bounds = np.add.reduceat(rows.bounds * self._scale, numbered.firsts)
        report = np.add.reduceat(rows.report, numbered.firsts)
        return Trees(heads, labels, scores, whole, kept.names, bounds, report)

    def with_trees(self, block: Block, trees: Trees) -> NDArray[np.uint8]:
        """The block's bytes with these trees in place of its own. Runs without the lock."""
        if trees.names is self.labels:
            return block.replace_trees(trees.heads, trees.labels, self._packed_names)
        return block.replace_trees(trees.heads, trees.labels, _pack(trees.names))

    def parse_to_bytes(self, block: Block, keep: bool = False) -> NDArray[np.uint8]:
        """The block's bytes with the best trees in place of its own."""
        return self.with_trees(block, self.parse_block(block, keep))


def _pack(names: tuple[str, ...]) -> PackedNames:
    return pack_names([name.encode() for name in names])


def _groups(sentences: list[Sentence]) -> Iterator[list[Sentence]]:
    """The sentences in groups whose bytes, joined, are one block: of one format and file, each ended by a blank line."""
    group: list[Sentence] = []
    for sentence in sentences:
        if group and (
            len(group) == _MOST_IN_GROUP
            or (sentence.format, sentence.file) != (group[0].format, group[0].file)
            or not group[-1].to_bytes().endswith(b"\n\n")
        ):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def _from_words(words: Any) -> Sentence:
    """A sentence of plain words."""
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{words!r:.60} as a sentence", expected="a Sentence, or a list of words")
    return Sentence.from_words(list(words))


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"half a surrogate pair, {text[error.start]!r}", expected="Unicode text") from None


def bundled_models() -> dict[str, Path]:
    """The models that come with arcwise, by name."""
    return {path.stem: path for path in sorted(_MODELS.glob("*.arcwise"))}


def load(name: str | Path) -> Parser:
    """Load a model that comes with arcwise, like "en", or one from a file."""
    bundled = bundled_models()
    path = bundled.get(str(name), Path(name))
    if path.is_dir():
        raise ModelError(f"{path}: a folder, expected a model file")
    if not path.exists():
        raise ModelError(
            f"{name}: no such model; with arcwise comes {', '.join(bundled) or 'none'}, others are files that `arcwise train` made"
        )
    try:
        return Parser(load_model(path))
    except InputError as error:  # keys that collide
        raise ModelError(f"{path}: not a model that arcwise can use: {error}") from None
    except MemoryError:
        raise ModelError(f"{path}: too large for the memory that there is") from None
