"""Whatever `decode` is given: a tree or an InputError or a NoTreeError, never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcwise import HeadAutomata, InputError, NoTreeError, Parse, Scores, decode, k_best

S = np.arange(16.0).reshape(4, 4) % 7


class Subclass(np.ndarray):
    pass


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return np.array(S, dtype=dtype)


class Hostile:
    def __array__(self, dtype=None, copy=None):
        raise ValueError("no")


def read_only() -> np.ndarray:
    array = S.copy()
    array.flags.writeable = False
    return array


def unaligned() -> np.ndarray:
    buffer = np.zeros(16 * 8 + 1, np.uint8)
    array = buffer[1:].view(np.float64).reshape(4, 4)
    array[:] = S
    return array


SAME: dict[str, Any] = {
    "list": S.tolist(),
    "tuple": tuple(map(tuple, S.tolist())),
    "float32": S.astype(np.float32),
    "float16": S.astype(np.float16),
    "long double": S.astype(np.longdouble),
    "int8": S.astype(np.int8),
    "uint64": S.astype(np.uint64),
    "big endian": S.astype(">f8"),
    "Fortran": np.asfortranarray(S),
    "strided": np.repeat(np.repeat(S, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": S[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only(),
    "unaligned": unaligned(),
    "subclass": S.view(Subclass),
    "wrapped": Wrapped(),
    "rows": list(S),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("decoder", [None, "dual"])
@pytest.mark.parametrize("projective", [False, True])
def test_any_array_of_numbers_will_do(name, decoder, projective):
    expected = decode(S, projective=projective)
    parse = decode(SAME[name], projective=projective, decoder=decoder)
    assert parse.heads.tolist() == expected.heads.tolist()
    assert parse.score == expected.score
    together = decode([SAME[name], S], projective=projective, decoder=decoder)
    assert [p.score for p in together] == [expected.score] * 2


REFUSED: dict[str, Any] = {
    "none": None,
    "number": 3.0,
    "text": "scores",
    "bytes": b"scores",
    "vector": np.zeros(4),
    "not square": np.zeros((3, 4)),
    "no rows": np.zeros((0, 0)),
    "no columns": np.zeros((3, 0)),
    "four axes": np.zeros((2, 2, 2, 2)),
    "not square, three axes": np.zeros((2, 3, 4)),
    "empty, three axes": np.zeros((2, 0, 0)),
    "objects": np.array([[None, None], [None, None]]),
    "objects that are numbers": S.astype(object),
    "texts": np.full((3, 3), "1"),
    "complex": np.zeros((3, 3), complex),
    "dates": np.zeros((3, 3), "M8[s]"),
    "record": np.zeros((3, 3), [("a", float)]),
    "masked": np.ma.masked_greater(S, 3),
    "ragged": [[0, 1], [0]],
    "ragged batch": [[[0, 1], [0]]],
    "mixed batch": [S, None],
    "hostile": Hostile(),
    "hostile batch": [S, Hostile()],
    "mapping": {"a": S},
    "set": {1, 2},
    "long double beyond float64": S.astype(np.longdouble) * np.longdouble("1e4000"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("decoder", [None, "dual"])
def test_anything_else_is_refused(name, decoder):
    with pytest.raises(InputError):
        decode(REFUSED[name], decoder=decoder)


@pytest.mark.parametrize("name", REFUSED)
def test_anything_else_is_refused_as_a_table(name):
    steps = np.zeros((4, 2, 2, 4))
    for table in ("arcs", "siblings"):
        with pytest.raises(InputError):
            decode(Scores(**{"arcs": S, table: REFUSED[name] if REFUSED[name] is not None else "none"}))
    for table in ("arcs", "left", "right", "left_end", "right_end"):
        if table.endswith("_end") and REFUSED[name] is None:
            continue
        with pytest.raises(InputError):
            decode(HeadAutomata(**{"arcs": S, "left": steps, "right": steps, table: REFUSED[name]}))


@pytest.mark.parametrize(
    "options",
    [
        {"required": [(0, 4)]}, {"required": [(4, 1)]}, {"required": [(1, 0)]}, {"required": [(2, 2)]},
        {"required": [(-1, 2)]}, {"required": [(0, 1), (2, 1)]}, {"required": 3}, {"required": [3]},
        {"required": ["ab"]}, {"required": [(0, 1)], "forbidden": [(0, 1)]}, {"forbidden": [(1, 2, 3)]},
        {"forbidden": [(0.5, 1)]}, {"forbidden": None}, {"decoder": "magic"}, {"decoder": "eisner"},
        {"decoder": "spanning-tree", "projective": True}, {"decoder": "dual", "required": [(0, 1), (2, 1)]},
        {"decoder": "dual", "forbidden": None}, {"iterations": 0}, {"iterations": 2.0}, {"budget": -1}, {"budget": "9"},
    ],
)  # fmt: skip
def test_bad_options_are_refused(options):
    with pytest.raises(InputError):
        decode(S, **options)


@pytest.mark.parametrize("options", [{"jobs": 0}, {"jobs": "2"}, {"required": [(0, 1)]}, {"forbidden": 3}])
def test_bad_options_of_a_batch_are_refused(options):
    with pytest.raises(InputError):
        decode([S, S, S], **options)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", None])
def test_bad_k_is_refused(k):
    with pytest.raises(InputError):
        k_best(S, k)


@settings(deadline=None, max_examples=200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=20,
    ),
    st.booleans(),
    st.sampled_from([None, "dual"]),
)
def test_never_crashes(scores, projective, decoder):
    try:
        result = decode(scores, projective=projective, decoder=decoder)
    except (InputError, NoTreeError):
        return
    assert isinstance(result, Parse | list)
