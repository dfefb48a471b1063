"""The one place that names Numba, beside `arcwise.compiling`, which tells it how to compile kernels.

A kernel is a plain function over arrays and scalars. It trusts its arguments: the function around it validates. Kernels run
without the interpreter's lock and are compiled once per machine. Setting `NUMBA_BOUNDSCHECK=1` before the first import turns
bounds checks on; the tests do (in a cache of their own).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numba
import numba.extending

from arcwise.compiling import PartCompiler, WholeCompiler

F = TypeVar("F", bound=Callable[..., Any])

_kernels: list[Any] = []
# Nobody calls kernels from C: without the wrapper for that they compile faster. Nor are parts called from Python.
_WHOLE: dict[str, Any] = {"pipeline_class": WholeCompiler, "no_cfunc_wrapper": True}
_PART: dict[str, Any] = {"pipeline_class": PartCompiler, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}


def kernel(function: F) -> F:
    """Compile `function` on first call and cache the machine code on disk."""
    return _compiled(function)


def fused_kernel(function: F) -> F:
    """A kernel in which a product and the sum it goes to may be rounded once, together: faster, never less exact.

    Whether that happens depends on the machine, not on the data: the same machine gives the same bytes.
    """
    return _compiled(function, fastmath={"contract"})


def inline_kernel(function: F) -> F:
    """A small kernel that is copied into its callers."""
    return _compiled(function, inline="always")


def merged_kernel(function: F) -> F:
    """A kernel that the back end of the compiler copies into its callers: for work that is less than to pass its many arrays."""
    return _compiled(function, forceinline=True)


def by_type(choose: F) -> F:
    """A function for kernels to call whose body depends on the types of its arguments: a kernel need not compile what it never
    runs. `choose` is given the types, of which a NamedTuple's has its class as `instance_class`, and returns a plain function.
    """

    def called(*arguments: Any) -> Any:
        raise NotImplementedError("only kernels can call this")

    overload: Any = numba.extending.overload
    # The annotations of `choose` need not be those of the functions.
    overload(called, jit_options=_PART, strict=False)(choose)
    return cast(F, called)


def compiled_kernels() -> int:
    """How many kernels this process had to compile, because no earlier one left them in the cache."""
    return sum(bool(compiled.stats.cache_misses) for compiled in _kernels)


def _scipy_is_there() -> None:
    if find_spec("scipy") is None:
        raise ImportError("no SciPy")


def _load_without_scipy() -> None:
    """Load the part of Numba that imports SciPy, which takes 0.25 s, only to see that it is there."""
    from numba.np import linalg

    real, linalg.ensure_blas = linalg.ensure_blas, _scipy_is_there
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = real


with suppress(ImportError, AttributeError):  # a Numba that is built otherwise is only slower to start
    _load_without_scipy()


def _compiled(function: F, **options: Any) -> F:
    njit: Any = numba.njit  # its annotations do not know all of its options
    options["error_model"] = "numpy"
    whole = njit(nogil=True, cache=True, **_WHOLE, **options)(function)
    part = njit(**_PART, **options)(function)
    # What the compiler asks for when another kernel calls this one.
    whole.get_call_template, whole.get_overload = part.get_call_template, part.get_overload
    _kernels.append(whole)
    return cast(F, whole)
