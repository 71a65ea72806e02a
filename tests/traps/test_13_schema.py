"""Trap 13: the columns of the result and their order."""

from __future__ import annotations

from typing import Any

import pytest

import local
from trellis.errors import BindingError

_SCHEMA = [("x", "int"), ("t", "int"), ("k", "string"), ("y", "int"), ("j", "string")]
_ROWS: list[dict[str, Any]] = [{"x": n, "t": n, "k": "p", "y": -n, "j": "q"} for n in (1, 2, 3)]


def columns(clause: str) -> list[str]:
    found = local.run(clause, _ROWS, _SCHEMA)
    assert found
    assert all(list(row) == list(found[0]) for row in found)
    return list(found[0])


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("PARTITION BY j, k ORDER BY t MEASURES x AS m, y AS n {} PATTERN (A)", "j k m n"),
        ("ORDER BY t MEASURES x AS m {} PATTERN (A)", "m"),
        ("PARTITION BY k ORDER BY t {} PATTERN (A)", "k"),
        ("PARTITION BY K MEASURES x AS m {} PATTERN (A)", "k m"),
    ],
)
def test_one_row(clause: str, expected: str) -> None:
    """Partition columns, then measures."""
    for mode in ("", "ONE ROW PER MATCH"):
        assert columns(clause.format(mode)) == expected.split()


@pytest.mark.parametrize("mode", ["", "SHOW EMPTY MATCHES", "OMIT EMPTY MATCHES", "WITH UNMATCHED ROWS"])
@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("PARTITION BY j, k ORDER BY t MEASURES x AS m, y AS n {} PATTERN (A)", "j k t m n x y"),
        ("PARTITION BY k ORDER BY y DESC, x MEASURES t AS m {} PATTERN (A)", "k y x m t j"),
        ("ORDER BY t MEASURES x AS m {} PATTERN (A)", "t m x k y j"),
        ("PARTITION BY k MEASURES x AS m {} PATTERN (A)", "k m x t y j"),
        ("{} PATTERN (A)", "x t k y j"),
        ("PARTITION BY k ORDER BY k, t MEASURES x AS m {} PATTERN (A)", "k t m x y j"),
        ("ORDER BY T MEASURES x AS m {} PATTERN (A)", "t m x k y j"),
    ],
)
def test_all_rows(clause: str, expected: str, mode: str) -> None:
    """Partition columns, order columns, measures, then the rest in the order of the input."""
    assert columns(clause.format(f"ALL ROWS PER MATCH {mode}")) == expected.split()


def test_a_repeated_key_is_one_column() -> None:
    plan = local.plan_clause("PARTITION BY k, k ORDER BY t, t DESC ALL ROWS PER MATCH PATTERN (A)", _SCHEMA)
    assert [name for name, _ in plan.finished] == ["k", "t", "x", "y", "j"]


def test_no_columns_at_all_still_gives_rows() -> None:
    assert local.run("PATTERN (A)", _ROWS, _SCHEMA) == [{}, {}, {}]


def test_exclusion_without_effect_in_one_row() -> None:
    clause = "ORDER BY t MEASURES count(*) AS n, sum(B.x) AS s PATTERN (A {- B -} C)"
    assert local.run(clause, _ROWS, _SCHEMA) == [{"n": 3, "s": 2}]


def test_exclusion_hides_rows_but_not_their_values() -> None:
    clause = (
        "ORDER BY t MEASURES count(*) AS n, sum(B.x) AS s, FINAL sum(x) AS f ALL ROWS PER MATCH PATTERN (A {- B -} C)"
    )
    shown = [(row["t"], row["n"], row["s"], row["f"]) for row in local.run(clause, _ROWS, _SCHEMA)]
    assert shown == [(1, 1, None, 6), (3, 3, 2, 6)]


def test_exclusion_and_unmatched_rows() -> None:
    clause = "ORDER BY t {} PATTERN (A {{- B -}} C) DEFINE A AS x > 0"
    with pytest.raises(BindingError) as caught:
        local.run(clause.format("ALL ROWS PER MATCH WITH UNMATCHED ROWS"), _ROWS, _SCHEMA)
    assert caught.value.cure
    for mode in ("SHOW EMPTY MATCHES", "OMIT EMPTY MATCHES"):
        assert len(local.run(clause.format(f"ALL ROWS PER MATCH {mode}"), _ROWS, _SCHEMA)) == 2


def test_overlapping_matches_show_their_rows_twice() -> None:
    clause = """ORDER BY t MEASURES MATCH_NUMBER() AS n ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B)"""
    shown = [(row["n"], row["t"]) for row in local.run(clause, _ROWS, _SCHEMA)]
    assert shown == [(1, 1), (1, 2), (2, 2), (2, 3)]


def test_unmatched_rows_of_overlapping_matches() -> None:
    """A row that some match covers is not unmatched, wherever the search went on."""
    rows = [{"x": x, "t": t, "k": "p", "y": 0, "j": "q"} for t, x in enumerate([0, 1, 1, 0, 0, 1])]
    clause = """ORDER BY t MEASURES MATCH_NUMBER() AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS
        AFTER MATCH SKIP TO NEXT ROW PATTERN (A B B) DEFINE B AS x = 1"""
    shown = [(row["t"], row["n"]) for row in local.run(clause, rows, _SCHEMA)]
    # 0-2 is the only match; 1 and 2 start none, but are covered. 3, 4 and 5 are unmatched.
    assert shown == [(0, 1), (1, 1), (2, 1), (3, None), (4, None), (5, None)]
