"""How kernels are compiled: what Python calls is a whole, and what only kernels call are parts of it.

Numba on its own optimises every function and turns it into machine code, with a wrapper for Python, and then once more inside each
function that calls it: what lies six calls deep is compiled seven times. Here a part is only translated, to what the optimiser reads,
and a whole takes in all its parts and is compiled once. As nobody else calls the parts in it, the optimiser may also change how they
are called, and need not hand on the many arrays of a NamedTuple that a part never looks at. On disk is kept what is whole.

Numba also counts who uses an array, by two atomic steps for every array of a NamedTuple whenever it is looked at. A part that only
sees arrays which its caller holds is lean: it does without.

This relies on the inner life of Numba more than anything else here does.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering
from numba.core.types import Array


class _Part(JITCodeLibrary):
    """The code of a function that kernels call."""

    def finalize(self) -> None:
        self._finalized = True  # the rest is up to the whole

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _get_module_for_linking(self) -> Any:
        return self._final_module

    def reached(self, found: dict[Any, None]) -> None:
        """Add all that this calls, directly or not, to `found`, what calls something after it."""
        for library in self._linking_libraries:
            if library not in found:
                if isinstance(library, _Part):
                    library.reached(found)
                found[library] = None


class _Whole(_Part):
    """The code of a function that Python calls, with all that it calls."""

    def finalize(self) -> None:
        found: dict[Any, None] = {}
        self.reached(found)
        # What Numba has of its own is only taken in where it is called already, so what calls it goes first.
        self._linking_libraries = list(reversed(found))
        self._own = {function.name for function in self.get_defined_functions()}
        JITCodeLibrary.finalize(self)
        codegen: Any = self._codegen
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                codegen.set_env(variable.name, environment)

    def _optimize_final_module(self) -> None:
        for function in self.get_defined_functions():
            if function.name not in self._own:
                function.linkage = "internal"
        super()._optimize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """As Numba does, but without what other functions would need to take this one in: only the names are asked for."""
        names = "\n".join(f'define void @"{name}"() {{ unreachable }}' for name in sorted(self._own))
        return self.name, "object", (self._get_compiled_object(), llvm.parse_assembly(names).as_bitcode())


# Expressions that give an array which somebody else holds.
_LOOKS = (
    "getattr", "getitem", "static_getitem", "typed_getitem", "getiter", "iternext", "pair_first", "exhaust_iter", "cast", "phi",
    "build_tuple",
)  # fmt: skip
_lean_functions: dict[Any, Any] = {}  # those of Numba's own that lean functions call: in others they count


def _only_borrows(state: Any) -> bool:
    """Whether a function makes no arrays, is given none by those that it calls, and returns none."""
    types, models = state.typemap, state.targetctx.data_model_manager

    def is_counted(type: Any) -> bool:
        return bool(models[type].contains_nrt_meminfo())

    def makes_arrays(value: Any) -> bool:
        copies = value.op == "getitem" and isinstance(types[value.index.name], Array)
        return copies or value.op not in _LOOKS

    if is_counted(state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for step in block.body:
            if isinstance(step, ir.Assign) and isinstance(step.value, ir.Expr):
                if is_counted(types[step.target.name]) and makes_arrays(step.value):
                    return False
            elif isinstance(step, ir.SetItem | ir.StaticSetItem) and is_counted(types[step.value.name]):
                return False  # what overlaps is copied first
    return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _TranslatePart(NativeLowering):
    _name = "arcwise_translate_part"

    def run_pass(self, state: Any) -> bool:
        if _only_borrows(state):
            state.targetctx = state.targetctx.subtarget(
                enable_nrt=False, cached_internal_func=_lean_functions
            )
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # To the compiler a function is what Python would call; this one it cannot, so any built-in that is unlike others will do.
        handle = list[Any]().append
        state.cr = state.cr._replace(cfunc=handle)
        state.targetctx.insert_user_function(handle, state.cr.fndesc, [state.library])
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _TranslateWhole(NativeLowering):
    _name = "arcwise_translate_whole"

    def run_pass(self, state: Any) -> bool:
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class WholeCompiler(CompilerBase):
    """Compiles what Python calls; an option of `numba.njit`."""

    translate: type[NativeLowering] = _TranslateWhole

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("arcwise")
        for step, purpose in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            passes.add_pass(self.translate if step is NativeLowering else step, purpose)
        passes.finalize()
        return [passes]


class PartCompiler(WholeCompiler):
    """Translates what kernels call."""

    translate = _TranslatePart


def try_out() -> None:
    """Compile and run a little of everything, to see that this Numba is one that this module understands. It takes half a second.

    Raises whatever goes wrong.
    """

    def looks(arrays: Any) -> Any:
        return arrays[0][1:].sum()

    def makes(count: Any) -> Any:
        return np.ones(count), np.zeros(count)

    def whole(count: Any) -> Any:
        made = make(count)
        return look(made), made[0]

    options: dict[str, Any] = {"no_cfunc_wrapper": True, "error_model": "numpy"}
    part = {**options, "pipeline_class": PartCompiler, "no_cpython_wrapper": True}
    look, make = numba.njit(**part)(looks), numba.njit(**part)(makes)
    found, ones = numba.njit(pipeline_class=WholeCompiler, nogil=True, **options)(whole)(4)
    if found != 3.0 or not np.array_equal(ones, np.ones(4)):
        raise RuntimeError("compiled code gives a wrong result")
