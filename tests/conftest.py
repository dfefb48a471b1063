"""Bounds checks are on in all tests, in a cache of their own; this must happen before Numba is imported."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent.parent / ".numba_cache_tests"))
# A shell's background jobs ignore interrupts, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parent.parent.parent / "shared"


@pytest.fixture
def treebanks() -> Path:
    """The folder of real treebanks, which lies beside the project and is never part of it."""
    if not (SHARED / "treebanks").is_dir():
        pytest.skip("needs ../shared/treebanks, which is not part of the project")
    return SHARED / "treebanks"
