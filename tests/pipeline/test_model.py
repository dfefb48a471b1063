"""Model files: what is written can be read, and nothing else."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save, save_file

from arcwise.errors import InputError, ModelError
from arcwise.features.quantising import quantise
from arcwise.pipeline.model import (
    Model,
    Settings,
    load_model,
    read_sealed,
    save_model,
    write_sealed,
)
from arcwise.pipeline.parser import Parser, load
from tests.pipeline.models import data_blocks, random_model, synthetic_block, trained

TINY = Settings(coarse_bits=6, arc_bits=6, label_bits=6, tag_bits=6)


def tiny() -> Model:
    return random_model(0, [synthetic_block(2, 4.0)], settings=TINY)


def tiny_bytes(folder: Path) -> bytes:
    save_model(tiny(), folder / "tiny")
    return (folder / "tiny").read_bytes()


def unpacked_bytes(folder: Path) -> bytes:
    """A model that is not compressed: every byte of it counts."""
    return zstandard.decompress(tiny_bytes(folder))


def refused_or_the_same(path: Path) -> None:
    """A compressed file has a few bits that mean nothing."""
    try:
        model = load_model(path)
    except ModelError:
        return
    for name, array in tiny().arrays.items():
        np.testing.assert_array_equal(model.arrays[name], array)


def refused(path: Path, match: str | None = None) -> None:
    with pytest.raises(ModelError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_round_trip(tmp_path: Path) -> None:
    parser = trained()
    save_model(parser.model, tmp_path / "one")
    model = load_model(tmp_path / "one")
    save_model(model, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]
    for part in ("settings", "names", "single_root", "facts", "temperature"):
        assert getattr(model, part) == getattr(parser.model, part)
    assert model.tagger is not None
    assert model.tokeniser is not None
    for name, array in parser.model.arrays.items():
        np.testing.assert_array_equal(model.arrays[name], array)
        assert model.arrays[name].dtype == array.dtype
    text = "Mary didn't see him. Who did? Émile's 3 cans"
    assert str(Parser(model)(text)) == str(parser(text))
    for block in data_blocks("dev.conllu"):
        assert Parser(model).parse_to_bytes(block).tobytes() == parser.parse_to_bytes(block).tobytes()


def test_shapes(tmp_path: Path) -> None:
    """A shape is stored; a model without one is written as it always was, and read as one of any shape."""
    for shape in ("any", "projective", "1-inherit", "2-well-nested", "3", "well-nested"):
        model = replace(tiny(), settings=replace(TINY, shape=shape))
        save_model(model, tmp_path / "model")
        header, _ = read_sealed(tmp_path / "model", "arcwise model")
        assert ("shape" in header["settings"]) == (shape != "any")
        assert load_model(tmp_path / "model").settings == model.settings
        assert str(model.weights().shape) == shape
    assert (
        str(replace(tiny(), settings=Settings(search="eisner", shape="projective")).weights().shape) == "any"
    )
    header["settings"]["shape"] = "round"
    write_sealed(tmp_path / "model", "arcwise model", header, tiny().arrays)
    refused(tmp_path / "model", "shape 'round', expected any, projective")
    with pytest.raises(InputError, match="shape '2' with the projective search eisner, expected any or proj"):
        Settings(search="eisner", shape="2")
    with pytest.raises(InputError, match="shape '2' with belief-propagation, expected any"):
        Settings(search="belief-propagation", shape="2")


def test_names_of_any_script(tmp_path: Path) -> None:
    model = replace(tiny(), names=("root", "obl:é", "名", 'a"\\b'))
    save_model(model, tmp_path / "model")
    assert load(tmp_path / "model").labels == model.names


def test_a_model_is_replaced_only_when_complete(tmp_path: Path) -> None:
    before = tiny_bytes(tmp_path)
    broken = replace(tiny(), facts={"no JSON": object()})
    with pytest.raises(TypeError):
        save_model(broken, tmp_path / "tiny")
    assert (tmp_path / "tiny").read_bytes() == before
    assert os.listdir(tmp_path) == ["tiny"]


@pytest.mark.parametrize("make", [tiny_bytes, unpacked_bytes])
def test_every_truncation_is_refused(tmp_path: Path, make: Callable[[Path], bytes]) -> None:
    content = make(tmp_path)
    path = tmp_path / "cut"
    ends = {*range(64), *range(64, len(content), 37), *range(len(content) - 40, len(content))}
    for end in sorted(ends):
        path.write_bytes(content[:end])
        refused(path)
    for more in (b"\0", content):
        path.write_bytes(content + more)
        refused(path)


@pytest.mark.parametrize("make", [tiny_bytes, unpacked_bytes])
def test_every_changed_byte_is_refused(tmp_path: Path, make: Callable[[Path], bytes]) -> None:
    content = bytearray(make(tmp_path))
    random = np.random.default_rng(0)
    check = refused if make is unpacked_bytes else refused_or_the_same
    path = tmp_path / "changed"
    for at in (*range(200), *range(200, len(content) - 100, 3), *range(len(content) - 100, len(content))):
        old = content[at]
        content[at] ^= 1 << int(random.integers(8))
        path.write_bytes(content)
        check(path)
        content[at] = old


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_any_damage_is_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp()
    content = bytearray(tiny_bytes(folder))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        piece = data.draw(st.binary(min_size=1, max_size=8))
        content[at : at + len(piece)] = piece
    if bytes(content) != tiny_bytes(folder):
        (folder / "damaged").write_bytes(content)
        refused_or_the_same(folder / "damaged")


def test_decompression_bombs_are_refused(tmp_path: Path) -> None:
    """A small file that says, or hides, that it is large."""
    bomb = tmp_path / "bomb"
    for size in ((1 << 30) + 1, 1 << 40, (1 << 64) - 2):
        bomb.write_bytes(zstandard.FRAME_HEADER + b"\xe0" + size.to_bytes(8, "little") + bytes(100))
        refused(bomb, "not an arcwise model")
    silent = zstandard.ZstdCompressor(write_content_size=False)
    bomb.write_bytes(silent.compress(bytes(1 << 24)))
    refused(bomb, "not an arcwise model")
    bomb.write_bytes(zstandard.compress(bytes(1 << 24)))
    refused(bomb, "not an arcwise model")
    bomb.write_bytes(silent.compress(unpacked_bytes(tmp_path)))  # `save_model` always says the size
    refused(bomb, "not an arcwise model")
    bomb.write_bytes(unpacked_bytes(tmp_path))
    assert load(bomb).labels == tiny().names


def header_of(content: bytes) -> bytes:
    return len(content).to_bytes(8, "little") + content


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("1\tShe\tshe\n\n"),
    "pickle": lambda path: path.write_bytes(pickle.dumps({"weights": [1, 2]})),
    "numpy": lambda path: np.zeros(3).dump(path),
    "safetensors": lambda path: save_file({"a": np.zeros(3, np.float32)}, path),
    "with metadata": lambda path: save_file({"a": np.zeros(3, np.float32)}, path, {"format": "np"}),
    "another arcwise": lambda path: write_sealed(path, "arcwise recipe", {}, {}),
    "not JSON": lambda path: path.write_bytes(header_of(b"{nonsense")),
    "not UTF-8": lambda path: path.write_bytes(header_of(b'{"\xff": 1}')),
    "a list": lambda path: path.write_bytes(header_of(b"[1, 2]")),
    "a number": lambda path: path.write_bytes(header_of(b'{"__metadata__": 5}')),
    "a number inside": lambda path: path.write_bytes(header_of(b'{"__metadata__": {"arcwise": 5}}')),
    "a list inside": lambda path: save_file({}, path, {"arcwise": "0" * 32 + "[1]"}),
    "deep": lambda path: path.write_bytes(header_of(b"[" * 200_000)),
    "deep inside": lambda path: save_file({}, path, {"arcwise": "0" * 32 + "[" * 200_000}),
    "a huge header": lambda path: path.write_bytes(b"\xff" * 100),
    "zeros": lambda path: path.write_bytes(bytes(1000)),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "foreign"
    FOREIGN[name](path)
    refused(path, "not an arcwise model")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    refused(tmp_path)
    with pytest.raises(ModelError):
        load_model(tmp_path)


def test_another_version_is_refused(tmp_path: Path) -> None:
    content = unpacked_bytes(tmp_path)
    assert content.count(b'\\"version\\": 2}') == 1
    (tmp_path / "later").write_bytes(content.replace(b'\\"version\\": 2}', b'\\"version\\": 7}'))
    refused(tmp_path / "later", "version 7")


def resealed(
    tmp_path: Path,
    change: Callable[[dict[str, Any], dict[str, np.ndarray]], Any],
    model: Model | None = None,
) -> Path:
    """A file with a right checksum and something wrong in it."""
    save_model(model or tiny(), tmp_path / "right")
    header, arrays = read_sealed(tmp_path / "right", "arcwise model")
    change(header, arrays)
    write_sealed(tmp_path / "wrong", "arcwise model", header, arrays)
    return tmp_path / "wrong"


def test_resealing_without_a_change(tmp_path: Path) -> None:
    assert load(resealed(tmp_path, lambda header, arrays: None)).labels == tiny().names


WRONG_ARRAYS: dict[str, Callable[[dict[str, np.ndarray]], Any]] = {
    "missing": lambda arrays: arrays.pop("arcs"),
    "no keys": lambda arrays: arrays.pop("keys"),
    "short": lambda arrays: arrays.update(arcs=arrays["arcs"][:-1].copy()),
    "long": lambda arrays: arrays.update(coarse=np.zeros(1 << 7, np.int8)),
    "flat": lambda arrays: arrays.update(labels=arrays["labels"].ravel()),
    "turned": lambda arrays: arrays.update(final=np.ascontiguousarray(arrays["final"].T)),
    "type": lambda arrays: arrays.update(arcs=arrays["arcs"].astype(np.int16)),
    "unsigned": lambda arrays: arrays.update(arcs=arrays["arcs"].view(np.uint8)),
    "keys of floats": lambda arrays: arrays.update(keys=arrays["keys"].view(np.float64)),
    "keys in a square": lambda arrays: arrays.update(keys=np.zeros((2, 2), np.uint64)),
    "nothing allowed": lambda arrays: arrays.update(allowed=np.zeros((2, 4), np.bool_)),
    "no scale": lambda arrays: arrays.update(scales=np.zeros(3, np.float32)),
    "no number": lambda arrays: arrays.update(scales=np.full(3, np.nan, np.float32)),
    "two scales": lambda arrays: arrays.update(scales=np.ones(2, np.float32)),
}


@pytest.mark.parametrize("name", WRONG_ARRAYS)
def test_wrong_arrays_are_refused(tmp_path: Path, name: str) -> None:
    refused(resealed(tmp_path, lambda header, arrays: WRONG_ARRAYS[name](arrays)), "cannot|can use")


WRONG_SETTINGS: list[dict[str, Any]] = [
    {"arc_bits": 5}, {"arc_bits": 40}, {"arc_bits": -3}, {"label_bits": 6.0}, {"coarse_bits": "6"},
    {"coarse_bits": None}, {"most_heads": 1}, {"most_heads": 2.5}, {"most_heads": 10**9}, {"threshold": -1},
    {"threshold": float("nan")}, {"threshold": "5"}, {"coarse": 5}, {"coarse": "P"}, {"arcs": "Q | P"},
    {"arcs": "P+99999999999 | P"}, {"labels": ""}, {"labels": "C | C"}, {"labels": "C | C     " * 100},
    {"unheard": 1},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_SETTINGS, ids=lambda wrong: str(wrong)[:40])
def test_wrong_settings_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    refused(resealed(tmp_path, lambda header, arrays: header["settings"].update(wrong)), "can use")
    if "unheard" not in wrong:
        with pytest.raises((InputError, TypeError)):
            Settings(**wrong)


WRONG_HEADERS: list[dict[str, Any]] = [
    {"names": ["a"]}, {"names": []}, {"names": 5}, {"names": ["a", "b", "c", "d\te"]},
    {"names": ["a", "b", "c", ""]}, {"names": ["a", "b", "c", "\ud800"]}, {"settings": 5}, {"settings": None},
    {"facts": 5}, {"facts": None}, {"temperature": 0}, {"temperature": -1.0}, {"temperature": float("nan")},
    {"temperature": float("inf")}, {"temperature": "hot"}, {"temperature": None}, {"temperature": 10**400},
    {"names": ["a", "b", "c", "d" * 70_000]}, {"names": [str(number) for number in range(1001)]},
    {"tokeniser": {"version": 1}}, {"tagger": {"bits": 6}}, {"tokeniser": 5}, {"tagger": 5}, {"tagger": [1]},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_HEADERS, ids=repr)
def test_wrong_headers_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    refused(resealed(tmp_path, lambda header, arrays: header.update(wrong)), "can use")


@pytest.mark.parametrize("name", ["names", "settings", "single_root", "facts", "temperature"])
def test_missing_headers_are_refused(tmp_path: Path, name: str) -> None:
    refused(resealed(tmp_path, lambda header, arrays: header.pop(name)), "can use")


def with_everything() -> Model:
    """A random parser with a tokeniser and a tagger that were learned."""
    return replace(tiny(), tokeniser=trained().tokeniser, tagger=trained().tagger)


def spoil(name: str, damage: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    array = arrays.pop(name)
    spoiled = {"short": array[:-1], "square": array[None], "floats": array.astype(np.float32)}
    if damage != "gone":
        arrays[name] = spoiled[damage].copy()


def put(name: str, value: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    header[name] = value


def test_damaged_tokenisers_and_taggers_are_refused(tmp_path: Path) -> None:
    model = with_everything()
    assert load(resealed(tmp_path, lambda header, arrays: None, model)).tagger is not None
    stored = read_sealed(tmp_path / "right", "arcwise model")[1]
    names = [name for name, array in stored.items() if "/" in name and len(array)]
    assert {name.partition("/")[0] for name in names} == {"tokeniser", "tagger"}
    for name, damage in product(names, ("short", "square", "floats", "gone")):
        if (name, damage) != ("tagger/lemmas.keys", "gone"):  # a tagger need not have lemmas
            refused(resealed(tmp_path, partial(spoil, name, damage), model), "can use")
    assert model.tagger is not None
    wrong: list[dict[str, Any]] = [
        {"bits": float("inf")}, {"bits": 5}, {"tags": None}, {"templates": "Q"}, {"templates": "W     " * 300},
        {"templates": "W     " + " " * 70_000}, {"tags": [["X", "X", "x" * 70_000]]},
    ]  # fmt: skip
    for change in wrong:
        header = model.tagger.header | change
        refused(resealed(tmp_path, partial(put, "tagger", header), model), "can use")
    refused(resealed(tmp_path, partial(put, "tokeniser", {"version": 0}), model), "can use")


def test_a_model_without_tokeniser_and_tagger(tmp_path: Path) -> None:
    tiny_bytes(tmp_path)
    parser = load(tmp_path / "tiny")
    assert parser.tagger is None
    (sentence,) = parser("A word.")
    assert sentence.forms == ["", "A", "word", "."]
    assert sentence.upos == ["", "_", "_", "_"]


def keys_of(tmp_path: Path, keys: list[int]) -> Path:
    return resealed(tmp_path, lambda _, arrays: arrays.update(keys=np.array(keys, np.uint64)))


def test_keys_rise(tmp_path: Path) -> None:
    """A vocabulary of any hashes will do, but not one of zeros, of equal and of unsorted ones."""
    assert len(load(keys_of(tmp_path, [1, 7, 2**63, 2**64 - 1]))(["a", "b"])) == 1
    for keys in ([0, 5], [7] * 50, [2**64 - 1, 1, 2**63]):
        refused(keys_of(tmp_path, keys), "array keys")


def test_colliding_keys_are_refused(tmp_path: Path) -> None:
    refused(keys_of(tmp_path, list(range(1 << 20, 1 << 40, 1 << 26))), "keys that collide")


def test_an_array_that_nothing_reads_is_refused(tmp_path: Path) -> None:
    for name in ("more", "parts", "far_scale", "tokeniser/tokens", "tagger/table"):
        path = resealed(tmp_path, lambda _, arrays, name=name: arrays.update({name: np.zeros(4, np.int8)}))  # type: ignore[misc]
        refused(path, f"array {name}, which nothing reads")


def test_truth_values_are_bits(tmp_path: Path) -> None:
    """A byte that is neither 0 nor 1 counts more than once where NumPy counts, and it writes as much."""

    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays["allowed"].view(np.uint8)[1, 1] = 200

    refused(resealed(tmp_path, change), "array allowed: a truth value that is neither 0 nor 1")


def test_lemmas_without_rules_are_refused(tmp_path: Path) -> None:
    """The rules that suffixes have must be there, even if there is none at all."""

    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        lemmas = {name: f"tagger/lemmas.{name}" for name in ("numbers", "cases", "cut", "letters", "first")}
        arrays[lemmas["numbers"]][:] = 0
        for name in ("cases", "cut", "letters"):
            arrays[lemmas[name]] = arrays[lemmas[name]][:0]
        arrays[lemmas["first"]] = np.zeros(1, np.int32)

    refused(
        resealed(tmp_path, change, with_everything()), "array lemmas.numbers: a number of 0, expected below 0"
    )


@pytest.mark.parametrize("wrong", [1e-20, 1e20, -1.0, "1"])
def test_temperatures_out_of_reason_are_refused(tmp_path: Path, wrong: Any) -> None:
    for name in ("temperature", "label_temperature"):
        if wrong != "1":
            refused(resealed(tmp_path, partial(put, name, wrong)), "temperature")


class Endless(BytesIO):
    """A file that begins like a model and never ends."""

    def __init__(self, head: bytes) -> None:
        self.head, self.reads = head, 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return self.head.ljust(8, b"\0") if self.reads == 1 else bytes(size or 0)


def test_reading_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without an end is refused: at once, where it does not begin like a model; else when it is longer than any model."""
    refused(Path("/dev/zero"), "not an arcwise model")
    monkeypatch.setattr("arcwise.arrays._READ_AT_ONCE", 1 << 10)
    for head in (zstandard.FRAME_HEADER, (100).to_bytes(8, "little")):
        file = Endless(head)
        monkeypatch.setattr(Path, "open", lambda path, mode, file=file: file)
        with pytest.raises(ModelError, match="not an arcwise model"):
            read_sealed(tmp_path / "endless", "arcwise model", 1 << 12)
        assert 4 < file.reads < 8


def test_loading_needs_no_pickle(tmp_path: Path) -> None:
    """In a process where nothing can be unpickled a model loads and parses."""
    tiny_bytes(tmp_path)
    program = f"""
import pickle, sys
import arcwise.pipeline.parser
def refuse(*arguments, **options):
    raise SystemExit("something was unpickled")
pickle.load = pickle.loads = pickle.Unpickler = refuse
model = arcwise.pipeline.model.load_model({str(tmp_path / "tiny")!r})
print(len(model.names))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "4\n"


def test_several_metadata_are_avoided() -> None:
    """The reason for one entry only: the bytes of a file must not depend on the order of a hash table."""
    contents = {save({"a": np.zeros(1)}, {"arcwise": "x" * 5}) for _ in range(20)}
    assert len(contents) == 1
    assert json.loads(next(iter(contents))[8:].split(b"\0")[0])["__metadata__"] == {"arcwise": "x" * 5}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-1000, 1000), max_size=20))
def test_quantise(values: list[int]) -> None:
    weights = (np.array(values) / 10).astype(np.float32)
    rounded, unit = quantise(weights)
    assert unit > 0
    assert np.abs(rounded.astype(int)).max(initial=0) in (0, 127)
    np.testing.assert_allclose(rounded * unit, weights, atol=0.501 * unit)
