"""Fitting anew what makes probabilities of a model's scores: by a treebank, without training."""

from __future__ import annotations

from arcwise.errors import InputError
from arcwise.learning.corpus import make_corpus
from arcwise.pipeline.confidence import fit_temperatures
from arcwise.pipeline.model import Model
from arcwise.pipeline.options import Note
from arcwise.pipeline.training_data import TreebankLike, read_whole, without_long


def calibrate(
    model: Model, treebank: TreebankLike, *, format: str | None = None, skip_bad: bool = False, note: Note = lambda text: None,
) -> Model:  # fmt: skip
    """The same model with temperatures and doubt by which a treebank is most probable (`arcwise.pipeline.confidence`).

    No weight changes, so no tree does. The treebank must be one that the model did not learn from. It is tagged anew where the
    model can tag, as text would be. InputError if it has none of the model's labels.
    """
    blocks = read_whole(treebank, "development", format, skip_bad, note)
    if model.tagger is not None:
        blocks = [model.tagger.tag(block, anew=True) for block in blocks]
    corpus = make_corpus(
        blocks, model.vocabulary(), {name: number for number, name in enumerate(model.names)}
    )
    if corpus.labels.max() < 0:
        raise InputError("none of its labels is one of the model's", expected="a treebank of the same scheme")
    return fit_temperatures(model, without_long(corpus, "development", note))
