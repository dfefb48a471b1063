"""At most one dependent of a label group per head, such as one subject: how many trees violate it without being asked, what it does
to accuracy, what time it takes, and for models of arcs alone the exact answer against greedy repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from arcwise.constraints import AtMostOne, compile_constraints
from arcwise.errors import InputError, ModelError
from arcwise.evaluation.attachment import accuracy
from arcwise.experiments.greedy_repair import repair_greedily, score_labelled_arcs
from arcwise.experiments.racing import race
from arcwise.experiments.tables import Rows, markdown
from arcwise.experiments.trained_models import Tell, part_of
from arcwise.features.attributes import number_words
from arcwise.pipeline.best_trees import repeated
from arcwise.pipeline.constraining import constraints_of, violating
from arcwise.pipeline.parsed import Trees
from arcwise.pipeline.parser import Parser
from arcwise.treebank.block import DEPREL, Block
from arcwise.treebank.reading import read_blocks
from arcwise.trees.shapes import ANY

GROUPS = "nsubj,csubj", "obj"
ROUNDS = 15
_BLOCK_BYTES = 1 << 17  # as `arcwise parse` reads them
_SLACK = 0.5  # scores are whole numbers: a better tree is better by 1 at least
_ABOVE = "exact above greedy"
_WITHOUT = ""  # the name of the parse without constraints
Rules = tuple[AtMostOne, ...]


def sets_of_rules(groups: Sequence[str]) -> dict[str, Rules]:
    """Each group of labels alone, and all at once.

    >>> list(sets_of_rules(["nsubj,csubj", "obj"]))
    ['nsubj,csubj', 'obj', 'nsubj,csubj; obj']
    """
    rules = {group: AtMostOne(group.split(",")) for group in groups}
    return {**{group: (rule,) for group, rule in rules.items()}, "; ".join(rules): tuple(rules.values())}


def parse(parser: Parser, blocks: list[Block], rules: Rules, retag: bool) -> list[Trees]:
    """The whole way from blocks to bytes: tags where there are none or, with `retag`, everywhere, trees, and both written."""
    found = []
    for block in blocks:
        tagged = parser.tag_block(block, anew=retag)
        found.append(parser.parse_block(tagged, constraints=rules))
        parser.with_trees(tagged, found[-1])
    return found


def count_violating(blocks: list[Block], trees: list[Trees], rules: Rules) -> int:
    """The sentences whose trees violate one of the rules."""
    return sum(
        len(violating(block, constraints_of(block, rules, False), found.names, found.heads, found.labels))
        for block, found in zip(blocks, trees, strict=True)
    )


def attachment(blocks: list[Block], trees: list[Trees]) -> tuple[float, float]:
    """UAS and LAS of all words in percent, labels without subtypes."""
    gold_labels = [_universal(label) for block in blocks for label in block.column(DEPREL)]
    labels = [_universal(found.names[label]) for found in trees for label in found.labels]
    gold_heads = np.concatenate([block.heads for block in blocks])
    uas, las = accuracy(gold_heads, gold_labels, np.concatenate([found.heads for found in trees]), labels)
    return 100 * uas, 100 * las


def _universal(label: str) -> str:
    return label.partition(":")[0]


def has_greedy_repair(parser: Parser) -> bool:
    """Whether a model scores arcs alone, and any tree will do."""
    weights = parser.model.weights()
    return not (weights.dual or weights.projective or weights.loopy) and weights.shape == ANY


def against_greedy(
    parser: Parser, blocks: list[Block], trees: list[Trees], rules: Rules, retag: bool
) -> dict[str, float]:
    """How often the score of a tree that was repaired is above, equal to or below that of the greedy repair, by what the model finds
    trees by; and how often the latter leaves violations.
    """
    weights, vocabulary = parser.model.weights(), parser.model.vocabulary()
    groups = compile_constraints(rules, 1, labels=parser.labels).groups
    unit = float(parser.model.arrays["scales"][1])
    above = equal = below = failed = 0
    for block, found in zip(blocks, trees, strict=True):
        assert found.repaired is not None
        for sentence in np.flatnonzero(found.repaired):
            one = parser.tag_block(repeated(block, np.array([sentence])), anew=retag)
            numbers = number_words(one.data, one.starts, one.stops, one.words, vocabulary)
            scores = score_labelled_arcs(numbers, weights, len(parser.labels))
            greedy = repair_greedily(scores, groups, parser.single_root)
            gain = found.scores[sentence] / unit - greedy.score
            failed += greedy.violates
            above += not greedy.violates and gain > _SLACK
            equal += not greedy.violates and abs(gain) <= _SLACK
            below += not greedy.violates and gain < -_SLACK
    return {
        _ABOVE: above,
        "equal": equal,
        "below": below,
        "greedy leaves violations": failed,
    }


def measure(
    parser: Parser, file: Path, groups: Sequence[str] = GROUPS, rounds: int = ROUNDS, *, retag: bool = False,
    tell: Tell = lambda share: None,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """A row for every group of labels and one for all at once. retag: whether the tags of the file give way to predicted ones."""
    if retag and parser.tagger is None:
        raise ModelError("the model cannot tag: it was trained on the treebank's own tags, or none")
    with read_blocks(file, block_bytes=_BLOCK_BYTES) as read:
        blocks = list(read)
    sets = sets_of_rules(groups)

    def run(rules: Rules) -> Callable[[], list[Trees]]:
        return lambda: parse(parser, blocks, rules, retag)

    runs = {name: run(rules) for name, rules in {_WITHOUT: (), **sets}.items()}
    trees = {name: one() for name, one in runs.items()}  # also compiles what is timed
    seconds = race(dict(runs), rounds, tell)
    sentences, plain = sum(map(len, blocks)), attachment(blocks, trees[_WITHOUT])
    rows = {}
    for name, rules in sets.items():
        uas, las = attachment(blocks, trees[name])
        rows[name] = {
            "sentences": sentences,
            "violating without": count_violating(blocks, trees[_WITHOUT], rules),
            "violating with": count_violating(blocks, trees[name], rules),
            "UAS without": plain[0],
            "UAS with": uas,
            "LAS without": plain[1],
            "LAS with": las,
            "proved best, %": 100 * sum(int(found.certified.sum()) for found in trees[name]) / sentences,
            "without, ms": 1000 * float(np.median(seconds[_WITHOUT])) / sentences,
            "times as long": float(np.median(seconds[name] / seconds[_WITHOUT])),
        }
        if has_greedy_repair(parser):
            rows[name] |= against_greedy(parser, blocks, trees[name], rules, retag)
    return rows


def groups(
    files: Sequence[Path], parser: Parser, groups: Sequence[str] = GROUPS, rounds: int = ROUNDS, *, retag: bool = False,
    tell: Tell = lambda share: None,
) -> Iterator[Rows]:  # fmt: skip
    """The rows of all treebanks that are ready, whenever one more is, by folder and name of the file."""
    names = [f"{file.resolve().parent.name}/{file.stem}" for file in files]
    if len(set(names)) < len(names):
        raise InputError("two treebanks of one name", expected="files of different names or folders")
    rows: dict[str, dict[str, float]] = {}
    for done, (name, file) in enumerate(zip(names, files, strict=True)):
        part = part_of(tell, done, len(files))
        found = measure(parser, file, groups, rounds, retag=retag, tell=part)
        rows = {**rows, **{f"{name}: {group}": row for group, row in found.items()}}
        yield rows


def tables(rows: Rows, model: str, rounds: int, retag: bool) -> Iterator[str]:
    """The table in Markdown, and what its numbers are."""
    yield from markdown(f"at most one, {model}", rows)
    yield ""
    tags = "Predicted tags" if retag else "Tags of the file"
    yield (
        f"{tags}. UAS and LAS as in UD: all words, labels without subtypes. Time: of CPU, from the words of the file to its bytes "
        f"with trees; a sentence without constraints, and the median of {rounds} ratios, by turns."
    )
    if all(_ABOVE in row for row in rows.values()):
        yield "Exact and greedy: by their scores, of the sentences whose trees violate without."
