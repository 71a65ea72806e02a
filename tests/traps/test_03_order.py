"""Trap 3: ties and NULLs in ORDER BY."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

import local
from trellis.algebra.plan import Plan
from trellis.errors import BindingError

_SCHEMA = [("t", "int"), ("s", "string"), ("x", "int")]
_VALUES = [3, None, 1, 2, None]


def order_of(order_by: str) -> list[Any]:
    """The values of t in the order in which the matcher sees them."""
    rows = [{"t": value, "s": "s", "x": number} for number, value in enumerate(_VALUES)]
    clause = f"ORDER BY {order_by} MEASURES count(*) AS n ALL ROWS PER MATCH PATTERN (A+)"
    found = local.run(clause, rows, _SCHEMA)
    assert [row["n"] for row in found] == [1, 2, 3, 4, 5]
    return [row["t"] for row in found]


@pytest.mark.parametrize(
    ("order_by", "expected"),
    [
        ("t", [None, None, 1, 2, 3]),
        ("t ASC", [None, None, 1, 2, 3]),
        ("t NULLS FIRST", [None, None, 1, 2, 3]),
        ("t NULLS LAST", [1, 2, 3, None, None]),
        ("t DESC", [3, 2, 1, None, None]),
        ("t DESC NULLS LAST", [3, 2, 1, None, None]),
        ("t DESC NULLS FIRST", [None, None, 3, 2, 1]),
        ("-t", [None, None, 3, 2, 1]),
        ("s, t DESC", [3, 2, 1, None, None]),
        ("coalesce(t, 9)", [1, 2, 3, None, None]),
    ],
)
def test_where_nulls_go(order_by: str, expected: list[Any]) -> None:
    """NULLs come first in ascending order and last in descending order, as in Spark, unless it is written."""
    assert order_of(order_by) == expected


def test_ties_come_out_the_same_whatever_the_order_of_the_input() -> None:
    rows = [{"t": t, "s": s, "x": x} for t, s, x in itertools.product((1, 2), "ab", (1, 2, 3))]
    clause = """ORDER BY t MEASURES MATCH_NUMBER() AS n, FINAL array_agg(x) AS xs, FINAL array_agg(s) AS ss
        ALL ROWS PER MATCH PATTERN (A UP*) DEFINE UP AS x > PREV(x)"""
    first = local.run(clause, rows, _SCHEMA)
    shuffler = random.Random(7)
    for _ in range(10):
        shuffler.shuffle(rows)
        assert local.run(clause, rows, _SCHEMA) == first


def test_a_second_key_breaks_ties() -> None:
    rows = [{"t": 1, "s": "b", "x": 1}, {"t": 1, "s": "a", "x": 2}, {"t": 0, "s": "c", "x": 3}]
    clause = "ORDER BY t, s MEASURES array_agg(x) AS xs PATTERN (A+)"
    assert local.run(clause, rows, _SCHEMA) == [{"xs": [3, 2, 1]}]
    descending = "ORDER BY t, s DESC MEASURES array_agg(x) AS xs PATTERN (A+)"
    assert local.run(descending, rows, _SCHEMA) == [{"xs": [3, 1, 2]}]


def test_prev_follows_the_order_that_was_asked_for() -> None:
    rows = [{"t": t, "s": "s", "x": 10 * t} for t in (1, 2, 3)]
    clause = "ORDER BY t DESC MEASURES PREV(x) AS p, NEXT(x) AS q ALL ROWS PER MATCH PATTERN (A+)"
    found = [(row["t"], row["p"], row["q"]) for row in local.run(clause, rows, _SCHEMA)]
    assert found == [(3, None, 20), (2, 30, 10), (1, 20, None)]


def test_null_is_one_partition() -> None:
    rows = [{"t": None, "s": "s", "x": 1}, {"t": 1, "s": "s", "x": 2}, {"t": None, "s": "s", "x": 3}]
    clause = "PARTITION BY t ORDER BY x MEASURES array_agg(x) AS xs PATTERN (A+)"
    assert local.run(clause, rows, _SCHEMA) == [{"t": None, "xs": [1, 3]}, {"t": 1, "xs": [2]}]


def test_comparison_with_null_is_not_true() -> None:
    rows = [{"t": number, "s": "s", "x": x} for number, x in enumerate((1, None, 2, 3))]
    clause = "ORDER BY t MEASURES array_agg(t) AS ts PATTERN (A UP*) DEFINE UP AS x > PREV(x)"
    assert local.run(clause, rows, _SCHEMA) == [{"ts": [0]}, {"ts": [1]}, {"ts": [2, 3]}]
    # NOT UNKNOWN is UNKNOWN: the row does not fit either.
    clause = "ORDER BY t MEASURES array_agg(t) AS ts PATTERN (A UP*) DEFINE UP AS NOT (x > PREV(x))"
    assert local.run(clause, rows, _SCHEMA) == [{"ts": [0]}, {"ts": [1]}, {"ts": [2]}, {"ts": [3]}]


@pytest.mark.parametrize(
    "key", ["FIRST(t)", "PREV(t)", "CLASSIFIER()", "MATCH_NUMBER()", "count(*)", "A.t", "sum(t)", "nothing"]
)
def test_keys_cannot_look_at_the_match(key: str) -> None:
    for clause in (f"ORDER BY {key} PATTERN (A)", f"PARTITION BY {key} ORDER BY t PATTERN (A)"):
        with pytest.raises(BindingError):
            local.run(clause, [], _SCHEMA)


def sorted_by(plan: Plan) -> list[str]:
    """What a plan sorts by, as text."""
    expressions = {name: str(expression) for name, expression in plan.projected}
    return [expressions[name] for name, _, _ in plan.sorted_by]


def test_ties_are_sorted_by_a_hash_of_what_the_query_reads() -> None:
    clause = "PARTITION BY s ORDER BY t MEASURES A.x AS a PATTERN (A B) DEFINE B AS x > PREV(x)"
    tie = "xxhash64(`t`, `s`, `x`)"
    assert sorted_by(local.plan_clause(clause, _SCHEMA)) == ["`s`", "`t`", tie, "`x`"]
    # Computed columns do not change it.
    clause = "ORDER BY t MEASURES A.t AS a PATTERN (A B) DEFINE B AS abs(x) > 2 OR abs(PREV(x)) > 1"
    for off in ([], ["hoist_slots"]):
        assert sorted_by(local.plan_clause(clause, _SCHEMA, off=off))[:2] == ["`t`", "xxhash64(`t`, `x`)"]
    segments = "PARTITION BY s ORDER BY t PATTERN (S) DEFINE SEGMENT S AS window(2, 3) AND corr(x, t) > 0.5"
    assert sorted_by(local.plan_clause(segments, _SCHEMA))[:3] == ["`s`", "`t`", tie]


def test_all_rows_read_all_columns() -> None:
    clause = "ORDER BY t ALL ROWS PER MATCH PATTERN (A) DEFINE A AS x > 1"
    assert sorted_by(local.plan_clause(clause, _SCHEMA))[:2] == ["`t`", "xxhash64(`t`, `s`, `x`)"]


def test_rows_that_the_keys_tell_apart_need_no_hash() -> None:
    clause = "PARTITION BY s ORDER BY t, x MEASURES A.x AS a PATTERN (A B) DEFINE B AS x > PREV(x)"
    assert sorted_by(local.plan_clause(clause, _SCHEMA)) == ["`s`", "`t`", "`x`"]


def test_columns_that_cannot_be_hashed_take_no_part() -> None:
    schema = [*_SCHEMA, ("m", "map<string,int>"), ("v", "array<variant>")]
    clause = "ORDER BY t MEASURES A.m AS m, A.v AS v, A.x AS x PATTERN (A)"
    assert sorted_by(local.plan_clause(clause, schema)) == ["`t`", "xxhash64(`t`, `x`)", "`x`"]
    clause = "ORDER BY t MEASURES A.m AS m PATTERN (A)"
    assert sorted_by(local.plan_clause(clause, schema)) == ["`t`"]


def test_ties_do_not_drift() -> None:
    """Nothing rises or falls in these rows; sorted by value, most would be followed by a greater one."""
    drawn = random.Random(1)
    rows = [{"t": n // 10, "s": "s", "x": drawn.randrange(50)} for n in range(3000)]
    clause = "ORDER BY t MEASURES A.x AS a AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE B AS x {} PREV(x)"
    rises, falls = (len(local.run(clause.format(sign), rows, _SCHEMA)) for sign in "><")
    assert 0.85 < rises / falls < 1 / 0.85
