"""Where Spark casts text without being asked: such conditions are not tested before the match."""

from __future__ import annotations

import pytest

import local

SCHEMA = [("t", "int"), ("k", "string"), ("s", "string"), ("v", "int")]
CASTS = ["k = 1", "1 < k", "k IN ('a', 3)", "k + 1 > 2", "abs(k) > 2", "coalesce(k, 0) = 1", "k || s > v"]
CASTS += ["upper(k) = v", "if(v > 1, k, 0) = 0", "k BETWEEN 1 AND 3", "CASE WHEN v > 1 THEN k ELSE 1 END = 1"]
PLAIN = ["k = 'a'", "k < s", "k IN ('a', 'b')", "v = '3'", "coalesce(k, 'x') = 'a'", "length(k) > 1", "k IS NULL"]
PLAIN += ["CASE WHEN v > 1 THEN k ELSE s END = 'a'", "k = NULL OR k = 'a'", "if(v > 1, k, 'a') = s"]


def _keeps(condition: str) -> bool:
    clause = f"ORDER BY t MEASURES A.v AS a PATTERN (A Z* B) DEFINE A AS k = 'a', B AS {condition}"
    return local.plan_clause(clause, SCHEMA).before.keep is not None


@pytest.mark.parametrize("condition", CASTS)
def test_casts(condition: str) -> None:
    assert not _keeps(condition)


@pytest.mark.parametrize("condition", PLAIN)
def test_plain(condition: str) -> None:
    assert _keeps(condition)
