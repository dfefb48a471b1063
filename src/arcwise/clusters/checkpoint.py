"""Checkpoints of a clustering: the merges so far, from which all else follows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from arcwise.clusters.pairs import PairCounts
from arcwise.errors import InputError
from arcwise.treebank.writing import open_output

_KIND = "arcwise clustering"


def fingerprint(counts: PairCounts, clusters: int) -> str:
    """Of all that decides which merges are found."""
    digest = hashlib.sha256(f"{clusters} {len(counts.words)}\n".encode())
    digest.update(b"\n".join(counts.words))
    for array in counts[1:]:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def save_merges(path: Path, merges: NDArray[np.int32], print_: str) -> None:
    """Write the merges so far; the checkpoint before is replaced only when this one is complete."""
    merges = np.ascontiguousarray(merges)
    header = json.dumps({"kind": _KIND, "fingerprint": print_, "checksum": _checksum(merges)})
    with open_output(path, compress=False) as output:
        output.write(save({"merges": merges}, {"arcwise": header}))


def load_merges(path: Path, print_: str) -> NDArray[np.int32]:
    """The merges of a checkpoint with this fingerprint; another or a damaged one is an InputError."""
    try:
        content = path.read_bytes()
        merges: NDArray[np.int32] = load(content)["merges"]
        size = int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["arcwise"])
        if header["kind"] != _KIND or header["checksum"] != _checksum(merges):
            raise ValueError
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except (SafetensorError, ValueError, KeyError, TypeError):
        raise InputError(
            "not a checkpoint of a clustering, or damaged: remove it to start anew", file=str(path)
        ) from None
    if header["fingerprint"] != print_:
        raise InputError(
            "a checkpoint of another text or other options: give the same ones, or remove it to start anew",
            file=str(path),
        )
    return merges


def _checksum(merges: NDArray[np.int32]) -> str:
    return hashlib.sha256(f"{merges.dtype} {merges.shape}\n".encode() + merges.tobytes()).hexdigest()
