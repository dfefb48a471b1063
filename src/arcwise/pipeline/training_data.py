"""The treebanks of a training run: read, looked at, and turned into numbers."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

import arcwise
from arcwise.arrays import Arrays
from arcwise.clusters.files import read_clusters
from arcwise.clusters.lookup import bits_of_words, cluster_arrays, cluster_table
from arcwise.errors import InputError
from arcwise.evaluation.structure import measure_structure, smallest_class
from arcwise.features.attributes import collect_keys, vocabulary
from arcwise.learning.corpus import Corpus, make_corpus, select_sentences, whole_trees
from arcwise.learning.trainers import BATCH_EG, EG
from arcwise.pipeline.model import MOST_LABELS
from arcwise.pipeline.options import AUTO, Note, Options, Watcher
from arcwise.pipeline.preparing import prepare
from arcwise.search.decode import decode
from arcwise.search.projectivise import projectivise
from arcwise.search.result import Parse
from arcwise.tagging.tagger import Tagger
from arcwise.tagging.tagset import LONGEST_NAME
from arcwise.text.tokeniser import Tokeniser
from arcwise.treebank.block import DEPREL, FEATS, FORM, UPOS, XPOS, Block
from arcwise.treebank.reading import read_blocks
from arcwise.treebank.sentence import Sentence
from arcwise.treebank.sources import SourceLike
from arcwise.trees.shapes import ANY, PROJECTIVE

LONGEST_IN_TRAINING = 500  # words; a longer sentence is left out, and said so
_FEW_KNOWN = 0.5  # the share of words with clusters below which something must be wrong

TreebankLike = SourceLike | Iterable[Sentence]


class TrainingData(NamedTuple):
    """What the learners read, and does not change.

    keys: the vocabulary. clusters: of words, as stored, empty if there are none. names: the labels. allowed: bool (2,
    labels), the labels seen on arcs from the root and from words.
    several_roots: how many sentences have them. fingerprint: of all data and options. tokeniser, tagger: what was learned
    to come before the parser. tag_accuracy: of the tagger on the development set, in percent. shape: of the trees that the model
    finds. tagged: whether the treebank has parts of speech or morphological features.
    """

    train: Corpus
    dev: Corpus | None
    keys: NDArray[np.uint64]
    clusters: Arrays
    names: tuple[str, ...]
    allowed: NDArray[np.bool_]
    single_root: bool
    several_roots: int
    fingerprint: str
    tokeniser: Tokeniser | None
    tagger: Tagger | None
    tag_accuracy: dict[str, float]
    shape: str
    tagged: bool


def read_training_data(
    train: TreebankLike,
    dev: TreebankLike | None,
    options: Options,
    watcher: Watcher,
    *,
    format: str | None = None,
    skip_bad: bool = False,
    jobs: int = 1,
    check_fingerprint: Callable[[str], None] = lambda fingerprint: None,
) -> TrainingData:
    """Read both treebanks whole; what is remarkable about them is told to `watcher`, what cannot be used is an InputError.

    check_fingerprint: is given the fingerprint of the run as soon as it is known, before anything is learned.
    """
    note = watcher.note
    blocks = read_whole(train, "training", format, skip_bad, note)
    if options.choices.optimiser in (EG, BATCH_EG) and any(block.heads.min() < 0 for block in blocks):
        raise InputError(
            f"{options.choices.optimiser} needs whole trees, and some HEADs are _: take sgd, adagrad or lbfgs"
        )
    dev_blocks = [] if dev is None else read_whole(dev, "development", format, skip_bad, note)
    if dev is None:
        note("no development treebank: the last epoch is kept, and nothing is known of the accuracy")

    clusters = _read_clusters(blocks, options, note)
    fingerprint = _fingerprint((blocks, dev_blocks), clusters, options)
    check_fingerprint(fingerprint)
    table = cluster_table(clusters)
    blocks, dev_blocks, tokeniser, tagger, tag_accuracy = prepare(
        blocks, dev_blocks, options, watcher, jobs, table
    )
    keys = collect_keys(blocks, options.frequent if clusters else 0, options.words)
    tagged = any({*block.column(role)} != {"_"} for block in blocks for role in (UPOS, XPOS, FEATS))
    if not tagged:
        note(
            "the treebank has no tags (UPOS, XPOS and FEATS are _ everywhere): the parser goes by words alone"
        )
    names = tuple(sorted({label for block in blocks for label in _known_labels(block)}))
    if len(names) > 1:  # where there are labels, _ says that one is not known
        names = tuple(name for name in names if name != "_")
    if names == ("_",):
        note("the treebank has no labels (DEPREL is _ everywhere): the model will find heads only")
    if max(map(len, names), default=0) > LONGEST_NAME:
        raise InputError("a very long label", expected=f"at most {LONGEST_NAME} letters")
    if len(names) > MOST_LABELS:
        raise InputError(
            f"{len(names)} labels", expected=f"at most {MOST_LABELS}; is DEPREL in the right column?"
        )
    words, numbers = vocabulary(keys, table), {name: number for number, name in enumerate(names)}
    corpus = make_corpus(blocks, words, numbers)
    corpus = without_long(corpus, "training", note)
    roots = np.add.reduceat(corpus.heads == 0, corpus.starts[:-1], dtype=np.int64)
    several = int(np.count_nonzero(roots > 1))
    single_root = options.single_root
    if single_root is None:
        single_root = several == 0
        if several:
            note(
                f"{several} of {len(roots)} training sentences have several roots: the model will allow several"
            )
    elif single_root and several:
        note(f"{several} of {len(roots)} training sentences have several roots, and are left out")
        corpus = select_sentences(corpus, roots <= 1)
    if len(corpus.starts) == 1:
        raise InputError("no training sentence is left")
    partial = int(np.count_nonzero(~whole_trees(corpus)))
    if partial == len(corpus.starts) - 1 and options.labels == "after":
        raise InputError(
            "no training sentence in which all heads are known",
            expected="some, to learn labels after the trees (or take --labels joint)",
        )
    if partial:
        note(
            f"{partial} of {len(corpus.starts) - 1} training sentences have words whose HEAD is _: what is known of them is learned"
        )
    if options.settings.projective:
        corpus, moved, forgotten = _projectivised(corpus, single_root)
        if moved:
            note(
                f"{moved} words of the training treebank hang on another head, so that its trees are projective"
            )
        if forgotten:
            note(f"{forgotten} heads in sentences with unknown ones are forgotten: they cross others")
    if len(corpus.starts) == 2:
        note("the training treebank has a single sentence: do not expect the model to know much")
    return TrainingData(
        train=corpus,
        dev=without_long(make_corpus(dev_blocks, words, numbers), "development", note)
        if dev_blocks
        else None,
        keys=keys,
        clusters=clusters,
        names=names,
        allowed=_allowed_labels(corpus, len(names)),
        single_root=single_root,
        several_roots=several,
        fingerprint=fingerprint,
        tokeniser=tokeniser,
        tagger=tagger,
        tag_accuracy=tag_accuracy,
        shape=_auto_shape(blocks, options, note) if options.shape == AUTO else options.settings.shape,
        tagged=tagged,
    )


def _auto_shape(blocks: list[Block], options: Options, note: Note) -> str:
    """The smallest class that covers 99% of the trees; a chart finds projective ones in any case."""
    if options.settings.projective:
        return str(PROJECTIVE)
    structure = measure_structure(blocks, skip_bad=True)
    if structure.sentences == 0:
        note("no training sentence has a whole tree to choose a shape by: the model will find trees of any")
        return str(ANY)
    shape = smallest_class(structure)
    covered = 100 * structure.classes[shape] / structure.sentences
    note(f"shape {shape}: the smallest class that covers 99% of the training trees ({covered:.2f}%)")
    return str(shape)


def _projectivised(corpus: Corpus, single_root: bool) -> tuple[Corpus, int, int]:
    """The corpus with the nearest projective trees, how many words have another head there, and how many heads are forgotten.

    Where not all heads are known none is replaced, but some are forgotten with their labels, as few as possible, so that there is a
    projective tree.
    """
    heads, labels = corpus.heads.copy(), corpus.labels.copy()
    for (begin, end), whole in zip(pairwise(corpus.starts.tolist()), whole_trees(corpus), strict=True):
        tree = heads[begin:end]
        if whole:
            tree[:] = projectivise(tree, single_root)
        else:
            known = np.flatnonzero(tree >= 0)
            scores = np.zeros((len(tree), len(tree)))
            scores[tree[known], known] = 1.0
            nearest: Parse = decode(scores, projective=True, single_root=single_root)
            tree[tree != nearest.heads] = -1
    forgotten = (heads < 0) & (corpus.heads >= 0)
    labels[forgotten] = -1
    moved = np.count_nonzero(heads != corpus.heads) - np.count_nonzero(forgotten)
    return corpus._replace(heads=heads, labels=labels), int(moved), int(np.count_nonzero(forgotten))


def read_whole(
    source: TreebankLike, role: str, format: str | None, skip_bad: bool, note: Note
) -> list[Block]:
    """All blocks of a treebank; the trees of a development treebank must be whole."""
    if not isinstance(source, str | Path) and not hasattr(source, "read"):
        source = io.BytesIO(b"".join(sentence.to_bytes() for sentence in source))
    with read_blocks(cast(str | Path | BinaryIO, source), format=format, skip_bad=skip_bad) as reader:
        blocks = list(reader)
    if reader.skipped:
        note(f"{reader.file}: bad sentences skipped: {reader.skipped}, the first: {reader.skipped_errors[0]}")
    if not blocks:
        raise InputError(f"no {role} sentences", file=reader.file)
    if role == "training" and all(block.heads.max() < 0 for block in blocks):
        raise InputError("HEAD is '_' everywhere", expected="some heads to learn from", file=reader.file)
    for block in blocks:
        if role == "development" and block.heads.min() < 0:
            word = int(np.argmin(block.heads))
            sentence = int(np.searchsorted(block.words, word, side="right")) - 1
            raise InputError(
                "HEAD is '_' in the sentence that begins here",
                expected=f"a number everywhere in a {role} treebank",
                file=reader.file,
                line=int(block.lines[sentence]),
                token=str(word - block.words[sentence] + 1),
            )
    return blocks


def _known_labels(block: Block) -> list[str]:
    """The labels of words whose heads are known."""
    return [label for label, head in zip(block.column(DEPREL), block.heads, strict=True) if head >= 0]


def without_long(corpus: Corpus, role: str, note: Note) -> Corpus:
    """The corpus without sentences that would take too much memory."""
    lengths = np.diff(corpus.starts) - 1
    if lengths.max() <= LONGEST_IN_TRAINING:
        return corpus
    count = int(np.count_nonzero(lengths > LONGEST_IN_TRAINING))
    note(f"{count} {role} sentences of more than {LONGEST_IN_TRAINING} words are left out")
    kept = select_sentences(corpus, lengths <= LONGEST_IN_TRAINING)
    if len(kept.starts) == 1:
        raise InputError(f"no {role} sentence is left")
    return kept


def _allowed_labels(corpus: Corpus, labels: int) -> NDArray[np.bool_]:
    """The labels seen on arcs from the root and on others; all of them where nothing was seen."""
    allowed = np.zeros((2, labels), np.bool_)
    for row, arcs in enumerate((corpus.heads == 0, corpus.heads > 0)):
        labels_seen = corpus.labels[arcs]
        allowed[row, labels_seen[labels_seen >= 0]] = True
        if not allowed[row].any():
            allowed[row] = True
    return allowed


def _read_clusters(blocks: list[Block], options: Options, note: Note) -> Arrays:
    """The clusters of words, as they are stored."""
    if options.clusters is None:
        return {}
    found = read_clusters(options.clusters)
    forms = Counter(form for block in blocks for form in block.column(FORM))
    share = sum(forms[form] for form in bits_of_words(found.bits, forms)) / forms.total()
    note(f"{share:.1%} of the words of the training treebank have a cluster")
    if share < _FEW_KNOWN:
        note("most words have none: are the clusters of the treebank's language, and its words split alike?")
    return cluster_arrays(found, options.cluster_cut)


def _fingerprint(treebanks: tuple[list[Block], ...], clusters: Arrays, options: Options) -> str:
    chosen = asdict(options) | {"clusters": None}  # as with treebanks, what they are counts, not where
    made_by = repr((arcwise.__version__, sorted(chosen.items())))
    digest = hashlib.blake2b(made_by.encode(), digest_size=16)
    for name in sorted(clusters):
        digest.update(clusters[name].tobytes())
    for blocks in treebanks:
        digest.update(sum(len(block.data) for block in blocks).to_bytes(8, "little"))
        for block in blocks:
            digest.update(block.data.data)
    return digest.hexdigest()
