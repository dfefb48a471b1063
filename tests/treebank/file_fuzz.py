"""Files of columns with something wrong in them: all that reads them ends in success or in a refusal that says where.

    NUMBA_BOUNDSCHECK=1 python -m tests.treebank.file_fuzz --files 10000 --seed 1

reads, parses, evaluates and analyses so many mutated files of every format, with bounds checks in all kernels.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from arcwise.cli import arcwise_command
from arcwise.errors import ArcwiseError, InputError
from arcwise.pipeline.parser import Parser
from arcwise.treebank.block import Block
from arcwise.treebank.formats import FORMATS
from arcwise.treebank.reading import BlockReader, read_string
from tests.pipeline.model_fuzz import small_model
from tests.pipeline.models import DATA, data_blocks

FILES = {
    "conllu": "dev.conllu",
    "conllx": "conllx.conll",
    "conll2008": "conll2008.conll",
    "conll2009": "conll2009.conll",
}
VALUES = [
    b"", b"_", b"0", b"1", b"2", b"-1", b"99", b"007", b"+1", b"4294967297", b"9" * 30, b"1.5", b"1-2", b"2-1", b"0.1", b" ", b"a b",
    "é".encode(), "\N{GRINNING FACE}".encode(), b"\xff", b"\xed\xa0\x80", b"\0", b"\r", b"x" * 3000, b"A=B|C=D", b"|||", b"=",
    b"SpaceAfter=No", b"1:nsubj", b"root", b"\xc2\xa0", b"\xe2\x80\xa8", b"#", b"\xef\xbb\xbf",
]  # fmt: skip
LINES = [
    b"", b"\t", b"# text = x", b"#", b"1-2\tab" + b"\t_" * 8, b"3-9\tab" + b"\t_" * 8, b"1.1\tx" + b"\t_" * 8, b"0.1\tx" + b"\t_" * 8,
    b"\r", b" ", b"# sent_id = 1", b"\xef\xbb\xbf", b"1", b"1\t" * 20,
]  # fmt: skip
CALLS = ("read", "skip_bad", "unchecked", "parse", "keep", "evaluate", "analyze")


def sentences_of(form: str) -> list[bytes]:
    """Good sentences of a format, each with the blank line at its end; nine words at most, and so cheap to parse."""
    content = (DATA / FILES[form]).read_bytes()
    found = [sentence + b"\n\n" for sentence in content.strip(b"\n").split(b"\n\n")]
    return [sentence for sentence in found if sentence.count(b"\n") <= 14]


def mutated(random: np.random.Generator, sentences: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Some sentences, and the same with one to three mutations."""
    right = chosen = b"".join(
        sentences[int(k)] for k in random.integers(len(sentences), size=random.integers(1, 4))
    )
    for _ in range(int(random.integers(1, 4))):
        chosen = MUTATIONS[int(random.integers(len(MUTATIONS)))](random, chosen)
    return right, chosen


def _some(random: np.random.Generator, values: Sequence[bytes]) -> bytes:
    return values[int(random.integers(len(values)))]


def _columns(
    change: Callable[[np.random.Generator, list[bytes]], None],
) -> Callable[[np.random.Generator, bytes], bytes]:
    """A mutation of the columns of one line."""

    def mutate(random: np.random.Generator, data: bytes) -> bytes:
        lines = data.split(b"\n")
        at = int(random.integers(len(lines)))
        columns = lines[at].split(b"\t")
        change(random, columns)
        lines[at] = b"\t".join(columns)
        return b"\n".join(lines)

    return mutate


def _lines(
    change: Callable[[np.random.Generator, list[bytes]], None],
) -> Callable[[np.random.Generator, bytes], bytes]:
    def mutate(random: np.random.Generator, data: bytes) -> bytes:
        lines = data.split(b"\n")
        change(random, lines)
        return b"\n".join(lines)

    return mutate


def _set(random: np.random.Generator, items: list[bytes], values: Sequence[bytes]) -> None:
    items[int(random.integers(len(items)))] = _some(random, values)


def _insert(random: np.random.Generator, items: list[bytes], values: Sequence[bytes]) -> None:
    items.insert(int(random.integers(len(items) + 1)), _some(random, values))


def _remove(random: np.random.Generator, items: list[bytes]) -> None:
    del items[int(random.integers(len(items)))]


def _swap(random: np.random.Generator, items: list[bytes]) -> None:
    a, b = random.integers(len(items), size=2)
    items[a], items[b] = items[b], items[a]


def _bytes(random: np.random.Generator, data: bytes) -> bytes:
    at = int(random.integers(len(data) + 1))
    more = random.integers(0, 256, random.integers(1, 5), np.uint8).tobytes()
    return data[:at] + more + data[at + int(random.integers(4)) :]


MUTATIONS: list[Callable[[np.random.Generator, bytes], bytes]] = [
    *4 * [_columns(lambda random, columns: _set(random, columns, VALUES))],
    *2 * [_columns(lambda random, columns: _set(random, columns, [str(k).encode() for k in range(12)]))],
    _columns(lambda random, columns: _insert(random, columns, VALUES)),
    _columns(_remove),
    _columns(_swap),
    _lines(lambda random, lines: _insert(random, lines, LINES)),
    _lines(lambda random, lines: _insert(random, lines, lines)),
    _lines(_remove),
    _lines(_swap),
    _bytes,
    lambda random, data: data[: int(random.integers(len(data) + 1))],
    lambda random, data: data.replace(b"\n", b"\r\n"),
    lambda random, data: data.replace(b"\t", _some(random, [b" ", b"\t\t", b"\t_\t"])),
    lambda random, data: data.rstrip(b"\n"),
    lambda random, data: b"\n" * int(random.integers(1, 3)) + data,
]


def parsers() -> list[Parser]:
    """One that scores arcs, and one of second order with clusters."""
    return [Parser(small_model(kind, 0, data_blocks("dev.conllu"))) for kind in ("first", "clusters")]


def calls(path: Path, form: str, gold: Path, parsers: Sequence[Parser], counts: Counter[str]) -> None:
    """All that reads a file of columns, with this one. Counts what each call ended in; AssertionError and other errors pass."""

    def count(call: str, good: bool) -> None:
        counts[f"{call} {'accepted' if good else 'refused'}"] += 1

    def refusal(call: str, what: Callable[[], object]) -> None:
        try:
            what()
        except InputError as error:
            if not error.file:
                raise AssertionError(f"{call} does not say which file: {error}") from error
            count(call, False)
        else:
            count(call, True)

    def blocks(**options: bool) -> Iterator[Block]:
        reader = BlockReader(path, format=form, **options)
        try:
            yield from reader
        finally:
            reader.close()

    refusal("unchecked", lambda: list(blocks(check_trees=False)))
    refusal("skip_bad", lambda: list(blocks(skip_bad=True)))
    refusal("read", lambda: list(blocks()))
    for parser in parsers:
        refusal("parse", lambda parser=parser: parse(parser, blocks(check_trees=False, skip_bad=True), False))  # type: ignore[misc]
        refusal("keep", lambda parser=parser: parse(parser, blocks(check_trees=False), True))  # type: ignore[misc]
    run = CliRunner().invoke
    for call, arguments in (("evaluate", [str(gold), str(path)]), ("analyze", [str(path)])):
        result = run(arcwise_command, [call, *arguments])
        error = result.exception
        if error is not None and not isinstance(error, ArcwiseError | SystemExit):
            raise error
        count(call, result.exit_code == 0)


def parse(parser: Parser, blocks: Iterator[Block], keep: bool) -> None:
    """Parse all blocks; what comes out can be read again."""
    for block in list(blocks):
        output = parser.parse_to_bytes(parser.tag_block(block), keep).tobytes()
        if len(block):
            assert len(read_string(output, format=block.format)) == len(block)


def run(form: str, files: int, seed: int, first: int = 0) -> Counter[str]:
    """So many files of a format."""
    counts: Counter[str] = Counter()
    sentences, chosen = sentences_of(form), parsers()
    with tempfile.TemporaryDirectory() as folder:
        path, gold = Path(folder) / f"file.{form}", Path(folder) / f"gold.{form}"
        for number in range(first, first + files):
            random = np.random.default_rng([seed, list(FORMATS).index(form), number])
            right, wrong = mutated(random, sentences)
            gold.write_bytes(right)
            path.write_bytes(wrong)
            began = time.monotonic()
            try:
                calls(path, form, gold, chosen, counts)
            except Exception as error:
                error.add_note(f"file {number} of seed {seed} of {form}: {wrong!r}")
                raise
            counts["slow"] += time.monotonic() - began > 10
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--format", choices=FORMATS, action="append")
    given = parser.parse_args()
    for form in given.format or FORMATS:
        print(
            form,
            given.files,
            dict(sorted(run(form, given.files, given.seed, given.first).items())),
            flush=True,
        )


if __name__ == "__main__":
    main()
