"""Trap 10: long matches and deep nesting; nothing recurses over rows."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import pytest

import local
from trellis.errors import TrellisError

_SCHEMA = [("id", "int"), ("x", "int")]
_ROWS = 30_000 if os.environ.get("NUMBA_DISABLE_JIT") != "1" else 300


def rows_of(count: int) -> list[dict[str, Any]]:
    return [{"id": number, "x": number % 2} for number in range(count)]


@pytest.mark.parametrize("search", ["auto", "backtrack"])
@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("A+", "A AS x >= 0"),
        ("(A B)+", "A AS x = 0, B AS x = 1"),
        ("(A | B)+", "A AS x = 0, B AS x = 1"),
        ("(A? B?)+", "A AS x = 0, B AS x = 1"),
        ("A{2,}", "A AS x >= 0"),
        ("A+ Z?", "A AS x >= 0, Z AS x = 7"),
        ("A* $", "A AS A.x = x"),
        ("(A B)+", "A AS A.x < 1 AND count(*) > 0, B AS B.x > A.x"),
    ],
)
def test_a_match_of_all_rows(pattern: str, define: str, search: str) -> None:
    clause = f"""ORDER BY id MEASURES count(*) AS n, sum(id) AS total, FIRST(id) AS lo, LAST(id) AS hi
        PATTERN ({pattern}) DEFINE {define}"""
    found = local.run(clause, rows_of(_ROWS), _SCHEMA, search=search)
    assert found == [{"n": _ROWS, "total": _ROWS * (_ROWS - 1) // 2, "lo": 0, "hi": _ROWS - 1}]


def test_all_rows_of_it() -> None:
    clause = """ORDER BY id MEASURES sum(x) AS running, FINAL sum(x) AS final, CLASSIFIER() AS c, LAST(id, 1000) AS far
        ALL ROWS PER MATCH PATTERN ((A B)+) DEFINE A AS x = 0, B AS x = 1"""
    found = local.run(clause, rows_of(_ROWS), _SCHEMA)
    assert len(found) == _ROWS
    for at in (0, 1, 250, _ROWS - 1):
        expected = {
            "id": at,
            "running": (at + 1) // 2,
            "final": _ROWS // 2,
            "c": "AB"[at % 2],
            "far": at - 1000 if at >= 1000 else None,
            "x": at % 2,
        }
        assert found[at] == expected


def test_a_long_search_that_fails_at_the_end() -> None:
    clause = "ORDER BY id MEASURES count(*) AS n PATTERN (^ A+ Z) DEFINE A AS A.x >= 0 AND count(*) > 0, Z AS x = 7"
    assert local.run(clause, rows_of(_ROWS), _SCHEMA) == []


@pytest.mark.parametrize("depth", [50, 500, 5_000])
@pytest.mark.parametrize("shape", ["({})", "({})?", "(A {})", "({} | A)", "PERMUTE(A, {})"])
def test_deep_patterns_work_or_are_refused(shape: str, depth: int) -> None:
    head, tail = shape.split("{}")
    pattern = head * depth + "A" + tail * depth
    with suppress(TrellisError):
        local.run(f"ORDER BY id PATTERN ({pattern})", rows_of(3), _SCHEMA)


@pytest.mark.parametrize("depth", [50, 500, 5_000])
@pytest.mark.parametrize(
    "shape", ["({})", "NOT ({})", "x + {}", "abs({})", "CASE WHEN x > 1 THEN {} ELSE 2 END", "- {}"]
)
def test_deep_conditions_work_or_are_refused(shape: str, depth: int) -> None:
    head, tail = shape.split("{}")
    value = head * depth + ("x > 1" if "NOT" in shape else "x") + tail * depth
    condition = value if "NOT" in shape else f"{value} > 1"
    for where in (f"PATTERN (A) DEFINE A AS {condition}", f"MEASURES {value} AS m PATTERN (A)"):
        with suppress(TrellisError):
            # Without rows: the evaluator of this harness is itself recursive.
            local.run(f"ORDER BY id {where}", [], _SCHEMA)


def test_long_patterns() -> None:
    """A pattern of 5 000 variables in a row, and a condition of 5 000 terms."""
    rows = rows_of(5_000)
    pattern = " ".join("AB"[number % 2] for number in range(5_000))
    clause = f"ORDER BY id MEASURES count(*) AS n PATTERN ({pattern}) DEFINE A AS x = 0, B AS x = 1"
    assert local.run(clause, rows, _SCHEMA) == [{"n": 5_000}]
