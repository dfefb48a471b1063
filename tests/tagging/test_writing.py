"""Tags in the place of those that a block has: all other bytes stay."""

from __future__ import annotations

import numpy as np
import pytest

from arcwise.tagging.tagger import Tagger
from arcwise.tagging.writing import untagged
from arcwise.treebank.block import FEATS, FORM, LEMMA, UPOS, XPOS, Block
from tests.tagging import naive
from tests.tagging.corpora import conllu_block, data_blocks, learn, small_tagger

FILES = ("train.conllu", "conllx.conll", "conll2008.conll", "conll2009.conll")


def expected(tagger: Tagger, block: Block, tags: np.ndarray, chosen: np.ndarray) -> bytes:
    """Line by line."""
    lines, word = block.data.tobytes().decode().split("\n"), 0
    fine, roles = tagger.tagset.history[tags, 1].tolist(), block.format.roles
    for number, line in enumerate(lines):
        cells = line.split("\t")
        if not cells[0].isdigit():
            continue
        if chosen[word]:
            upos, xpos, feats = tagger.tagset.tags[tags[word]]
            form = cells[roles[FORM]]
            lemma = naive.lemma(tagger.arrays, form, fine[word]) if "lemmas.keys" in tagger.arrays else None
            for role, value in ((FEATS, feats), (XPOS, xpos), (UPOS, upos), (LEMMA, lemma)):
                if roles[role] >= 0 and value is not None:
                    cells[roles[role]] = value
        lines[number] = "\t".join(cells)
        word += 1
    return "\n".join(lines).encode()


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_only_the_tags_of_chosen_words_change(file: str, share: float) -> None:
    random = np.random.default_rng(0)
    for block in data_blocks(file):
        for tagger in (small_tagger(), learn(data_blocks(file)[:1], epochs=1)):
            tags = random.integers(len(tagger.tagset.tags), size=len(block.heads), dtype=np.int32)
            chosen = random.random(len(tags)) < share
            tagged = tagger.with_tags(block, tags, chosen)
            assert tagged.data.tobytes() == expected(tagger, block, tags, chosen)
            assert (tagged.format, tagged.file) == (block.format, block.file)
            np.testing.assert_array_equal(tagged.lines, block.lines)
            np.testing.assert_array_equal(tagged.heads, block.heads)


def test_without_lemmas_the_column_stays() -> None:
    (block, *_) = data_blocks()
    rows = [line.split("\t") for line in block.data.tobytes().decode().split("\n")]
    bare = conllu_block(
        "\n".join("\t".join([*row[:2], "_", *row[3:]]) if len(row) > 1 else row[0] for row in rows)
    )
    tagger = learn([bare], epochs=1)
    assert "lemmas.keys" not in tagger.arrays
    assert tagger.tag(block, anew=True).column(LEMMA) == block.column(LEMMA)
    assert tagger.tag(bare, anew=True).column(LEMMA) == ["_"] * len(bare.heads)


def test_who_is_without_tags() -> None:
    def sentence(*tags: tuple[str, str]) -> str:
        rows = [f"{i}\tw\t_\t{u}\t{x}\tA=B\t_\t_\t_\t_\n" for i, (u, x) in enumerate(tags, 1)]
        return "".join(rows) + "\n"

    none, xpos, upos = ("_", "_"), ("_", "X"), ("__", "_")
    block = conllu_block(sentence(none, none) + sentence(none, xpos) + sentence(upos, none) + sentence(none))
    marks = untagged(block.data, block.starts, block.stops, block.words)
    assert marks.tolist() == [True, True, False, False, False, False, True]
    tagged = small_tagger().tag(block)
    assert ["_" in tag for tag in tagged.column(UPOS)] == [False, False, True, True, True, True, False]
    for file in FILES:
        for tagged_block in data_blocks(file):
            assert small_tagger().tag(tagged_block) is tagged_block
    for empty in (conllu_block(""),):
        assert small_tagger().tag(empty).data.tobytes() == b""
        assert small_tagger().tag(empty, anew=True).data.tobytes() == b""
