"""Arrays written to an open file as safetensors have them, one after another.

The library either copies all arrays to one piece of memory first or writes a file of its own, with rights and leftovers of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_TYPES = {
    **{f"{kind}{8 * size}": f"{name}{8 * size}" for kind, name in (("int", "I"), ("uint", "U")) for size in (1, 2, 4, 8)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
    "bool": "BOOL",
}  # fmt: skip


def write_tensors(file: BinaryIO, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write arrays and metadata; the same content gives the same bytes. Arrays that are not contiguous are copied, one at a time.

    >>> from io import BytesIO
    >>> from safetensors.numpy import load
    >>> file = BytesIO()
    >>> write_tensors(file, {"b": np.arange(3), "a": np.zeros((2, 2))}, {"kind": "example"})
    >>> {name: array.tolist() for name, array in sorted(load(file.getvalue()).items())}
    {'a': [[0.0, 0.0], [0.0, 0.0]], 'b': [0, 1, 2]}
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    names = sorted(
        arrays, key=lambda name: (-arrays[name].itemsize, name)
    )  # so each lies at a multiple of its size
    end = 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + prod(array.shape) * array.itemsize
        header[name] = {
            "dtype": _TYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in names:
        array = arrays[name]
        flat = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
        file.write(flat.view(np.uint8).data)
