"""How functions become kernels. Beside this only `arcwise.compiling` (how kernels are compiled) and `arcwise.machine_code` (where
they are kept) name Numba.

A kernel is a plain function over arrays and scalars. It trusts its arguments: the function around it validates. Kernels run
without the interpreter's lock and are compiled once per machine. Setting `NUMBA_BOUNDSCHECK=1` before the first import turns
bounds checks on; the tests do. Setting `ARCWISE_PLAIN_COMPILING=1` compiles as Numba does by itself, which takes longer; so does,
after one warning, a release of Numba that `arcwise.compiling` does not understand.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numba
import numba.extending

from arcwise.errors import ArcwiseError
from arcwise.machine_code import KeptCode
from arcwise.threads import undisturbed

F = TypeVar("F", bound=Callable[..., Any])

_settings: Any = numba.config
if _settings.DISABLE_JIT:
    raise ArcwiseError(
        "NUMBA_DISABLE_JIT is set, and kernels only work compiled (their integers wrap around): unset it"
    )

_kernels: list[Any] = []
# The releases of Numba that `arcwise.compiling` was tested with; it relies on their inner life.
_TESTED = ((0, 60), (0, 68))


def _ways_to_compile() -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of kernels that Python calls, and of those that only kernels call; empty to compile as Numba does by itself."""
    if os.environ.get("ARCWISE_PLAIN_COMPILING"):
        return {}, {}
    try:
        from arcwise import compiling

        if not _TESTED[0] <= numba.version_info.short <= _TESTED[1]:
            compiling.try_out()
    except Exception as error:
        warnings.warn(
            f"Numba {numba.__version__} is not understood ({type(error).__name__}: {error}): kernels take longer to compile",
            stacklevel=2,
        )
        return {}, {}
    # Nobody calls kernels from C: without the wrapper for that they compile faster. Nor are parts called from Python.
    whole = {"pipeline_class": compiling.WholeCompiler, "no_cfunc_wrapper": True}
    part = {"pipeline_class": compiling.PartCompiler, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return whole, part


_WHOLE, _PART = _ways_to_compile()


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


def _make_named_tuples_in_c() -> None:
    """Let kernels make the named tuples that they return without a step of Python.

    A signal that came while a kernel ran is heard at the next step of Python. If that is while the result is made, Numba goes on
    with half of it, and crashes.
    """
    from numba.core import boxing, pythonapi, types

    def box(typ: Any, value: Any, c: Any) -> Any:
        names, plain = typ.instance_class, boxing.box_tuple(typ, value, c)
        new, of = (c.env_manager.read_const(c.env_manager.add_const(x)) for x in (tuple.__new__, names))
        made = c.pyapi.call_function_objargs(new, (of, plain))
        c.pyapi.decref(plain)
        return made

    functions: Any = pythonapi._boxers.functions
    for kind in (types.NamedTuple, types.NamedUniTuple):
        if kind in functions:
            functions[kind] = box


with suppress(ImportError, AttributeError):  # where Numba is built otherwise this has to do without
    _make_named_tuples_in_c()


def _compiled(function: F, **options: Any) -> F:
    njit: Any = numba.njit  # its annotations do not know all of its options
    options["error_model"] = "numpy"
    whole = njit(nogil=True, **_WHOLE, **options)(function)
    whole._cache = KeptCode(function, repr((bool(_WHOLE), sorted(options.items()))))
    # What the first call does. A compiler that is stopped half-way may crash later: it goes on, and nobody has to wait for it.
    whole.compile = partial(undisturbed, whole.compile)
    if _PART:
        part = njit(**_PART, **options)(function)
        # What the compiler asks for when another kernel calls this one.
        whole.get_call_template, whole.get_overload = part.get_call_template, part.get_overload
    _kernels.append(whole)
    return cast(F, whole)
