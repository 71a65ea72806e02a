"""Rows that nobody sees are dropped, without Spark, against the oracle: it must never show."""

from __future__ import annotations

import numba
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import local
import naive
from properties.prefilter_strategies import COLUMNS, KEYS, Case, spaced_cases
from properties.render import render_clause
from properties.test_matcher import assert_same
from trellis.errors import DataError

more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 3))


@more
@given(case=spaced_cases(), off=st.sampled_from([(), (), (), ("derive_window",), ("hoist_slots",), ("merge_states",)]))
def test_elimination(case: Case, off: tuple[str, ...]) -> None:
    clause, schema = render_clause(case.query), [(name, "int") for name in COLUMNS]
    schema = [(name, {"t": KEYS[case.key].lower(), "k": "string"}.get(name, type_)) for name, type_ in schema]
    plan = local.plan_clause(clause, schema, off=list(off))
    how = "before the exchange" if plan.before.keep else "after the sort" if plan.neighbours else "not"
    event(f"rows are dropped {how}")
    rows = [{**row, "t": case.to_key(row["t"])} for row in case.rows]
    try:
        expected = naive.run(rows, COLUMNS, case.query, limit=20_000)
    except naive.TooManyCandidates:
        assume(False)
    except naive.SkipError:
        with pytest.raises(DataError, match="SKIP"):
            local.run(clause, rows, schema, off=list(off))
        return
    event(f"output rows: {'some' if expected else 'none'}")
    assert_same(local.run(clause, rows, schema, off=list(off)), expected, ())
