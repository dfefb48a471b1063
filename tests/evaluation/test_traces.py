"""Trace files: what is written comes back, what is malformed is named, and what they say about convergence."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import Scores, decode
from arcwise.errors import InputError
from arcwise.evaluation.traces import (
    ENDS,
    SentenceTrace,
    Stopping,
    Trace,
    TraceWriter,
    converged_after,
    gaps_after,
    read_trace_file,
    recomputed_share,
    sentence_trace,
    write_stopping,
)

HEADER = {"arcwise": "trace", "version": 1, "decoder": "dual"}
LINE: dict[str, Any] = {
    "sentence": 1, "id": "a-1", "words": 3, "ended": "agreement", "score": 7.0, "bound": 7.0,
    "bounds": [7.5, 7.0], "scores": [None, 7.0], "recomputed": [4, 2],
}  # fmt: skip
STOPPING: dict[str, Any] = {
    "arcwise": "stopping", "version": 1, "model": "m", "treebank": "t", "iterations": [1, 10, 100],
    "accuracy": [80.5, 87, 88], "certificates": [30, 80, 98.5], "agreement": [60, 95, 100],
}  # fmt: skip


def made(
    sentence, ended, bounds, scores, recomputed, words=3, score=7.0, bound=7.0, id=None
) -> SentenceTrace:  # fmt: skip
    """A trace of one sentence."""
    return SentenceTrace(
        sentence, id, words, ended, score, bound, np.array(bounds, float), np.array(scores, float), np.array(recomputed)
    )  # fmt: skip


def three_sentences() -> Trace:
    return Trace(
        "dual", None,
        [
            made(1, "agreement", [7.5, 7.0], [-np.inf, 7.0], [4, 2]),
            made(2, "finish", [9.0, 8.0, 8.5, 7.5], [5.0, 6.0, 5.5, 6.0], [4, 4, 2, 0]),
            made(3, "iterations", [9.0, 8.0, 8.5, 8.25], [5.0, 6.0, 5.5, 7.0], [2, 1, 1, 2], words=1, bound=8.0),
        ],
    )  # fmt: skip


def same(one: SentenceTrace, other: SentenceTrace) -> bool:
    pairs: list[tuple[Any, Any]] = list(zip(one, other, strict=True))
    return all(np.array_equal(a, b) for a, b in pairs)


def lines(*records: Any) -> bytes:
    return "".join(
        f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records
    ).encode()


numbers = st.floats(-1e300, 1e300)


@st.composite
def sentences(draw, number):
    words, iterations = draw(st.integers(1, 300)), draw(st.integers(1, 6))

    def row(values):
        return draw(st.lists(values, min_size=iterations, max_size=iterations))

    return made(
        number, draw(st.sampled_from(ENDS)), row(numbers), row(numbers | st.just(-np.inf)), row(st.integers(0, words + 1)),
        words, draw(numbers), draw(numbers), draw(st.none() | st.text()),
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.data(), st.none() | st.text())
def test_what_is_written_comes_back(tmp_path_factory, data, unit):
    path = tmp_path_factory.getbasetemp() / "there and back.trace"
    found = [data.draw(sentences(number)) for number in (1, 2, 7)]
    with TraceWriter(path, unit=unit) as writer:
        for sentence in found:
            writer.write(sentence)
    read = read_trace_file(path)
    assert isinstance(read, Trace)
    assert (read.decoder, read.unit) == ("dual", unit)
    assert all(map(same, read.sentences, found))
    assert len(read.sentences) == 3
    written = path.read_bytes()
    assert written.count(b"\n") == 4
    with TraceWriter(path, unit=unit) as writer:
        for sentence in read.sentences:
            writer.write(sentence)
    assert path.read_bytes() == written


def test_a_real_search(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "real.trace"
    parses = []
    with TraceWriter(path) as writer:
        for number, n in enumerate((1, 2, 5, 8, 9), start=1):
            scores = Scores(arcs=rng.normal(size=(n + 1, n + 1)), siblings=rng.normal(size=(n + 1,) * 3))
            parses.append(decode(scores, projective=False, trace=True))
            writer.write(sentence_trace(parses[-1], number, f"s{number}"))
    trace = read_trace_file(path)
    assert isinstance(trace, Trace)
    for parse, sentence in zip(parses, trace.sentences, strict=True):
        assert sentence.words == len(parse.heads) - 1
        assert (sentence.score, sentence.bound, sentence.ended) == (
            parse.score,
            parse.bound,
            parse.stats["ended"],
        )
        assert sentence.iterations == parse.stats["iterations"]
        assert sentence.certified == parse.certified
        assert sentence.bounds.min() >= sentence.score - 1e-9
        assert sentence.scores.max() <= sentence.score + 1e-9
        share = sentence.recomputed.sum() / (sentence.iterations * (sentence.words + 1))
        assert share == pytest.approx(parse.stats["recomputed"])
    assert recomputed_share(trace)[0] == 1  # nothing is known before the first iteration
    with pytest.raises(InputError, match="without a trace"):
        sentence_trace(decode(np.zeros((3, 3))), 1)


def test_every_line_is_whole_as_soon_as_it_is_written(tmp_path):
    path = tmp_path / "cut.trace"
    found = three_sentences().sentences

    def interrupted():
        with TraceWriter(path) as writer:
            for sentence in found:
                writer.write(sentence)
                assert path.read_bytes().endswith(b"}\n")
                assert path.read_bytes().count(b"\n") == sentence.sentence + 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    read = read_trace_file(path)
    assert isinstance(read, Trace)
    assert all(map(same, read.sentences, found))


def test_writers_refuse_what_readers_would(tmp_path):
    with pytest.raises(InputError, match="no folder/t: cannot write it: no such file"):
        TraceWriter(tmp_path / "no folder" / "t")
    path = tmp_path / "t"
    with TraceWriter(path) as writer:
        writer.write(made(1, "bound", [7.0], [7.0], [4]))
        for bad, message in (
            (made(2, "luck", [7.0], [7.0], [4]), 'ended is "luck", expected one of agreement'),
            (made(2, "bound", [np.nan], [7.0], [4]), r"bounds is \[NaN\]"),
            (made(2, "bound", [7.0], [np.inf], [4]), r"scores is \[Infinity\]"),
            (made(2, "bound", [7.0], [7.0, 7.0], [4]), "2 scores, expected 1"),
        ):
            with pytest.raises(InputError, match=message):
                writer.write(bad)
    read = read_trace_file(path)
    assert isinstance(read, Trace)
    assert len(read.sentences) == 1
    with pytest.raises(InputError, match="iterations is"):
        write_stopping(Stopping("m", "t", [10, 5], [1, 2], [1, 2], [1, 2]), tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_stopping_comes_back(tmp_path):
    stopping = Stopping("m", "t", [1, 10, 100], [80.5, 87.0, 88.0], [30.0, 80.0, 98.5], [60.0, 95.0, 100.0])
    path = tmp_path / "stopping.json"
    arrays: list[Any] = [np.array(numbers) for numbers in stopping[2:]]
    write_stopping(Stopping("m", "t", *arrays), path)
    assert json.loads(path.read_text()) == STOPPING
    assert read_trace_file(path) == stopping
    path.write_text(json.dumps(STOPPING, indent=2))
    assert read_trace_file(path) == stopping


def test_compressed_and_open_files():
    data = lines(HEADER, LINE)
    for content in (data, gzip.compress(data), data.rstrip(), data + b"\n\n", data.replace(b"\n", b"\r\n")):
        read = read_trace_file(BytesIO(content))
        assert isinstance(read, Trace)
        assert [sentence.id for sentence in read.sentences] == ["a-1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ":1: nothing, expected a file of arcwise parse --trace"),
        (b"1\tThe\t_\n", ":1: no JSON object"),
        (b"[]\n", ":1: no JSON object"),
        (b"[" * 100_000, ":1: no JSON object"),
        (lines({"arcwise": "model", "version": 1}), ":1: no 'arcwise' of"),
        (lines({**HEADER, "version": 2}, LINE), ":1: version is 2, expected 1"),
        (lines({**HEADER, "decoder": 1}, LINE), ":1: decoder is 1, expected a text"),
        (lines({**HEADER, "unit": 1}, LINE), ":1: unit is 1, expected a text"),
        (lines(HEADER), ": no sentences"),
        (lines(json.dumps(HEADER) + json.dumps(LINE)), ":1: something after the first object"),
        (lines(HEADER, LINE)[:-20], ":2: no JSON object, or a damaged one"),
        (lines(HEADER, json.dumps(LINE) + "x"), ":2: no JSON object"),
        (lines(HEADER, LINE, "", {**LINE, "sentence": 2}), ":3: nothing, expected a JSON object"),
        (lines(HEADER, LINE, LINE), ":3: sentence is 1, expected more than 1"),
        (lines(HEADER, LINE) + b"\xff\n", ":3: bytes that are not UTF-8"),
        (lines(STOPPING, STOPPING), ":1: something after the first object"),
    ],
)  # fmt: skip
def test_malformed_files_are_named(tmp_path, content, message):
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_trace_file(path)
    assert str(refused.value).startswith(f"{path}{message}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sentence", 0), ("sentence", "1"), ("sentence", True), ("sentence", 10**30), ("id", 7), ("words", 0), ("words", 2.0),
        ("ended", "luck"), ("ended", []), ("score", None), ("score", "7"), ("score", float("nan")), ("bound", float("inf")),
        ("bound", 10**400), ("bounds", []), ("bounds", 7), ("bounds", [7.5, None]), ("bounds", [7.5, float("nan")]),
        ("scores", [None, "7"]), ("scores", [7.0]), ("recomputed", [4, -1]), ("recomputed", [4, 0.5]), ("recomputed", [4]),
        ("recomputed", [5, 2]),
    ],
)  # fmt: skip
def test_malformed_sentences_are_named(name, value):
    without = {key: other for key, other in LINE.items() if key != name}
    for record in (without, {**LINE, name: value}):
        with pytest.raises(
            InputError, match=name if name != "recomputed" else "recomputed|computed anew"
        ) as refused:
            read_trace_file(BytesIO(lines(HEADER, LINE, record)))
        assert refused.value.line == 3
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", None), ("treebank", 1), ("iterations", []), ("iterations", [1, 10, 10]), ("iterations", [0, 1, 2]),
        ("iterations", [1, 2]), ("accuracy", [80, 87, 101]), ("certificates", [30, None, 98]), ("agreement", 100),
        ("agreement", [60, -1, 100]), ("agreement", [60, 100]),
    ],
)  # fmt: skip
def test_malformed_stopping_is_named(name, value):
    without = {key: other for key, other in STOPPING.items() if key != name}
    for record in (without, {**STOPPING, name: value}):
        with pytest.raises(InputError, match=f"{name}|one for each of iterations") as refused:
            read_trace_file(BytesIO(lines(record)))
        assert refused.value.line == 1


def test_what_traces_say():
    trace = three_sentences()
    assert [sentence.certified for sentence in trace.sentences] == [True, True, False]
    assert [sentence.converged for sentence in trace.sentences] == [True, False, False]
    assert [sentence.gap for sentence in trace.sentences] == [0, 0, 1]
    assert converged_after(trace).tolist() == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])
    assert recomputed_share(trace).tolist() == pytest.approx([1, (0.5 + 1 + 0.5) / 3, 0.5, 0.5])
    assert gaps_after(trace, 1).tolist() == [np.inf, 4, 4]
    assert gaps_after(trace, 2).tolist() == [0, 2, 2]
    assert gaps_after(trace, 100).tolist() == [0, 1.5, 1]
    rounded = made(1, "iterations", [7.0 + 1e-12, 7.0], [7.0, 7.0], [4, 4])
    assert gaps_after(Trace("dual", None, [rounded]), 1).tolist() == [0]
