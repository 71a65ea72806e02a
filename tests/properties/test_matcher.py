"""The matcher against the oracle, without Spark: random patterns, conditions, rows, skip and output modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numba
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import local
import naive
from naive import NaiveQuery
from properties.render import render_clause
from properties.strategies import cases, row_local_cases, timeout_cases, unordered_measures
from trellis.errors import DataError

_SCHEMA = [("id", "int"), ("k", "int"), ("t", "int"), ("x", "int"), ("y", "double"), ("s", "string"), ("b", "boolean")]

Case = tuple[list[dict[str, Any]], list[str], NaiveQuery]

# Thousands of cases in a normal run. Without the JIT a case takes a hundred times as long.
more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 5))

hints = st.fixed_dictionaries(
    {
        "off": st.lists(
            st.sampled_from(
                ["hoist_slots", "merge_states", "skip_search", "fix_distances", "drop_redundant", "no_match"]
            ),
            unique=True,
        ),
        "search": st.sampled_from(["auto", "backtrack"]),
        "chunk_rows": st.sampled_from([1, 4, 1000]),
        "batch_rows": st.sampled_from([1, 3, 1000]),
    }
)


def check(case: Case, options: dict[str, Any]) -> None:
    """Trellis and the oracle must give the same rows, or both refuse the skip."""
    rows, columns, query = case
    try:
        expected = naive.run(rows, columns, query, limit=20_000)
    except naive.TooManyCandidates:
        assume(False)
    except naive.SkipError:
        with pytest.raises(DataError, match="SKIP"):
            local.run(render_clause(query), rows, _SCHEMA, **options)
        return
    actual = local.run(render_clause(query), rows, _SCHEMA, **options)
    assert_same(actual, expected, unordered_measures(query))


def assert_same(actual: Sequence[dict[str, Any]], expected: Sequence[dict[str, Any]], unordered: Sequence[str]) -> None:
    """Equal rows in equal order; floats of variances nearly, arrays of distinct values in any order."""
    assert len(actual) == len(expected), (actual, expected)
    for ours, theirs in zip(actual, expected, strict=True):
        assert list(ours) == list(theirs)
        for name, value in theirs.items():
            mine = ours[name]
            if name in unordered and mine is not None:
                mine, value = sorted(mine), sorted(value)
            if isinstance(value, float) and isinstance(mine, float):
                assert math.isclose(mine, value, rel_tol=1e-9, abs_tol=1e-9), (name, actual, expected)
            else:
                assert mine == value, (name, actual, expected)


@more
@given(cases(), hints)
def test_matcher_is_naive(case: Case, options: dict[str, Any]) -> None:
    check(case, options)


@more
@given(timeout_cases(), hints)
def test_timeouts_are_naive(case: Case, options: dict[str, Any]) -> None:
    check(case, options)


@more
@given(row_local_cases(), hints)
def test_matcher_is_naive_where_conditions_look_at_rows_only(case: Case, options: dict[str, Any]) -> None:
    check(case, options)
