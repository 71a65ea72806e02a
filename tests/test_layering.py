"""Who may import whom. Every edge is in a table; an edge that is not, or that nobody uses any more, fails.

A *part* is a package or a module directly below `trellis`; the package's own `__init__` is the part `trellis`.
To add an edge, add it to the table in the same commit, and be ready to say why it points downward.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "trellis"

MAY_USE: dict[str, set[str]] = {
    "errors": set(),
    "algebra": {"errors"},
    "languages": {"algebra", "errors"},
    "analysis": {"algebra", "errors"},
    "planning": {"algebra", "analysis", "errors", "kernels.opcodes"},  # planning writes the instructions
    "kernels": set(),
    "execution": {"algebra", "errors", "kernels"},
    "spark": {"algebra", "analysis", "errors", "execution", "kernels.opcodes"},
    "segment_functions": {"algebra", "analysis", "errors", "execution"},
    "java": {"errors"},
    "samples": {"errors"},
    "origins": {"algebra"},
    "plots": {"errors", "origins", "table_text"},
    "table_text": set(),
    "planned": {"algebra", "errors", "execution", "origins", "planning", "segment_functions", "spark"},
    "planned_workload": {"algebra", "errors", "execution", "planned", "planning", "segment_functions", "spark"},
    "statements": {"algebra", "errors", "languages", "planned", "planning", "spark"},
    "stage_counts": {"algebra", "analysis", "errors", "planned", "planning", "spark"},
    "reasons": {"algebra", "analysis", "errors", "execution", "planning", "segment_functions", "spark", "stage_counts"},
    "api": {
        *("algebra", "errors", "execution.warmup", "java", "languages", "origins", "planned", "planned_workload"),
        "planning",
        *("plots.plan_graph", "reasons", "spark", "stage_counts", "statements"),
    },
    "running": {"errors", "execution.pulse"},
    "streams": {"spark"},
    "studio": {
        *("algebra", "errors", "execution.warmup", "languages", "planned", "planning", "plots", "spark", "trellis"),
    },
    "cli": {"errors", "java", "languages", "plots", "running", "samples", "studio", "table_text", "trellis"},
    "demo_session": set(),
    "demo": {"demo_session", "errors", "java", "plots", "samples", "trellis"},
    "demo_stream": {"demo_session", "errors", "java", "trellis"},
    "trellis": {"api", "errors", "execution", "plots", "running", "segment_functions", "streams"},
}
"""The parts, or single modules of them, that each part may import, besides itself."""

MAY_USE_LIBRARY: dict[str, set[str]] = {
    "numba": {"kernels"},
    "llvmlite": {"kernels"},  # what the processor can do
    "numpy": {"execution", "kernels", "plots", "segment_functions"},
    "pandas": {"plots", "spark"},
    "pyarrow": {"cli", "execution", "spark"},
    "pyspark": {
        *(
            "api",
            "cli",
            "demo",
            "demo_session",
            "demo_stream",
            "java",
            "origins",
            "planned",
            "planned_workload",
            "plots",
            "reasons",
            "stage_counts",
            "spark",
            "statements",
        ),
        *("running", "streams", "studio"),
    },
    "starlette": {"studio"},
    "uvicorn": {"studio"},
    "sqlglot": {"languages"},
    "vl_convert": {"plots", "studio"},
}
"""The parts that may import each library. The standard library may be used everywhere."""

ONLY_INSIDE_FUNCTIONS = {"starlette", "uvicorn", "vl_convert"}
"""Libraries of extras: a user without them must still be able to import every module."""

NOT_YET_USED: set[tuple[str, str]] = set()
"""Edges that are allowed and may still be unused. Remove an edge here, or from its table, when that is settled."""

LONGEST_FILE = 500
NAMES_THAT_EXCLUDE_NOTHING = {"base", "common", "core", "helpers", "misc", "shared", "util", "utils"}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def part_of(file: Path) -> str:
    """The part that a file belongs to."""
    first = file.relative_to(SOURCE).parts[0]
    return "trellis" if first == "__init__.py" else first.removesuffix(".py")


def parts() -> set[str]:
    return {part_of(file) for file in modules()}


def imports(file: Path) -> Iterator[tuple[str, int, bool]]:
    """Each imported module, its line, and whether the import stands inside a function or is for type checkers only."""

    def visit(node: ast.AST, delayed: bool) -> Iterator[tuple[str, int, bool]]:
        for child in ast.iter_child_nodes(node):
            inside = delayed or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or _only_for_types(child)
            match child:
                case ast.Import(names=names):
                    yield from ((alias.name, child.lineno, inside) for alias in names)
                case ast.ImportFrom(module=module, level=level, names=names):
                    package = ("trellis", *file.relative_to(SOURCE).parts[:-1])
                    above = package[: len(package) - level + 1] if level else ()
                    source = ".".join([*above, *([module] if module else [])])
                    yield from ((_module(source, alias.name), child.lineno, inside) for alias in names)
                case _:
                    yield from visit(child, inside)

    yield from visit(ast.parse(file.read_text(encoding="utf-8")), False)


def _module(source: str, name: str) -> str:
    """What `from source import name` needs: the module `source.name` if there is one, else `source`."""
    folder = SOURCE.parent.joinpath(*source.split("."))
    return f"{source}.{name}" if (folder / name).is_dir() or (folder / f"{name}.py").is_file() else source


def _only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def edges() -> Iterator[tuple[str, str, str, bool]]:
    """Each edge from a part to a module of another part or to a library, where it stands, and whether it is delayed."""
    for file in modules():
        part = part_of(file)
        for name, line, delayed in imports(file):
            head = name.split(".")[0]
            target = name.removeprefix("trellis.") if head == "trellis" else head
            if target.split(".")[0] != part and head not in sys.stdlib_module_names:
                yield part, target, f"{file.relative_to(SOURCE.parent)}:{line}", delayed


def entries(part: str, target: str) -> set[tuple[str, str]]:
    """The entries of the tables that allow this edge."""
    places = {target, target.split(".")[0]}
    found = {(part, place) for place in places & MAY_USE.get(part, set())}
    return found | {(part, place) for place in places if part in MAY_USE_LIBRARY.get(place, ())}


def test_every_part_is_in_the_table() -> None:
    assert parts() - set(MAY_USE) == set()


def test_every_edge_is_in_the_table() -> None:
    wrong = [
        f"{place}: {part} may not import {target}" for part, target, place, _ in edges() if not entries(part, target)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_edge_of_the_table_is_used() -> None:
    there = parts()
    table = {
        (part, target)
        for part, targets in MAY_USE.items()
        for target in targets
        if {part, target.split(".")[0]} <= there
    }
    table |= {(part, library) for library, users in MAY_USE_LIBRARY.items() for part in users if part in there}
    used = {entry for part, target, _, _ in edges() for entry in entries(part, target)}
    unused = table - used - NOT_YET_USED
    assert not unused, f"allowed, but not used: {sorted(unused)}"


def test_the_table_has_no_cycle() -> None:
    settled: set[str] = set()
    left = dict(MAY_USE)
    while left:
        free = {part for part, targets in left.items() if {target.split(".")[0] for target in targets} <= settled}
        assert free, f"these parts import each other: {sorted(left)}"
        settled |= free
        left = {part: targets for part, targets in left.items() if part not in free}


def test_libraries_of_extras_are_imported_late() -> None:
    early = [f"{place}: {target}" for _, target, place, late in edges() if target in ONLY_INSIDE_FUNCTIONS and not late]
    assert not early, "\n".join(early)


def test_the_map_in_the_docs_is_that_of_the_table() -> None:
    sys.path.insert(0, str(SOURCE.parents[1] / "tools"))
    try:
        from draw_map import PAGE, redrawn
    finally:
        sys.path.pop(0)
    page = PAGE.read_text(encoding="utf-8")
    assert page == redrawn(page, MAY_USE), "run python tools/draw_map.py"


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_file(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE, "a concept wants a name"
    names = {part.removesuffix(".py").strip("_") for part in file.relative_to(SOURCE).parts}
    assert not names & NAMES_THAT_EXCLUDE_NOTHING, "a name that excludes nothing attracts everything"
