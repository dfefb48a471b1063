"""What `docs/architecture.md` says of imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import arcwise

SOURCES = Path(arcwise.__file__).parent
MODULES = {
    ".".join(("arcwise", *path.relative_to(SOURCES).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCES.rglob("*.py")
}


def imports(path: Path, everywhere: bool) -> Iterator[str]:
    """The modules that one imports; at the top only, or also within functions and for types."""
    tree = ast.parse(path.read_text())
    for step in ast.walk(tree) if everywhere else tree.body:
        if isinstance(step, ast.Import):
            yield from (name.name for name in step.names)
        elif isinstance(step, ast.ImportFrom) and step.module:
            inner = {f"{step.module}.{name.name}" for name in step.names} & MODULES.keys()
            yield from inner or {step.module}


def test_no_two_modules_need_each_other() -> None:
    order = TopologicalSorter(
        {name: set(imports(path, False)) for name, path in MODULES.items()}
    ).static_order()
    assert set(order) >= MODULES.keys()


def test_searches_know_nothing_of_features_words_or_files() -> None:
    forbidden = tuple(
        f"arcwise.{folder}"
        for folder in (
            "features",
            "treebank",
            "text",
            "tagging",
            "clusters",
            "learning",
            "pipeline",
            "models",
            "evaluation",
        )
    )
    for name, path in MODULES.items():
        if name.split(".")[1:2] in (["search"], ["sums"], ["trees"]):
            assert not [one for one in imports(path, True) if one.startswith(forbidden)]


def test_few_modules_name_numba() -> None:
    named = {
        name
        for name, path in MODULES.items()
        if any(one.split(".")[0] == "numba" for one in imports(path, True))
    }
    assert named == {"arcwise.kernels", "arcwise.compiling", "arcwise.machine_code", "arcwise.bench.clusters"}
