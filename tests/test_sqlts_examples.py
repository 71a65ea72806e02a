"""The paper's queries against their definitions, on rows of the kind that they look for, without Spark."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

import local
import test_naive_sqlts as paper
from naive_sqlts import Query, results, term
from sqlts_examples import EXAMPLES
from test_naive_sqlts import either, op, pattern, select, times
from trellis.algebra.automaton import AutomatonScan
from trellis.errors import UnsupportedError
from trellis.execution.open_series import check_resumable
from trellis.languages.statement import parse_statement
from trellis.planning.describe.plan import describe_plan

_QUOTES = [("name", "string"), ("date", "int"), ("price", "double")]
_SESSIONS = [("SessNo", "int"), ("ClickTime", "int"), ("PageNo", "int"), ("PageType", "string")]

DEFINITIONS: dict[str, Query] = {
    "2.1": paper.UP_THEN_DOWN,
    "2.2": paper.session_query(
        "X, Y, Z",
        op("X.PageType", "=", "a"),
        op("Y.PageType", "=", "d"),
        op("Z.PageType", "=", "p"),
        output=select("Y.PageNo", "Z.ClickTime"),
    ),
    "2.4": paper.HALVED,
    "2.5": paper.BEFORE_DESCRIPTION,
    "3.2": paper.TWO_DROPS_TWO_RISES,
    "5.1": paper.RISE_FALL_RISE,
    "5.3": paper.M_SHAPE,
    "6.1": paper.RELAXED_DOUBLE_BOTTOM,
    "7.1": Query(
        pattern("X, *Y, Z, *T, U"),
        (
            op("X.price", ">", times(0.98, "X.previous.price")),
            op("Y.price", "<", times(0.98, "Y.previous.price")),
            either(op(times(0.98, "Z.previous.price"), "<", "Z.price"), op("Z.price", ">", 50)),
            op("T.price", ">", times(1.02, "T.previous.price")),
            either(op(times(0.98, "U.previous.price"), "<", "U.price"), op("U.price", ">", 50)),
        ),
        sequence_by=paper.DATE,
        output=select("X.next.date", "X.next.price", "U.previous.date", "U.previous.price"),
    ),
    "7.2": replace(paper.EITHER, output=(term("X.date"), term("T.date"))),
}


def quotes(chance: random.Random) -> list[dict[str, Any]]:
    """Prices that wander between 20 and 70, sometimes in leaps."""
    found = []
    for name in ("IBM", "INTC"):
        price = 50.0
        for date in range(120):
            leap = chance.choice((0.01, 0.03, 0.3))
            price = min(70.0, max(20.0, round(price * (1 + chance.uniform(-leap, leap)), 2)))
            found.append({"name": name, "date": date + (name == "INTC") * 120, "price": price})
    return found


def sessions(chance: random.Random) -> list[dict[str, Any]]:
    return [
        {"SessNo": session, "ClickTime": click, "PageNo": chance.randint(1, 9), "PageType": chance.choice("aadccp")}
        for session in range(3)
        for click in range(60)
    ]


def test_several_patterns_are_explained_and_wait_for_whole_series() -> None:
    query = parse_statement(EXAMPLES["7.2"]).clauses[0].query
    plan = local.plan_clause(query, _QUOTES)
    text = describe_plan(query, plan)
    assert text.count("search: by skipping") == 2
    assert "fails  X#2 Y#2 Z#2 T#2" in text
    assert isinstance(plan.scan, AutomatonScan)
    with pytest.raises(UnsupportedError, match="Several patterns"):
        check_resumable(plan.scan)


@pytest.mark.parametrize("off", [(), ("skip_search",)])
@pytest.mark.parametrize("name", list(EXAMPLES))
def test_example(name: str, off: tuple[str, ...]) -> None:
    clause = parse_statement(EXAMPLES[name]).clauses[0]
    schema, rows_of = (_SESSIONS, sessions) if "{sessions}" in EXAMPLES[name] else (_QUOTES, quotes)
    scan = local.plan_clause(clause.query, schema, off=off).scan
    assert isinstance(scan, AutomatonScan)
    # All can skip but those with a condition on a whole star, and on an element before one.
    assert (scan.skips is None) == (bool(off) or name in ("2.4", "2.5"))
    count = 0
    for seed in range(20):
        rows = rows_of(random.Random(seed))
        if "name = 'IBM'" in clause.input:
            rows = [row for row in rows if row["name"] == "IBM"]
        expected = sorted(results(DEFINITIONS[name], rows))
        found = local.run(clause.query, rows, schema, off=off)
        names = [measure.name for measure in clause.query.measures]
        assert sorted(tuple(row[one] for one in names) for row in found) == expected
        count += len(expected)
    assert count > 0
