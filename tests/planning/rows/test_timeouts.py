"""Where matches that timed out are wanted, rules leave alone what only whole matches can spare."""

from __future__ import annotations

from typing import Any

import pytest

import local
from trellis.algebra.automaton import AutomatonScan, Search
from trellis.algebra.query import Query
from trellis.errors import UnsupportedError
from trellis.languages.match_recognize import parse_clause_text
from trellis.languages.statement import parse_statement
from trellis.planning.describe.plan import describe_plan

_SCHEMA = [("k", "int"), ("t", "int"), ("x", "int"), ("c", "string")]


def clause(pattern: str, define: str) -> str:
    return f"""PARTITION BY k ORDER BY t MEASURES FIRST(t) AS s ONE ROW PER MATCH SHOW TIMEOUT MATCHES
        PATTERN ({pattern}) WITHIN 10 DEFINE {define}"""


def timed(query: str | Query, **hints: Any) -> AutomatonScan:
    """The search of a query that was planned without dropping rows."""
    plan = local.plan_clause(query, _SCHEMA, **hints)
    assert plan.before.keep is None and plan.before.prefilter is None and plan.before.slices is None
    assert plan.neighbours is None
    assert isinstance(plan.scan, AutomatonScan)
    assert plan.scan.timeouts and plan.scan.search is Search.BACKTRACKING and plan.scan.skips is None
    return plan.scan


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("A Z* B", "A AS c = 'a', B AS c = 'b'"),  # rows that nobody sees would be dropped
        ("A Z* B", "A AS c = 'a', B AS c = 'b' AND x > PREV(x)"),
        ("A B", "A AS c = 'a', B AS x > 3 AND x < 2"),  # no match at all
        ("A B+ C", "A AS x > 1, B AS x > 2, C AS x < 2"),  # rows would be skipped
    ],
)
def test_no_rows_are_dropped(pattern: str, define: str) -> None:
    timed(clause(pattern, define))
    timed(clause(pattern, define), prefilter="always")
    timed(clause(pattern, define), slices=4)
    timed(clause(pattern, define), rewrite="always")


def test_explain_says_why() -> None:
    text = clause("A Z*? B", "A AS c = 'a', B AS c = 'b'")
    explained = describe_plan(parse_clause_text(text), local.plan_clause(text, _SCHEMA))
    assert "ONE ROW PER MATCH SHOW TIMEOUT MATCHES\n" in explained
    assert "none: matches that timed out need not contain what whole ones do" in explained
    assert "ONE ROW PER MATCH SHOW TIMEOUT MATCHES, SKIP PAST LAST ROW" in explained
    assert "search: backtracking, from each row to the end of its window" in explained


def test_sequences() -> None:
    text = "SELECT X.t FROM t SEQUENCE BY t AS (X, *Y, Z) WITHIN 10 SHOW TIMEOUT MATCHES WHERE Y.x > 1 AND Z.x < 1"
    timed(parse_statement(text).clauses[0].query)


def test_functions_of_segments() -> None:
    """Such a row pattern is searched as segments, or not at all."""
    with pytest.raises(UnsupportedError, match="cannot be rewritten"):
        local.plan_clause(clause("A+ B", "B AS linear_regression_r2(A.t, A.x) > 1"), _SCHEMA)
