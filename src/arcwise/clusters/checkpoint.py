"""Checkpoints of a clustering: arrays from which it goes on, and the fingerprint of what it was of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from arcwise.arrays import header_size, read_content
from arcwise.errors import InputError
from arcwise.treebank.writing import open_output

_KIND = "arcwise clustering"
_LARGEST = 1 << 33  # bytes

Arrays = Mapping[str, NDArray[Any]]


def fingerprint(options: Sequence[object], words: Iterable[bytes], arrays: Iterable[NDArray[Any]]) -> str:
    """Of all that decides what is found: the method and its options, and the text."""
    digest = hashlib.sha256(f"{options!r}\n".encode())
    digest.update(b"\n".join(words))
    for array in arrays:
        _add(digest, array)
    return digest.hexdigest()


def save_checkpoint(path: Path, arrays: Arrays, print_: str) -> None:
    """Write what is known so far; the checkpoint before is replaced only when this one is complete."""
    complete = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = json.dumps({"kind": _KIND, "fingerprint": print_, "checksum": _checksum(complete)})
    with open_output(path, compress=False) as output:
        output.write(save(complete, {"arcwise": header}))


def load_checkpoint(path: Path) -> tuple[Arrays, str]:
    """The arrays of a checkpoint and its fingerprint; a damaged one is an InputError."""
    try:
        content = read_content(path, _LARGEST)
        arrays: Arrays = load(content)
        metadata = json.loads(content[8 : 8 + header_size(content)])["__metadata__"]
        header = json.loads(metadata["arcwise"])
        if header["kind"] != _KIND or header["checksum"] != _checksum(arrays):
            raise ValueError
        return arrays, str(header["fingerprint"])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        raise InputError(
            "not a checkpoint of a clustering, or damaged: remove it to start anew", file=str(path)
        ) from None


def check_fingerprint(found: str, print_: str, path: Path) -> None:
    """InputError, if the checkpoint in `path` is of another run than the one with fingerprint `print_`."""
    if found != print_:
        raise InputError(
            "a checkpoint of another text or other options: give the same ones, or remove it to start anew",
            file=str(path),
        )


def _checksum(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name}\n".encode())
        _add(digest, arrays[name])
    return digest.hexdigest()


def _add(digest: hashlib._Hash, array: NDArray[Any]) -> None:
    digest.update(f"{array.dtype} {array.shape}\n".encode())
    digest.update(np.ascontiguousarray(array).data)
