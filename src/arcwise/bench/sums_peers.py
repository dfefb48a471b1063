"""Sums of others that `arcwise bench sums` measures beside ours, where they are installed.

Each takes a batch of scores S[h, m], (b, n+1, n+1), turns it into the form its package wants, and returns what to measure: the log
partition function and all marginals of every matrix, with one root, in the fastest way the package offers on a CPU, on one
thread. Or None if it is not installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcwise.bench.search_peers import torch_on_one_thread
from arcwise.bench.timing import Action

Batch = NDArray[np.float64]


class Peer(NamedTuple):
    """One sum over the whole batch, to measure, and the marginals it finds, as ours: (b, n+1, n+1)."""

    action: Action
    marginals: Callable[[], Batch]


Prepare = Callable[[Batch], Peer | None]


def scipy(batch: Batch) -> Peer | None:
    """The matrix-tree theorem by LAPACK, one matrix at a time: the Laplacian, its factors and its inverse (Koo 2010, 4.3.1)."""
    try:
        lapack = _lapack()
    except ImportError:
        return None

    def matrix_tree(S: Batch) -> tuple[float, Batch]:
        n = len(S) - 1
        root, arcs = np.exp(S[0, 1:]), np.exp(S[1:, 1:])
        arcs.flat[:: n + 1] = 0.0
        laplacian = -arcs
        laplacian.flat[:: n + 1] = arcs.sum(axis=0)
        laplacian[0] = root
        # LAPACK wants columns: it is given the transpose, as which rows will do, and works in place.
        factors, pivots, _ = lapack.dgetrf(laplacian.T, overwrite_a=True)
        log_partition = np.log(np.abs(factors.diagonal())).sum()
        inverse = lapack.dgetri(factors, pivots, overwrite_lu=True)[0]
        marginals = np.zeros(S.shape)
        np.multiply(root, inverse[0], out=marginals[0, 1:])
        diagonal = inverse.diagonal().copy()
        diagonal[0] = inverse[0] = 0.0
        words = marginals[1:, 1:]
        np.subtract(diagonal, inverse, out=words)
        words *= arcs
        return log_partition, marginals

    def action() -> None:
        for S in batch:
            matrix_tree(S)

    return Peer(action, lambda: np.stack([matrix_tree(S)[1] for S in batch]))


def _lapack() -> Any:
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"  # it looks there once, when it is loaded
    try:
        return import_module("scipy.linalg.lapack")
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


def _torch_struct(distribution: str, precision: str) -> Prepare:
    def prepare(batch: Batch) -> Peer | None:
        try:
            torch, package = torch_on_one_thread(), import_module("torch_struct")
        except ImportError:
            return None
        n = batch.shape[1] - 1
        turned, words = batch[:, 1:, 1:].astype(precision), np.arange(n)
        turned[:, words, words] = batch[:, 0, 1:]  # it wants the root's arcs on the diagonal
        scores = torch.tensor(turned, requires_grad=True)

        def action() -> Any:  # the marginals that it has itself take another sum, and are no better
            log_partitions = getattr(package, distribution)(scores, multiroot=False).partition
            return torch.autograd.grad(log_partitions.sum(), scores)[0]

        def marginals() -> Batch:
            found, result = action().numpy(), np.zeros(batch.shape)
            result[:, 1:, 1:] = found
            result[:, words + 1, words + 1] = 0.0
            result[:, 0, 1:] = found[:, words, words]
            return result

        return Peer(action, marginals)

    return prepare


def _supar(precision: str) -> Prepare:
    def prepare(batch: Batch) -> Peer | None:
        try:
            torch, package = torch_on_one_thread(), import_module("supar.structs")
        except ImportError:
            return None
        turned = np.ascontiguousarray(batch.transpose(0, 2, 1), precision)  # it wants heads in columns
        scores = torch.tensor(turned, requires_grad=True)

        def action() -> Any:
            log_partitions = package.DependencyCRF(scores, multiroot=False).log_partition
            return torch.autograd.grad(log_partitions.sum(), scores)[0]

        return Peer(action, lambda: action().numpy().astype(np.float64).transpose(0, 2, 1))

    return prepare


MATRIX_TREE_PEERS: dict[str, Prepare] = {
    "torch-struct": _torch_struct("NonProjectiveDependencyCRF", "float64"),
    "torch-struct, single precision": _torch_struct("NonProjectiveDependencyCRF", "float32"),
}
PROJECTIVE_PEERS: dict[str, Prepare] = {
    "torch-struct": _torch_struct("DependencyCRF", "float64"),
    "torch-struct, single precision": _torch_struct("DependencyCRF", "float32"),
    "SuPar": _supar("float64"),
    "SuPar, single precision": _supar("float32"),
}
