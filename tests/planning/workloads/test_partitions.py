"""Columns that partition a workload, however they are named."""

from __future__ import annotations

import pytest

from local_workloads import plan_patterns, run_plan

SCHEMA = [("k", "string"), ("time", "int"), ("type", "string")]
ROWS = [{"k": k, "time": time, "type": type_} for time, (k, type_) in enumerate(zip("abab", "AABB", strict=True))]
PATTERNS = {"p": "PATTERN SEQ(A a, B b) WITHIN 9", "q": "PATTERN SEQ(A a, B b) WHERE { [k] } WITHIN 9"}


@pytest.mark.parametrize("names", [("k", "k"), ("K",), ("k", "K")])
@pytest.mark.parametrize("some", [("p",), ("q",), ("p", "q")])
def test_a_column_that_is_named_twice_partitions_once(names: tuple[str, ...], some: tuple[str, ...]) -> None:
    patterns = {name: PATTERNS[name] for name in some}
    once, twice = (run_plan(plan_patterns(patterns, SCHEMA, by), ROWS, SCHEMA) for by in (("k",), names))
    assert [tuple(row.values()) for row in twice] == [tuple(row.values()) for row in once]
    assert len(once) == 2 * len(some)
