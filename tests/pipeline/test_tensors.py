"""Arrays as safetensors have them."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load

from arcwise.pipeline.tensors import write_tensors

_TYPES = ["bool", "float16", "float32", "float64"]
_TYPES += [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_is_read_again(tmp_path, seed):
    random = np.random.default_rng(seed)
    arrays = {}
    for number in range(random.integers(0, 8)):
        shape = random.integers(0, 4, random.integers(0, 4))
        array = (100 * random.random(shape)).astype(random.choice(_TYPES))
        arrays[f"a{number}é"] = array.T if number % 2 else array
    file = BytesIO()
    write_tensors(file, arrays, {"kind": 'of "many"'})
    found = load(file.getvalue())
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert (found[name] == array).all()
    (tmp_path / "file").write_bytes(file.getvalue())
    with safe_open(tmp_path / "file", "np") as opened:
        assert opened.metadata() == {"kind": 'of "many"'}
    again = BytesIO()
    write_tensors(again, dict(reversed(arrays.items())), {"kind": 'of "many"'})
    assert again.getvalue() == file.getvalue()
