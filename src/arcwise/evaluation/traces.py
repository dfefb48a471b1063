"""Files that show how dual decomposition converges: traces of every iteration, and what fewer iterations would have given.

A trace is JSON, one object a line: a header, then a line for every sentence.

    {"arcwise": "trace", "version": 1, "decoder": "dual"}
    {"sentence": 1, "id": "a-1", "words": 3, "ended": "agreement", "score": 7.0, "bound": 7.0,
     "bounds": [7.5, 7.0], "scores": [null, 7.0], "recomputed": [4, 2]}

(the second is one line in the file). The other kind is one object, figure 4 of Koo et al. 2010 in numbers: see `Stopping`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arcwise.errors import InputError
from arcwise.treebank.sources import PathLike, Source, SourceLike, describe
from arcwise.treebank.writing import naming_errors, open_output

if TYPE_CHECKING:
    from arcwise.search.result import Parse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# y = z; the bound met the best tree; the finish closed the gap; its budget was used up; the iterations were.
ENDS = ("agreement", "bound", "finish", "budget", "iterations")
_VERSION = 1
_LARGEST = 1e305  # sums of scores, which are 1e300 at most
_TOLERANCE = 1e-9  # of the score's size, as in `Parse.certified`


class SentenceTrace(NamedTuple):
    """How the search for one tree went. sentence: its number in the file, from 1. id: its sent_id or None. ended: one of `ENDS`.

    score, bound: of the tree that was found. bounds, scores, recomputed: of every iteration the dual value, the score of the
    tree y (-inf if it is not allowed), and how many of the words + 1 automata were computed anew.
    """

    sentence: int
    id: str | None
    words: int
    ended: str
    score: float
    bound: float
    bounds: Floats
    scores: Floats
    recomputed: Floats | Ints

    @property
    def iterations(self) -> int:
        return len(self.bounds)

    @property
    def converged(self) -> bool:
        """Whether dual decomposition alone proved the tree best, in its last iteration."""
        return self.ended in ("agreement", "bound")

    @property
    def certified(self) -> bool:
        return self.converged or self.ended == "finish"

    @property
    def gap(self) -> float:
        """By how much another tree may be better."""
        return 0.0 if self.certified else max(0.0, self.bound - self.score)


class Trace(NamedTuple):
    """A trace file, of one sentence or more. unit: what scores are counted in, if anything is to be said about it."""

    decoder: str
    unit: str | None
    sentences: list[SentenceTrace]


class Stopping(NamedTuple):
    """What dual decomposition gives when it stops after K iterations at most (Koo et al. 2010, section 7.5).

    iterations: the values of K, rising. In percent, for each of them: accuracy, the heads that are right; certificates, the sentences
    whose tree is proved best; agreement, the sentences whose tree is the same as with the largest K. model, treebank: their names.
    """

    model: str
    treebank: str
    iterations: Sequence[int]
    accuracy: Sequence[float]
    certificates: Sequence[float]
    agreement: Sequence[float]


def sentence_trace(parse: Parse, sentence: int, id: str | None = None) -> SentenceTrace:
    """The trace that `decode(..., trace=True)` left in a parse.

    >>> import arcwise
    >>> parse = arcwise.decode([[0, 5, 4], [0, 0, 3], [0, 9, 0]], decoder="dual", trace=True)
    >>> sentence_trace(parse, 1).ended, sentence_trace(parse, 1).words
    ('agreement', 2)
    """
    if "trace" not in parse.stats or parse.bound is None:
        raise InputError("a parse without a trace", expected="one of dual decomposition with trace=True")
    bounds, scores, recomputed = parse.stats["trace"].T
    words = len(parse.heads) - 1
    return SentenceTrace(
        sentence, id, words, parse.stats["ended"], parse.score, parse.bound, bounds, scores, recomputed
    )


class TraceWriter:
    """Writes a trace line by line as sentences come: whatever ends the run, what the file has are whole lines.

    So it is not written beside its target and renamed, as other files are. To be used as a context; OSError if a line cannot be
    written, InputError if the file cannot be, or if a sentence has what `read_trace_file` refuses.
    """

    def __init__(self, path: PathLike, *, decoder: str = "dual", unit: str | None = None) -> None:
        self._name = str(path)
        try:
            self._file = open(path, "wb")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise InputError(f"cannot write it: {describe(error)}", file=self._name) from None
        header = {"arcwise": "trace", "version": _VERSION, "decoder": decoder}
        self._put(header if unit is None else {**header, "unit": unit})

    def write(self, trace: SentenceTrace) -> None:
        """Add a sentence."""
        record = {
            "sentence": int(trace.sentence),
            "id": trace.id,
            "words": int(trace.words),
            "ended": trace.ended,
            "score": float(trace.score),
            "bound": float(trace.bound),
            "bounds": np.asarray(trace.bounds).tolist(),
            "scores": [None if score == -np.inf else score for score in np.asarray(trace.scores).tolist()],
            "recomputed": np.asarray(trace.recomputed, np.int64).tolist(),
        }
        _as_sentence(record, self._name, None)
        self._put(record)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, record: dict[str, Any]) -> None:
        with naming_errors(self._name):
            self._file.write(_dump(record))
            self._file.flush()


def write_stopping(stopping: Stopping, path: PathLike) -> None:
    """Write it, all at once; "-" is standard output. InputError if it has what `read_trace_file` refuses."""
    record: dict[str, Any] = {"arcwise": "stopping", "version": _VERSION, **stopping._asdict()}
    record["iterations"] = [int(K) for K in stopping.iterations]
    for name in _PERCENTAGES:
        record[name] = [float(percent) for percent in record[name]]
    _as_stopping(record, str(path), None)
    with open_output(path, compress=False) as output:
        output.write(_dump(record))


def read_trace_file(source: SourceLike) -> Trace | Stopping:
    """Read a file of either kind, plain or compressed; "-" is standard input. InputError says which line is wrong, and how."""
    opened = Source(source)
    try:
        name, data = opened.name, opened.content()
    finally:
        opened.close()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("bytes that are not UTF-8", expected=_EXPECTED, file=name, line=line) from None
    head, end = _load(text, name, 1, whole=False)
    line = text.count("\n", 0, end) + 1  # of the end of the first object
    kind = head.get("arcwise")
    if kind not in ("trace", "stopping"):
        raise InputError("no 'arcwise' of 'trace' or 'stopping'", expected=_EXPECTED, file=name, line=1)
    if head.get("version") != _VERSION:
        raise _wrong("version", head.get("version"), f"{_VERSION}, or a newer arcwise", name, 1)
    rest = text[end:].rstrip().split("\n")
    if rest[0].strip() or (kind == "stopping" and rest != [""]):
        raise InputError("something after the first object", expected="nothing", file=name, line=line)
    if kind == "stopping":
        return _as_stopping(head, name, 1)
    head.setdefault("unit", None)
    _check(head, _HEADER, name, 1)
    sentences: list[SentenceTrace] = []
    for number, record in enumerate(rest[1:], start=line + 1):
        sentence = _as_sentence(_load(record, name, number)[0], name, number)
        if sentences and sentence.sentence <= sentences[-1].sentence:
            expected = f"more than {sentences[-1].sentence}, the one before"
            raise _wrong("sentence", sentence.sentence, expected, name, number)
        sentences.append(sentence)
    if not sentences:
        raise InputError("no sentences", expected="at least one", file=name)
    return Trace(head["decoder"], head["unit"], sentences)


def converged_after(trace: Trace) -> Floats:
    """The share of sentences that dual decomposition alone proved in k iterations, for k = 1, 2, ... up to the most there were."""
    ends = [sentence.iterations for sentence in trace.sentences if sentence.converged]
    most = max(sentence.iterations for sentence in trace.sentences)
    shares: Floats = np.bincount(ends, minlength=most + 1).cumsum()[1:] / len(trace.sentences)
    return shares


def recomputed_share(trace: Trace) -> Floats:
    """The share of automata computed anew in iteration k = 1, 2, ...: the mean over sentences that had one (figure 3)."""
    most = max(sentence.iterations for sentence in trace.sentences)
    shares, running = np.zeros(most), np.zeros(most)
    for sentence in trace.sentences:
        shares[: sentence.iterations] += sentence.recomputed / (sentence.words + 1)
        running[: sentence.iterations] += 1
    return shares / running


def gaps_after(trace: Trace, k: int) -> Floats:
    """The gap of every sentence after k > 0 iterations, or its last one: least bound less best score; inf before the first tree."""
    gaps = np.zeros(len(trace.sentences))
    for at, sentence in enumerate(trace.sentences):
        if not (sentence.converged and sentence.iterations <= k):
            gap = sentence.bounds[:k].min() - sentence.scores[:k].max()
            gaps[at] = 0.0 if gap <= _TOLERANCE * max(1.0, abs(sentence.score)) else gap
    return gaps


Check = tuple[Callable[[Any], bool], str]

_EXPECTED = "a file of arcwise parse --trace or of arcwise experiment stopping"
_PERCENTAGES = ("accuracy", "certificates", "agreement")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _LARGEST


def _is_whole(value: Any, least: int = 0) -> bool:
    return type(value) is int and least <= value < 1 << 31


def _is_list(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


_TEXT: Check = lambda value: isinstance(value, str), "a text"
_OPTIONAL_TEXT: Check = lambda value: value is None or isinstance(value, str), "a text or null"
_COUNT: Check = lambda value: _is_whole(value, least=1), "a whole number, 1 or more"
_NUMBER: Check = _is_number, "a number"
_PERCENT: Check = _is_list(lambda value: _is_number(value) and 0 <= value <= 100), "a list of percentages"

_HEADER = {"decoder": _TEXT, "unit": _OPTIONAL_TEXT}
_SENTENCE: dict[str, Check] = {
    "sentence": _COUNT,
    "id": _OPTIONAL_TEXT,
    "words": _COUNT,
    "ended": (ENDS.__contains__, "one of " + ", ".join(ENDS)),
    "score": _NUMBER,
    "bound": _NUMBER,
    "bounds": (lambda value: _is_list(_is_number)(value) and value != [], "a list of numbers, one or more"),
    "scores": (_is_list(lambda value: value is None or _is_number(value)), "a list of numbers and nulls"),
    "recomputed": (_is_list(_is_whole), "a list of whole numbers"),
}
_STOPPING: dict[str, Check] = {
    "model": _TEXT,
    "treebank": _TEXT,
    "iterations": (
        lambda value: _is_list(_COUNT[0])(value) and value == sorted({*value}) != [],
        "a list of rising whole numbers, 1 or more",
    ),
    **dict.fromkeys(_PERCENTAGES, _PERCENT),
}


def _as_sentence(record: dict[str, Any], file: str, line: int | None) -> SentenceTrace:
    _check(record, _SENTENCE, file, line)
    values = {name: record[name] for name in _SENTENCE}
    for name in ("scores", "recomputed"):
        if len(values[name]) != len(values["bounds"]):
            raise InputError(
                f"{len(values[name])} {name}", expected=f"{len(values['bounds'])}, as many as bounds", file=file, line=line
            )  # fmt: skip
    if max(values["recomputed"], default=0) > values["words"] + 1:
        expected = f"{values['words'] + 1} automata computed anew at most"
        raise InputError(f"{max(values['recomputed'])}", expected=expected, file=file, line=line)
    values["bounds"] = np.array(values["bounds"], np.float64)
    values["scores"] = np.array([-np.inf if s is None else s for s in values["scores"]], np.float64)
    values["recomputed"] = np.array(values["recomputed"], np.int64)
    return SentenceTrace(**values)


def _as_stopping(record: dict[str, Any], file: str, line: int | None) -> Stopping:
    _check(record, _STOPPING, file, line)
    stopping = Stopping(**{name: record[name] for name in _STOPPING})
    for name in _PERCENTAGES:
        if len(record[name]) != len(stopping.iterations):
            expected = f"{len(stopping.iterations)}, one for each of iterations"
            raise InputError(f"{len(record[name])} values of {name}", expected=expected, file=file, line=line)
    return stopping


def _check(record: dict[str, Any], fields: dict[str, Check], file: str, line: int | None) -> None:
    for name, (is_right, expected) in fields.items():
        if name not in record:
            raise InputError(f"no {name!r}", expected=expected, file=file, line=line)
        if not is_right(record[name]):
            raise _wrong(name, record[name], expected, file, line)


def _wrong(name: str, value: Any, expected: str, file: str, line: int | None) -> InputError:
    shown = json.dumps(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return InputError(f"{name} is {shown}", expected=expected, file=file, line=line)


def _load(text: str, file: str, line: int, whole: bool = True) -> tuple[dict[str, Any], int]:
    """The JSON object at the beginning of a text, and where it ends; `whole`: nothing may follow it."""
    try:
        record, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        record, end = None, 0
    if not isinstance(record, dict) or (whole and text[end:].strip()):
        expected = "a JSON object" if whole else _EXPECTED
        found = "no JSON object, or a damaged one" if text.strip() else "nothing"
        raise InputError(found, expected=expected, file=file, line=line)
    return record, end


def _dump(record: dict[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False).encode() + b"\n"
