"""Searches of others that `arcwise bench search` measures beside ours, where they are installed.

Each takes a batch of scores S[h, m], (b, n+1, n+1), turns it into the form its package wants, and returns the action to measure:
one search of the whole batch, in the fastest way the package offers on a CPU, on one thread. Or None if it is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcwise.bench.timing import Action

Batch = NDArray[np.float64]


def ufal(batch: Batch) -> Action | None:
    """The spanning trees of ufal.chu_liu_edmonds, in C++, with several roots."""
    try:
        search: Any = import_module("ufal.chu_liu_edmonds").chu_liu_edmonds
    except ImportError:
        return None
    # It wants heads in columns, and NaN where no arc may be.
    turned = [np.ascontiguousarray(S.T) for S in batch]
    for S in turned:
        np.fill_diagonal(S, np.nan)
        S[0] = np.nan
    return lambda: [search(S) for S in turned]


def torch_on_one_thread() -> Any:
    """PyTorch, set up as all peers need it; ImportError if it is not installed."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)
    return torch


def torch_struct(batch: Batch) -> Action | None:
    """The projective trees of torch-struct, with one root."""
    try:
        torch, package = torch_on_one_thread(), import_module("torch_struct")
    except ImportError:
        return None
    turned = batch[:, 1:, 1:].astype(np.float32)
    n = batch.shape[1] - 1
    turned[:, np.arange(n), np.arange(n)] = batch[:, 0, 1:]  # it wants the root's arcs on the diagonal
    scores = torch.tensor(turned, requires_grad=True)
    return lambda: package.DependencyCRF(scores, multiroot=False).argmax


def supar(batch: Batch) -> Action | None:
    """The projective trees of SuPar, with one root."""
    try:
        torch, package = torch_on_one_thread(), import_module("supar.structs")
    except ImportError:
        return None
    turned = np.ascontiguousarray(batch.transpose(0, 2, 1), np.float32)  # it wants heads in columns
    scores = torch.tensor(turned, requires_grad=True)
    return lambda: package.DependencyCRF(scores, multiroot=False).argmax


EISNER_PEERS: dict[str, Callable[[Batch], Action | None]] = {"torch-struct": torch_struct, "SuPar": supar}
