from __future__ import annotations

import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import zstandard

from arcwise import InputError, read_conllu
from arcwise.treebank.formats import CONLLU, FORMATS
from arcwise.treebank.reading import BlockReader, read_blocks, read_string
from tests.treebank import examples

COMPRESS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
TEXT = examples.CONLLU.encode()


def content(reader):
    return b"".join(block.data.tobytes() for block in reader)


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 64, 200, 1 << 19])
def test_blocks_are_the_file(name, block_bytes, tmp_path):
    text = "\n\n" + examples.ALL[name].replace("\n\n", "\n\n\n\n", 1) * 3 + "\n"
    (tmp_path / "file").write_text(text)
    reader = BlockReader(tmp_path / "file", block_bytes=block_bytes)
    blocks = list(reader)
    assert reader.format == FORMATS[name]
    assert content(blocks) == text.encode()
    assert reader.bytes_read == reader.bytes_total == len(text.encode())
    assert sum(map(len, blocks)) == 6
    lines = [sentence.line for block in blocks for sentence in block]
    assert lines == [sentence.line for sentence in read_conllu(tmp_path / "file")]
    assert lines[0] == 3
    file_lines = text.split("\n")
    starts = [str(sentence).strip("\n").split("\n")[0] for block in blocks for sentence in block]
    assert [file_lines[line - 1] for line in lines] == starts


@pytest.mark.parametrize("codec", list(COMPRESS))
def test_compression_is_recognised_by_content(codec, tmp_path):
    data = COMPRESS[codec](TEXT * 200)
    (tmp_path / "file").write_bytes(data)
    assert content(read_blocks(tmp_path / "file")) == TEXT * 200
    several = COMPRESS[codec](TEXT) + COMPRESS[codec](TEXT)
    assert content(read_blocks(io.BytesIO(several))) == TEXT * 2


@pytest.mark.parametrize("codec", ["gzip", "xz", "zstd"])
def test_damaged_compression(codec):
    data = COMPRESS[codec](b"".join(TEXT.replace(b"tales", b"%d" % (k * k)) for k in range(2000)))
    with pytest.raises(InputError, match=f"{codec} data end too early"):
        list(read_blocks(io.BytesIO(data[:-9])))
    # What a damaged gzip stream gives before its checksum is met may itself be refused.
    with pytest.raises(InputError, match=None if codec == "gzip" else f"damaged {codec} data"):
        list(read_blocks(io.BytesIO(data[:5000] + bytes(500) + data[5500:])))
    reader = read_blocks(io.BytesIO(data[: len(data) // 2]), skip_bad=True)
    assert content(reader).endswith(b"\n\n")
    assert reader.skipped == 1
    assert "too early" in str(reader.skipped_errors[0])


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    treebank = read_conllu("-")
    assert [str(sentence) for sentence in treebank] == [str(sentence) for sentence in treebank]
    assert len(treebank) == 2


def test_a_pipe_is_read_once_and_kept(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(TEXT,))
    writer.start()
    treebank = read_conllu(tmp_path / "pipe")
    assert [len(sentence) for sentence in treebank] == [len(sentence) for sentence in treebank] == [7, 3]
    writer.join()


def test_named_file_object_stays_open(tmp_path):
    (tmp_path / "a.conllu").write_bytes(TEXT)
    with open(tmp_path / "a.conllu", "rb") as file:
        assert content(read_blocks(file)) == TEXT
        assert not file.closed


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n\n"])
def test_no_sentences(data, tmp_path):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(InputError, match="file: no sentences"):
        read_conllu(tmp_path / "file")


def test_unreadable(tmp_path):
    with pytest.raises(InputError, match=r"missing\.conllu: cannot read it: no such file"):
        read_conllu(tmp_path / "missing.conllu")
    with pytest.raises(InputError, match="is a directory"):
        read_conllu(tmp_path)
    with pytest.raises(InputError, match="cannot read it"):
        read_conllu("a\0b")
    with pytest.raises(InputError, match="binary mode"):
        read_conllu(io.StringIO("x"))  # type: ignore[arg-type]
    if os.getuid() != 0:
        (tmp_path / "secret").write_bytes(TEXT)
        (tmp_path / "secret").chmod(0)
        with pytest.raises(InputError, match="permission denied"):
            read_conllu(tmp_path / "secret")


def test_treebank_is_a_sequence(tmp_path):
    (tmp_path / "a.conllu").write_bytes(TEXT * 3)
    treebank = read_conllu(str(tmp_path / "a.conllu"))
    streamed = [str(sentence) for sentence in treebank]
    assert streamed == [str(sentence) for sentence in treebank]
    assert len(treebank) == 6
    assert [str(treebank[i]) for i in range(6)] == streamed
    assert [str(sentence) for sentence in treebank[::-2]] == streamed[::-2]
    assert str(treebank[-1]) == streamed[-1]
    assert treebank[2].line == 1 + TEXT.count(b"\n")
    with pytest.raises(IndexError):
        treebank[6]
    assert treebank.format is CONLLU


def test_read_string_takes_text_and_bytes():
    assert str(read_string(examples.CONLLU)[1]) == str(read_string(TEXT)[1])
    with pytest.raises(InputError, match="not UTF-8"):
        len(read_string(examples.CONLLU.replace("Čas", "\ud800")))


class Endless(io.RawIOBase):
    """A line that never ends."""

    def __init__(self, head: bytes, tail: bytes, size: int) -> None:
        self.head, self.tail, self.size = head, tail, size

    def read(self, size: int = -1) -> bytes:
        if self.head:
            piece, self.head = self.head, b""
        elif self.size > 0:
            self.size -= size
            piece = b"a" * size
        else:
            piece, self.tail = self.tail, b""
        return piece


def test_a_huge_line_is_not_read_to_its_end():
    source = Endless(TEXT + b"1\t", b"", 1 << 40)
    reader = read_blocks(source, block_bytes=1 << 16)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="more than 1 MiB") as caught:
        list(reader)
    assert caught.value.line == TEXT.count(b"\n") + 1
    assert reader.bytes_read < 1 << 22


def test_a_huge_line_can_be_skipped():
    source = Endless(TEXT + b"1\t", b"\n2\tb\n\n" + TEXT, 1 << 23)
    reader = read_blocks(source, skip_bad=True, block_bytes=1 << 16)  # type: ignore[arg-type]
    blocks = list(reader)
    assert content(blocks) == TEXT * 2
    assert reader.skipped == 1
    assert [sentence.line for block in blocks for sentence in block][2] == TEXT.count(b"\n") + 4


def test_a_huge_sentence_is_refused():
    line = b"# " + b"a" * 1000 + b"\n"
    data = TEXT + line * ((1 << 26) // len(line) + 1000) + TEXT
    with pytest.raises(InputError, match="more than 64 MiB") as caught:
        list(read_blocks(io.BytesIO(data)))
    assert caught.value.line == TEXT.count(b"\n") + 1
    reader = read_blocks(io.BytesIO(data), skip_bad=True)
    blocks = list(reader)
    assert reader.skipped == 1
    assert blocks[-1][-1].line == data.count(b"\n") - 6


_PEAK = """
import resource, sys
from arcwise.treebank.reading import read_conllu
words = sum(len(sentence.forms) for sentence in read_conllu(sys.argv[1]))
print(words, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_file(tmp_path: Path):
    peaks = []
    for megabytes in (10, 60):
        with open(tmp_path / "large.conllu", "wb") as file:
            for _ in range(megabytes):
                file.write(TEXT * ((1 << 20) // len(TEXT)))
        result = subprocess.run(
            [sys.executable, "-c", _PEAK, str(tmp_path / "large.conllu")], capture_output=True, check=True
        )
        peaks.append(int(result.stdout.split()[1]))
    assert peaks[1] - peaks[0] < 8 << 10, f"peak memory in KiB: {peaks}"
