"""What goes in comes out: real treebanks, generated sentences, damaged bytes."""

from __future__ import annotations

import io

import conllu
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import InputError, Sentence, read_conllu
from arcwise.treebank.block import DEPREL, index_block, pack_names
from arcwise.treebank.formats import FORMATS
from arcwise.treebank.reading import read_blocks, read_string
from tests.treebank import examples


def replaced_by_itself(block):
    """The block with its own heads and labels written anew."""
    labels = block.column(DEPREL)
    names = sorted(set(labels) - {"_"})
    index = {name: i for i, name in enumerate(names)} | {"_": -1}
    rows = np.array([index[label] for label in labels], np.int32)
    return block.replace_trees(block.heads, rows, pack_names([name.encode() for name in names])).tobytes()


@pytest.fixture
def treebank_files(treebanks):
    files = sorted(treebanks.glob("*/*.conll*"))
    assert len({file.parent for file in files}) == 18
    return files


def test_all_treebanks_come_back_unchanged(treebank_files):
    for path in treebank_files:
        raw = path.read_bytes()
        blocks = list(read_blocks(path))
        assert b"".join(block.data.tobytes() for block in blocks) == raw, path
        assert b"".join(replaced_by_itself(block) for block in blocks) == raw, path
        assert b"".join(sentence.to_bytes() for sentence in read_conllu(path)) == raw, path


def test_columns_equal_those_of_the_package_conllu(treebank_files):
    for path in treebank_files:
        if not path.name.startswith("test"):
            continue
        with open(path, encoding="utf-8") as file:
            for ours, theirs in zip(read_conllu(path), conllu.parse_incr(file), strict=True):
                words = [token for token in theirs if isinstance(token["id"], int)]
                assert ours.forms[1:] == [token["form"] for token in words]
                assert ours.lemmas[1:] == [token["lemma"] for token in words]
                assert ours.upos[1:] == [token["upos"] for token in words]
                assert ours.xpos[1:] == [token["xpos"] or "_" for token in words]
                assert ours.labels[1:] == [token["deprel"] for token in words]
                assert ours.heads[1:].tolist() == [token["head"] for token in words]
                assert len(ours.ranges) + len(ours.empty_nodes) == len(theirs) - len(words)


@pytest.mark.parametrize("name", list(FORMATS))
def test_replacing_trees_touches_nothing_else(name):
    (block,) = read_string(examples.ALL[name]).blocks()
    assert replaced_by_itself(block) == examples.ALL[name].encode()
    heads = np.zeros(len(block.heads), np.int32)
    names = pack_names([b"a-much-longer-label"])
    changed = block.replace_trees(heads, heads, names)
    (block,) = read_string(changed.tobytes(), format=name).blocks()
    assert set(block.column(DEPREL)) == {"a-much-longer-label"}
    assert not block.heads.any()
    blank = block.replace_trees(heads - 1, heads - 1, names)
    (block,) = read_string(blank.tobytes(), format=name).blocks()
    assert set(block.column(DEPREL)) == {"_"}
    assert set(block.heads) == {-1}
    expected = [line.split("\t") for line in examples.ALL[name].split("\n")]
    found = [line.split("\t") for line in blank.tobytes().decode().split("\n")]
    for before, after in zip(expected, found, strict=True):
        if before[0].isdigit():
            before[FORMATS[name].roles[6]] = before[FORMATS[name].roles[7]] = "_"
        assert before == after


def test_replacing_by_what_does_not_exist_is_refused():
    (block,) = read_string(examples.CONLLX).blocks()
    right, names = np.zeros(len(block.heads), np.int32), pack_names([b"x"])
    for heads, labels in ((right + 3, right), (right - 2, right), (right, right + 1), (right, right - 2)):
        with pytest.raises(InputError, match="row 0 of the block"):
            block.replace_trees(heads, labels, names)
    with pytest.raises(InputError, match="one for each word"):
        block.replace_trees(right[1:], right, names)
    for name in (b"", b"a\tb", b"a\nb"):
        with pytest.raises(InputError, match="without tabs"):
            pack_names([name])


values = st.text(
    st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=8
)


@st.composite
def sentences(draw):
    """A sentence with comments, ranges, empty nodes, a tree, and anything in its columns."""
    n = draw(st.integers(1, 8))
    order = draw(st.permutations(range(1, n + 1)))
    heads = {word: draw(st.sampled_from([0, *order[:k]])) for k, word in enumerate(order)}
    lines = ["#" + draw(values) for _ in range(draw(st.integers(0, 2)))]
    covered = 0
    for word in range(n + 1):
        if word > 0:
            if word > covered and word < n and draw(st.booleans()):
                covered = draw(st.integers(word + 1, n))
                lines.append("\t".join([f"{word}-{covered}", *(draw(values) for _ in range(9))]))
            columns = [draw(values) for _ in range(5)]
            head = str(heads[word]) if draw(st.integers(0, 9)) else "_"
            lines.append("\t".join([str(word), *columns, head, *(draw(values) for _ in range(3))]))
        nodes = draw(st.sampled_from([0, 0, 0, 1, 11]))
        lines += ["\t".join([f"{word}.{number}", *"_________"]) for number in range(1, nodes + 1)]
    return "\n".join(lines) + "\n" * draw(st.integers(2, 4))


@settings(deadline=None, max_examples=60)
@given(st.lists(sentences(), min_size=1, max_size=4), st.integers(1, 400))
def test_generated_sentences_come_back_unchanged(texts, block_bytes):
    raw = "".join(texts).encode()
    blocks = list(read_blocks(io.BytesIO(raw), format="conllu", block_bytes=block_bytes))
    assert sum(map(len, blocks)) == len(texts)
    assert b"".join(block.data.tobytes() for block in blocks) == raw
    assert b"".join(replaced_by_itself(block) for block in blocks) == raw
    for sentence, text in zip((s for block in blocks for s in block), texts, strict=True):
        assert str(sentence) == text
        rows = [line.split("\t") for line in text.strip("\n").split("\n") if line[0] != "#"]
        words = [row for row in rows if row[0].isdigit()]
        assert sentence.forms[1:] == [row[1] for row in words]
        assert sentence.feats[1:] == [row[5] for row in words]
        assert sentence.misc[1:] == [row[9] for row in words]
        assert sentence.heads[1:].tolist() == [int(row[6].replace("_", "-1")) for row in words]
        assert isinstance(sentence.text, str)


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(list(FORMATS)),
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 3), st.binary(max_size=3)), min_size=1, max_size=6
    ),
    st.booleans(),
)
def test_damaged_bytes_are_read_or_refused_but_never_crash(name, edits, recognised):
    data = bytearray(examples.ALL[name].encode())
    for at, length, new in edits:
        at %= len(data) + 1
        data[at : at + length] = new
    format = None if recognised else name
    kept = 0
    try:
        treebank = read_string(bytes(data), format=format, skip_bad=True)
        for sentence in treebank:
            assert len(sentence.forms) == len(sentence.heads) == len(sentence) + 1
            assert isinstance(sentence.text, str)
            kept += 1
    except InputError:
        return
    if treebank.skipped:
        with pytest.raises(InputError) as caught:
            len(read_string(bytes(data), format=format))
        assert str(caught.value) == str(treebank.skipped_errors[0])
    else:
        assert len(read_string(bytes(data), format=format)) == kept


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=12))
def test_utf8_is_judged_as_python_does(junk):
    data = b"# " + junk.translate(None, b"\n\r\0") + b"\n1\tw\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    try:
        data.decode()
        legal = True
    except UnicodeDecodeError:
        legal = False
    _, errors = index_block(data, FORMATS["conllu"])
    assert (not errors) == legal


def test_sentences_of_a_block_survive_the_block():
    kept = [sentence for block in read_string(examples.CONLLU).blocks() for sentence in block]
    assert [len(sentence) for sentence in kept] == [7, 3]
    assert all(isinstance(sentence, Sentence) for sentence in kept)
