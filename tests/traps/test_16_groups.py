"""Trap 16: huge groups and many tiny groups, in chunks that cut neither."""

from __future__ import annotations

import os
from typing import Any

import pytest

import local

_SCHEMA = [("k", "int"), ("id", "int"), ("x", "int")]
_MANY = 20_000 if os.environ.get("NUMBA_DISABLE_JIT") != "1" else 100


def rows_of(lengths: list[int]) -> list[dict[str, Any]]:
    return [
        {"k": key, "id": at, "x": (at * at + key) % 7} for key, length in enumerate(lengths) for at in range(length)
    ]


def expected_rises(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs of rising x, by a loop over the rows."""
    found: list[dict[str, Any]] = []
    before: dict[str, Any] | None = None
    for row in rows:
        if before is not None and before["k"] == row["k"] and row["x"] > before["x"]:
            found[-1]["n"] += 1
        else:
            found.append({"k": row["k"], "n": 1})
        before = row
    return found


@pytest.mark.parametrize("condition", ["x > PREV(x)", "UP.x > LAST(x, 1)", "UP.x > PREV(x) AND count(*) > 1"])
@pytest.mark.parametrize(
    ("lengths", "chunk_rows"),
    [
        ([1] * 50, 7),
        ([3] * 40, 7),
        ([1, 100, 1, 2, 50, 1], 10),
        ([100, 1], 10),
        ([0, 5, 0, 5], 3),
        ([40], 1),
    ],
)
def test_groups_and_chunks(lengths: list[int], chunk_rows: int, condition: str) -> None:
    rows = rows_of(lengths)
    clause = f"PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN (A UP*) DEFINE UP AS {condition}"
    for batch_rows in (1, 3, 8, 1000):
        found = local.run(clause, rows, _SCHEMA, chunk_rows=chunk_rows, batch_rows=batch_rows)
        assert found == expected_rises(rows)


@pytest.mark.parametrize("condition", ["x > PREV(x)", "UP.x > LAST(x, 1)", "count(*) <= 2"])
def test_many_tiny_groups(condition: str) -> None:
    rows = [{"k": key, "id": at, "x": at} for key in range(_MANY) for at in range(3)]
    clause = f"""PARTITION BY k ORDER BY id MEASURES MATCH_NUMBER() AS m, count(*) AS n
        PATTERN (A UP*) DEFINE UP AS {condition}"""
    found = local.run(clause, rows, _SCHEMA)
    sizes = (2, 1) if "count" in condition else (3,)
    assert found == [{"k": key, "m": m + 1, "n": n} for key in range(_MANY) for m, n in enumerate(sizes)]


def test_no_rows_at_all() -> None:
    for mode in ("ONE ROW PER MATCH", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"):
        assert local.run(f"PARTITION BY k ORDER BY id {mode} PATTERN (A*)", [], _SCHEMA) == []


def test_a_series_forgets_the_one_before() -> None:
    """The end of a series has the number of the next one's first row: states that failed there must be forgotten."""
    rows = [{"k": 1, "t": 0, "x": 0}, {"k": 2, "t": 1, "x": 2}, {"k": 2, "t": 2, "x": 0}]
    clause = """PARTITION BY k ORDER BY t MEASURES Z.t AS z PATTERN (A* B Z)
                DEFINE B AS x > 1, Z AS LAST(B.x) - FIRST(B.x) <= 1"""
    schema = [("k", "int"), ("t", "int"), ("x", "int")]
    assert local.run(clause, rows, schema) == [{"k": 2, "z": 2}]
