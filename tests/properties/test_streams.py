"""However a stream is cut into micro-batches, in whatever order rows come within the watermark: the batch result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numba
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

import local
from naive import NaiveQuery
from naive_sase import EventQuery
from naive_sqlts import Query as SequenceQuery
from naive_sqlts import SortKey
from properties import test_events, test_sqlts
from properties.render import render_clause
from properties.segment_strategies import Case as SegmentCase
from properties.segment_strategies import measured_cases
from properties.strategies import cases, timeout_cases
from properties.test_matcher import _SCHEMA
from properties.test_open_segments import _SCHEMA as SEGMENT_SCHEMA
from properties.test_open_segments import assert_same, at, bounded
from properties.test_segments import is_circular
from streams import FAR, run_stream
from trellis.algebra.plan import Plan
from trellis.algebra.query import Query
from trellis.errors import DataError, UnsupportedError
from trellis.languages.sase import parse_sase_text
from trellis.languages.statement import parse_statement

Case = tuple[list[dict[str, Any]], list[str], NaiveQuery]


def arrivals(times: list[int], data: DataObject, unit: int = 1) -> tuple[list[list[int]], int]:
    """Micro-batches of rows, none of which is late, and the delay of the watermark."""
    noise = data.draw(st.lists(st.integers(0, 3), min_size=len(times), max_size=len(times)))
    order = sorted(range(len(times)), key=lambda number: times[number] + noise[number] * unit)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(times)), max_size=6)))
    batches = [order[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    greatest, needed = -FAR, 0
    for batch in batches:
        needed = max([needed, *(greatest - times[number] for number in batch)])
        greatest = max([greatest, *(times[number] for number in batch)])
    return batches, needed + unit * data.draw(st.sampled_from((0, 0, 1, 5)))


def on_a_stream(case: Case) -> tuple[list[dict[str, Any]], str]:
    """A query in the order of time, over rows that have one."""
    rows, _, query = case
    others = tuple(key for key in query.order_by if key[0] != "t")
    clause = render_clause(replace(query, order_by=(("t", False, True), *others)))
    return [row for row in rows if row["t"] is not None], clause


more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 4))


@more
@given(case=st.one_of(cases(), cases(row_local=True), timeout_cases()), data=st.data())
def test_row_patterns(case: Case, data: DataObject) -> None:
    rows, clause = on_a_stream(case)
    assume(rows)
    try:
        plan = local.plan_clause(clause, _SCHEMA, watermark="t", allow_unbounded=True)
        expected = local.run(clause, rows, _SCHEMA)
    except (UnsupportedError, DataError):
        assume(False)
    table = local.sorted_rows(plan, rows, _SCHEMA)
    times = table.column(plan.stream.time).to_pylist()
    batches, delay = arrivals(times, data)
    stream = run_stream(plan, table, batches, times, delay)
    assert stream.late == 0
    event("found before the end" if stream.found else "no match")
    assert sorted(map(repr, stream.found)) == sorted(map(repr, expected))


def check_stream(
    plan: Plan, written: Query, rows: list[dict[str, Any]], schema: Sequence[tuple[str, str]], data: DataObject
) -> None:
    """However its rows arrive, a stream finds what a table of them has."""
    table = local.sorted_rows(plan, rows, schema)
    assert plan.stream is not None
    times = table.column(plan.stream.time).to_pylist()
    batches, delay = arrivals(times, data)
    stream = run_stream(plan, table, batches, times, delay)
    expected = local.run(written, rows, schema)
    event("matches" if expected else "no match")
    assert sorted(map(repr, stream.found)) == sorted(map(repr, expected))


@more
@given(
    st.one_of(test_sqlts.queries(), test_sqlts.row_queries(), test_sqlts.window_queries()),
    test_sqlts.tables(),
    st.data(),
)
def test_sequences(query: SequenceQuery, rows: list[dict[str, Any]], data: DataObject) -> None:
    """SQL-TS: stars give nothing back."""
    rows = [row for row in rows if row["t"] is not None]
    assume(rows)
    query = replace(query, sequence_by=(SortKey("t"), SortKey("id")))
    written = parse_statement(test_sqlts.text_of(query)).clauses[0].query
    try:
        plan = local.plan_clause(written, test_sqlts._SCHEMA, watermark="t", allow_unbounded=True)
    except UnsupportedError:
        assume(False)
    check_stream(plan, written, rows, test_sqlts._SCHEMA, data)


@more
@given(st.one_of(test_events.queries(), test_events.hurried()), test_events.streams(), st.data())
def test_event_patterns(query: EventQuery, rows: list[dict[str, Any]], data: DataObject) -> None:
    assume(rows)
    # Refused on streams: see `plan_stream`.
    assume(not (query.timeouts and query.non_overlap and query.components[0].negated))
    written = parse_sase_text(test_events.render(query), time_columns=("time", "id"))
    plan = local.plan_clause(written, test_events._SCHEMA, watermark="time", allow_unbounded=True)
    check_stream(plan, written, rows, test_events._SCHEMA, data)


@more
@given(measured_cases(), st.data())
def test_segments(drawn: tuple[SegmentCase, list[tuple[str | None, str, Any]]], data: DataObject) -> None:
    case, measures = drawn
    measured = [f"{text} AS m{place}" for place, (_, text, _) in enumerate(measures)]
    width = data.draw(st.integers(1, 4))
    clause = bounded(case.clause(measured), data.draw(st.sampled_from(("time", "rows"))), width)
    clause = clause.replace("ORDER BY t", "ORDER BY ts")
    rows = [{**row, "ts": at(row["t"])} for row in case.rows]
    assume(rows)
    try:
        plan = local.plan_clause(clause, SEGMENT_SCHEMA, watermark="ts")
    except UnsupportedError:
        assume(not is_circular(case))
        raise
    table = local.sorted_rows(plan, rows, SEGMENT_SCHEMA)
    times = table.column(plan.stream.time).cast("int64").to_pylist()
    batches, delay = arrivals(times, data, 1_000_000)
    stream = run_stream(plan, table, batches, times, delay)
    assert stream.late == 0
    expected = local.run(clause, rows, SEGMENT_SCHEMA)
    assert_same(sorted(stream.found, key=repr), sorted(expected, key=repr))
