"""Models with something wrong in them, sealed again: loading and parsing end in success or in a refusal, and in nothing else.

    python -m tests.pipeline.model_fuzz --files 100000 --seed 1

makes so many model files, one after another, in processes of their own, with bounds checks in all kernels. First every array of every
kind of model is rewritten in every way; then arrays, several of them, and the header at random. File number k of a seed is always the
same: `--first k --files 1` makes it again. A file that ends in another error, in a crash, or that takes too long is told.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from arcwise.arrays import Array, Format, are_letters
from arcwise.clusters.files import Clusters
from arcwise.clusters.lookup import CLUSTER_FORMAT, cluster_arrays, cluster_table
from arcwise.errors import ArcwiseError
from arcwise.features.attributes import collect_keys
from arcwise.pipeline.model import (
    BELIEFS,
    FULL,
    Model,
    Settings,
    model_format,
    read_sealed,
    save_model,
    write_sealed,
)
from arcwise.pipeline.parser import load
from arcwise.tagging.lemmas import LEMMA_FORMAT
from arcwise.tagging.lexicon import lexicon_format
from arcwise.text.contractions import CONTRACTION_FORMAT
from arcwise.text.training import train_tokeniser
from arcwise.treebank.block import FORM, Block
from tests.pipeline.models import block_of, data_blocks
from tests.tagging.corpora import learn

BITS: dict[str, Any] = {
    "coarse_bits": 7,
    "arc_bits": 8,
    "label_bits": 6,
    "tag_bits": 8,
    "part_bits": 8,
    "tensor_bits": 6,
}
KINDS: dict[str, dict[str, Any]] = {
    "first": {},
    "tensor": {"tensor": 3},
    "clusters": {"search": "dual-grandchild"},
    "second": {"search": "dual-sibling"},
    "third": {"search": "dual-third"},
    "full": {"search": FULL, "climb": True, "tensor": 2},
    "beliefs": {"search": BELIEFS},
    "eisner": {"search": "eisner", "pruning": "projective"},
    "chart": {"search": "model1", "pruning": "projective"},
    "shape": {"shape": "2-well-nested"},
}
_TO_COMPILE = 3600.0  # seconds
TEXT = (
    "Émile can't see 3.50 cats, and you don't. Who ran? \N{GRINNING FACE} CANNOT GO (e.g. there) it's mine!"
)
TREES = """\
1 The the DET DT _ 2 label1 _ _
2 cat cat NOUN NN Number=Sing 3 label2 _ _
3 sat _ VERB _ _ _ _ _ _

""".replace(" ", "\t")

Arrays = dict[str, np.ndarray[Any, Any]]
Header = dict[str, Any]
Way = Callable[[np.random.Generator, np.ndarray[Any, Any], np.ndarray[Any, Any]], np.ndarray[Any, Any] | None]


def small_models() -> dict[str, tuple[Header, Arrays]]:
    """The headers and arrays of one model of every kind, as they are stored: with random weights, and a tokeniser and a tagger that
    have learned from our own treebank.
    """
    blocks = data_blocks("dev.conllu")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, kind in enumerate(KINDS):
            save_model(small_model(kind, number, blocks), Path(folder) / kind)
            found[kind] = read_sealed(Path(folder) / kind, "arcwise model")
    return found


def small_model(kind: str, seed: int, blocks: list[Block]) -> Model:
    random, labels = np.random.default_rng(seed), 4
    settings = Settings(**BITS, **KINDS[kind])
    clusters: Arrays = {}
    if kind == "clusters":
        settings = settings.with_clusters()
        words = sorted({form for block in blocks for form in block.column(FORM)})
        bits = {word: format(number % 20, "05b") for number, word in enumerate(words)}
        clusters = cluster_arrays(Clusters(bits, dict.fromkeys(words, 2)))
    arrays = {
        "keys": collect_keys(blocks, 50 if clusters else 0),
        "allowed": np.ones((2, labels), np.bool_),
        **clusters,
    }
    for name, described in model_format(settings, labels).items():
        shape = [int(length) for length in described.shape if not isinstance(length, str)]
        if described.kind is np.int8:
            arrays[name] = random.integers(-30, 31, shape, np.int8)
        elif described.kind is np.float32:
            arrays[name] = random.uniform(0.001, 0.01, shape).astype(np.float32)
    names = ("root", *(f"label{k}" for k in range(1, labels)))
    tagger = learn(blocks, cluster_table(clusters), bits=8, epochs=1)
    return Model(settings, names, True, arrays, {}, _tokeniser(), tagger)


@cache
def _tokeniser() -> Any:
    """Small, and with contractions."""
    learned = train_tokeniser(data_blocks("dev.conllu"), seed=0)
    assert learned is not None
    arrays = learned.arrays() | {
        name: learned.arrays()[name][: 1 << 10].copy() for name in ("tokens", "sentences")
    }
    return type(learned)(arrays)


def _bytes(random: np.random.Generator, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(random.integers(0, 256, array.nbytes, np.uint8).view(array.dtype).reshape(array.shape))


def _filled(value: Callable[[Any], Any]) -> Way:
    return lambda random, array, other: np.full_like(array, value(_limits(array.dtype)))


def _limits(kind: np.dtype[Any]) -> Any:
    return np.finfo(kind) if kind.kind == "f" else np.iinfo(np.uint8 if kind == np.bool_ else kind)


def _one(value: Callable[[np.random.Generator, np.ndarray[Any, Any]], Any]) -> Way:
    """Another number in one place."""

    def change(
        random: np.random.Generator, array: np.ndarray[Any, Any], other: object
    ) -> np.ndarray[Any, Any] | None:
        if not array.size:
            return None
        changed = array.copy()
        flat = changed.reshape(-1)
        at = (0, array.size - 1, int(random.integers(array.size)))[int(random.integers(3))]
        with np.errstate(all="ignore"):
            flat[at : at + 1] = np.asarray(value(random, flat[at : at + 1])).astype(array.dtype)
        return changed

    return change


def _with_byte(
    random: np.random.Generator, array: np.ndarray[Any, Any], value: int
) -> np.ndarray[Any, Any] | None:
    if not array.size:
        return None
    changed = array.copy()
    changed.view(np.uint8).reshape(-1)[random.integers(array.nbytes)] = value
    return changed


def _moved(by: int) -> Way:
    def change(
        random: np.random.Generator, array: np.ndarray[Any, Any], other: object
    ) -> np.ndarray[Any, Any]:
        with np.errstate(all="ignore"):
            return (array.astype(np.int64) + by if array.dtype.kind in "iub" else array + by).astype(
                array.dtype
            )

    return change


WAYS: dict[str, Way] = {
    "gone": lambda random, array, other: None,
    "empty": lambda random, array, other: array[:0],
    "one": lambda random, array, other: array[:1],
    "shorter": lambda random, array, other: array[:-1],
    "half": lambda random, array, other: array[: len(array) // 2],
    "without the first": lambda random, array, other: array[1:],
    "longer": lambda random, array, other: np.concatenate([array, array[-1:]]),
    "twice": lambda random, array, other: np.concatenate([array, array]),
    "zeros": lambda random, array, other: np.zeros_like(array),
    "ones": lambda random, array, other: np.ones_like(array),
    "least": _filled(lambda limits: limits.min),
    "greatest": _filled(lambda limits: limits.max),
    "all bits": lambda random, array, other: (
        np.full(array.nbytes, 255, np.uint8).view(array.dtype).reshape(array.shape)
    ),
    "random": lambda random, array, other: _bytes(random, array),
    "small": lambda random, array, other: random.integers(0, 4, array.shape).astype(array.dtype),
    "shuffled": lambda random, array, other: random.permutation(array),
    "sorted": lambda random, array, other: np.sort(array, axis=0),
    "reversed": lambda random, array, other: array[::-1],
    "one more": _moved(1),
    "one less": _moved(-1),
    "equal": lambda random, array, other: np.repeat(array[:1], len(array), axis=0),
    "doubled": lambda random, array, other: (array + array).astype(array.dtype),
    "rising": lambda random, array, other: np.arange(array.size).astype(array.dtype).reshape(array.shape),
    "a random one": _one(lambda random, one: _bytes(random, one)),
    "an extreme one": _one(
        lambda random, one: (_limits(one.dtype).min, _limits(one.dtype).max)[int(random.integers(2))]
    ),
    "one off by one": _one(
        lambda random, one: one + (one.dtype.type(1) if random.integers(2) else -one.dtype.type(1))
    ),
    "a byte of 2": lambda random, array, other: _with_byte(random, array, 2),
    "a byte of 255": lambda random, array, other: _with_byte(random, array, 255),
    "nan": lambda random, array, other: array * np.float32(np.nan),
    "infinite": lambda random, array, other: np.full(
        array.shape, np.inf, array.dtype if array.dtype.kind == "f" else np.float32
    ),
    "a nan": _one(lambda random, one: np.nan if one.dtype.kind == "f" else 0),
    "an infinity": _one(lambda random, one: -np.inf if one.dtype.kind == "f" else -1),
    "signed": lambda random, array, other: array.view(f"i{array.itemsize}"),
    "unsigned": lambda random, array, other: array.view(f"u{array.itemsize}"),
    "wider": lambda random, array, other: array.astype(np.int64),
    "floats": lambda random, array, other: array.astype(np.float32),
    "flat": lambda random, array, other: array.reshape(-1),
    "a row": lambda random, array, other: array[None],
    "a column": lambda random, array, other: array.reshape(-1, 1),
    "turned": lambda random, array, other: array.T,
    "a number": lambda random, array, other: np.array(array.reshape(-1)[0] if array.size else 0, array.dtype),
    "another": lambda random, array, other: other,
    "another of its kind": lambda random, array, other: other.reshape(-1)[: array.size].astype(array.dtype),
    "the length of another": lambda random, array, other: np.resize(array, other.shape if array.size else 0),
}

VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 6, 7, 28, 29, 1000, 2**31, 2**63, 10**400, 0.5, 1e308, -1e308, float("nan"), float("inf"), 1e-300,
    "", "x", "_", "\ud800", "P | P", "a\tb", "é", "\0", [], {}, [[]], ["a"], {"a": 1}, "P" * 100_000,
    "F | P     " * 50, "any", "eisner",
    "model1", "dual-third", BELIEFS, FULL, "trees", "projective", "3-well-nested", "1-inherit", "chain span",
]  # fmt: skip


def case(kinds: dict[str, tuple[Header, Arrays]], seed: int, number: int) -> tuple[str, Header, Arrays]:
    """What file `number` is, in words, and its header and arrays."""
    random = np.random.default_rng([seed, number])
    systematic = [(kind, name, way) for kind, (_, arrays) in kinds.items() for name in arrays for way in WAYS]
    if number < len(systematic):
        kind, name, way = systematic[number]
        header, arrays = deepcopy(kinds[kind])
        rewrite(random, arrays, name, way)
        return f"{kind}: {name} {way}", header, arrays
    kind = list(kinds)[int(random.integers(len(kinds)))]
    header, arrays = deepcopy(kinds[kind])
    told = []
    choice = random.random()
    if choice < 0.25:  # all that the descriptions allow
        formats = formats_of(header)
        for prefix in random.permutation(list(formats))[: random.integers(1, 4)].tolist():
            if any(f"{prefix}{name}" in arrays for name in formats[prefix][0]):
                found = drawn(random, *formats[prefix])
                arrays |= {f"{prefix}{name}": array for name, array in found.items()}
                told.append(f"{prefix or 'all'} as described")
    elif choice < 0.45:  # one or several arrays, each in its own way
        names = random.choice(list(arrays), int(random.integers(1, 5)), replace=False).tolist()
        told += [f"{name} {rewrite(random, arrays, name)}" for name in names]
    elif choice < 0.65:  # several of those that belong together, in one way
        family = FAMILIES[int(random.integers(len(FAMILIES)))]
        names = [name for name in arrays if name.startswith(family) and random.random() < 0.7]
        way = list(WAYS)[int(random.integers(len(WAYS)))]
        told += [f"{name} {rewrite(random, arrays, name, way)}" for name in names]
    elif choice < 0.72:  # arrays of another model
        other = deepcopy(kinds[list(kinds)[int(random.integers(len(kinds)))]][1])
        for name in random.choice(list(other), int(random.integers(1, len(other))), replace=False).tolist():
            arrays[name] = other[name]
            told.append(f"{name} of another")
    else:
        told += [rewrite_header(random, header) for _ in range(int(random.integers(1, 4)))]
        if random.random() < 0.3:
            name = list(arrays)[int(random.integers(len(arrays)))]
            told.append(f"{name} {rewrite(random, arrays, name)}")
    return f"{kind}: {', '.join(told)}", header, arrays


def formats_of(header: Header) -> dict[str, tuple[Format, dict[str, int]]]:
    """The descriptions of what belongs together, by what the names of arrays begin with, and the lengths that are settled."""
    tags = len(header["tagger"]["tags"])
    settings = Settings(**header["settings"])
    return {
        "tokeniser/": (CONTRACTION_FORMAT, {}),
        "tagger/lemmas": ({name.removeprefix("lemmas"): array for name, array in LEMMA_FORMAT.items()}, {}),
        "tagger/lexicon": (
            {name.removeprefix("lexicon"): array for name, array in lexicon_format(tags).items()},
            {},
        ),
        "clusters": ({name.removeprefix("clusters"): array for name, array in CLUSTER_FORMAT.items()}, {}),
        "": (
            {name: array for name, array in model_format(settings, 4).items() if name not in CLUSTER_FORMAT},
            {},
        ),
    }


def drawn(random: np.random.Generator, format: Format, lengths: dict[str, int]) -> Arrays:
    """Arrays with all that these descriptions allow, and nothing else."""
    lengths = dict(lengths)
    steps = {}
    for name, described in format.items():
        if described.starts is not None:
            own = str(described.shape[0]).removesuffix("+1")
            lengths.setdefault(own, int(random.integers(1, 40)))
            least, most = described.steps
            most = min(most, (least, least + 3, most)[int(random.integers(3))])
            steps[name] = np.concatenate([[0], np.cumsum(random.integers(least, most + 1, lengths[own]))])
            lengths[described.starts] = int(steps[name][-1])
    found = {}
    for name, described in format.items():
        shape = [_length(random, length, lengths) for length in described.shape]
        if name in steps:
            found[name] = steps[name].astype(described.kind)
        elif described.holds is are_letters or "letters" in described.meaning:
            found[name] = random.choice(LETTERS, shape).astype(described.kind)
        else:
            found[name] = numbers_of(random, described, shape, lengths)
    if "contraction_pieces" in found:
        fit_pieces(random, found)
    return found


def _length(random: np.random.Generator, name: int | str, lengths: dict[str, int]) -> int:
    if isinstance(name, int):
        return name
    base = name.removesuffix("+1")
    return lengths.setdefault(base, int(random.integers(0, 60))) + (base != name)


def numbers_of(
    random: np.random.Generator, described: Array, shape: list[int], lengths: dict[str, int]
) -> np.ndarray[Any, Any]:
    kind = np.dtype(described.kind)
    if kind.kind == "f":
        least = -1e30 if described.least is None else described.least
        most = 1e30 if described.most is None else described.most
        return random.choice([least, most, 0.001, 1.0], shape).clip(least, most).astype(kind)
    if kind == np.bool_:
        return random.random(shape) < random.random()
    limits = np.iinfo(kind)
    least, most = int(limits.min), int(limits.max)
    if described.below is not None:
        least, most = 0, _length(random, described.below, lengths) - 1
    least = least if described.least is None else int(described.least)
    most = most if described.most is None else int(described.most)
    if most < least:
        return np.zeros(shape, kind)
    if described.rising:
        return np.sort(random.integers(least, most, shape, kind, endpoint=True), axis=0)
    way = int(random.integers(4))
    if way == 0:
        return random.integers(least, most, shape, kind, endpoint=True)
    return np.full(shape, (0, least, most, max(least, min(most, 1)))[way], kind)


LETTERS = [
    33,
    34,
    48,
    65,
    97,
    0x7F,
    0xDF,
    0xE9,
    0x131,
    0x300,
    0x7FF,
    0x800,
    0x4E2D,
    0xD7FF,
    0xE000,
    0xFB01,
    0xFFFF,
    0x1F600,
    0x10FFFF,
]


def fit_pieces(random: np.random.Generator, arrays: Arrays) -> None:
    """Pieces of contractions that are parts of a token."""
    begins, letters = arrays["contraction_offsets"][:-1], len(arrays["contraction_text"])
    pieces = np.sort(
        random.integers(0, (3, 8, 255)[int(random.integers(3))], arrays["contraction_pieces"].shape), axis=1
    )[:, ::-1]
    places = np.sort(random.integers(0, letters, arrays["contraction_places"].shape, endpoint=True), axis=1)
    pieces[:, 0] = np.minimum(pieces[:, 0] + (places[:, 0] == places[:, 1]), 254)
    pieces[:, 1] = np.minimum(pieces[:, 1], pieces[:, 0] - (places[:, 0] == places[:, 1]))
    pieces[begins, 0] = 255
    arrays["contraction_pieces"] = pieces.astype(np.uint8)
    arrays["contraction_places"] = places.astype(np.int32)


FAMILIES = (
    "tagger/lemmas",
    "tagger/lexicon",
    "tagger/",
    "tokeniser/contraction",
    "tokeniser/",
    "clusters",
    "tensor",
    "far",
    "",
)


def rewrite(random: np.random.Generator, arrays: Arrays, name: str, way: str | None = None) -> str:
    """Rewrite an array in place of itself, or leave it out; returns how."""
    chosen = way or list(WAYS)[int(random.integers(len(WAYS)))]
    other = arrays[list(arrays)[int(random.integers(len(arrays)))]]
    array = arrays.pop(name)
    with np.errstate(all="ignore"):
        try:
            changed = WAYS[chosen](random, array, other)
        except (TypeError, ValueError):  # a way that arrays of this kind cannot go
            changed = array
    if changed is not None:
        arrays[name] = np.ascontiguousarray(changed) if changed.ndim else changed
    return chosen


def rewrite_header(random: np.random.Generator, header: Header) -> str:
    """Change something somewhere in a header; returns what."""
    holder: Any = header
    path = []
    while True:
        places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        places = (
            [place for place in places if place not in ("kind", "version")] if holder is header else places
        )
        if not places:
            holder["more"] = 1
            return "more"
        place = places[int(random.integers(len(places)))]
        path.append(str(place))
        inside = holder[place]
        if isinstance(inside, dict | list) and inside and random.random() < 0.9:
            holder = inside
            continue
        break
    how = int(random.integers(6))
    if how == 0:
        del holder[place]
        return f"{'.'.join(path)} gone"
    if how == 1 and isinstance(inside, str) and inside:
        letters = list(inside)
        for _ in range(int(random.integers(1, 4))):
            letters[int(random.integers(len(letters)))] = "CPFL |+-1.\n B"[int(random.integers(13))]
        holder[place] = "".join(letters)
    elif how == 2 and type(inside) in (int, float):
        holder[place] = inside + (-1, 1, 10)[int(random.integers(3))]
    elif how == 3 and isinstance(holder, list):
        holder.append(inside)
    elif how == 4 and isinstance(inside, str):
        holder[place] = inside * int(random.integers(2, 5))
    else:
        holder[place] = VALUES[int(random.integers(len(VALUES)))]
    return f"{'.'.join(path)} is {str(holder[place])[:30]!r}"


def use(path: Path, thorough: bool) -> None:
    """Load a model and parse some text with it."""
    parser = load(path)
    for sentence in parser(TEXT):
        assert len(sentence.heads) == len(sentence.forms)
    block = block_of(TREES)
    parser.parse_to_bytes(block)
    parser.parse_to_bytes(block, keep=True)
    parser.tag_block(block, anew=True)
    if thorough:
        with suppress(ArcwiseError):  # hill climbing has neither, dual decomposition no k best
            parser.parse_block(block, confidence=True)
            parser.k_best_block(block, 3)


def outcome(path: Path, header: Header, arrays: Arrays, thorough: bool) -> str:
    """ "accepted" or "refused"; whatever else there is to say is an error."""
    write_sealed(path, "arcwise model", header, arrays)
    try:
        use(path, thorough)
    except ArcwiseError:
        return "refused"
    except BaseException:
        return traceback.format_exc()
    return "accepted"


def work(seed: int, first: int, files: int) -> None:
    """Make the files, and say a line before each and after it."""
    limit = 12 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    kinds = small_models()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for kind, (header, arrays) in kinds.items():  # so that all is compiled
            began = time.monotonic()
            found = outcome(path, header, arrays, True)
            _say("right", kind, found, round(time.monotonic() - began, 1))
        _say("ready")
        for number in range(first, first + files):
            _say("begin", number)
            told, header, arrays = case(kinds, seed, number)
            began = time.monotonic()
            found = outcome(path, header, arrays, number % 4 == 0)
            _say("end", number, told, found, round(time.monotonic() - began, 2))


def _say(*what: Any) -> None:
    print(json.dumps(what), flush=True)


def lines(process: subprocess.Popen[bytes], seconds: float) -> Iterator[list[Any] | None]:
    """What a worker says; None, and no more, if it says nothing for so many seconds, once it is ready."""
    assert process.stdout is not None
    selector, buffer, limit = selectors.DefaultSelector(), b"", _TO_COMPILE
    selector.register(process.stdout, selectors.EVENT_READ)
    while True:
        if not selector.select(limit):
            yield None
            return
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            return
        *whole, buffer = (buffer + piece).split(b"\n")
        for line in whole:
            said = json.loads(line)
            limit = seconds if said == ["ready"] else limit
            yield said


def run(seed: int, first: int, files: int, seconds: float, tell: Callable[[str], None]) -> Counter[str]:
    """Make the files in workers, a new one after each that fell; returns how many ended how."""
    counts: Counter[str] = Counter()
    number, end = first, first + files
    while number < end:
        command = [
            sys.executable,
            "-m",
            "tests.pipeline.model_fuzz",
            "--worker",
            f"--seed={seed}",
            f"--first={number}",
        ]
        checks = os.environ | {"NUMBA_BOUNDSCHECK": "1"}
        process = subprocess.Popen([*command, f"--files={end - number}"], stdout=subprocess.PIPE, env=checks)
        begun, fallen = number, ""
        for said in lines(process, seconds):
            if said is None:
                fallen = "takes too long"
                process.kill()
                break
            match said:
                case ["right", kind, found, took]:
                    tell(f"right {kind}: {found} {took} s")
                    if found != "accepted":
                        raise RuntimeError(found)
                case ["begin", at]:
                    begun = at
                case ["end", at, told, found, took]:
                    counts[found if found in ("accepted", "refused") else "error"] += 1
                    number = at + 1
                    if found not in ("accepted", "refused"):
                        tell(f"file {at} of seed {seed}: {told}\n{found}")
                    elif took > seconds / 4:
                        tell(f"file {at} of seed {seed}: {took} s: {told}")
                    if number % 1000 == 0:
                        tell(f"{number}: {dict(counts)}")
        code = process.wait()
        if number < end:
            counts["fallen"] += 1
            tell(f"file {begun} of seed {seed}: {fallen or f'ends with {code}'}")
            number = begun + 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0, help="that a file may take")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.seed, given.first, given.files)
        return
    counts = run(given.seed, given.first, given.files, given.seconds, partial(print, flush=True))
    print(f"seed {given.seed}, files {given.first} to {given.first + given.files}: {dict(counts)}")
    sys.exit(bool(counts.keys() - {"accepted", "refused"}))


if __name__ == "__main__":
    main()
