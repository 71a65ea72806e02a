"""Series of segment queries in several calls: wherever they are cut, the matches are those of the whole series."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

import local
from properties.segment_strategies import SCHEMA, Case, measured_cases, plain_cases, skip_cases
from properties.test_segments import is_circular
from trellis.algebra.segments import SegmentScan
from trellis.errors import DataError, UnsupportedError
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.open_series import EVER, OpenSeries, rows_after
from trellis.execution.segments.matcher import SegmentMatcher
from trellis.planning.segments.choose import choose_tree

_SCHEMA = [*SCHEMA, ("ts", "timestamp_ntz")]
windows = st.sampled_from(["none", "time", "time", "rows", "rows"])
more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 2))


def check(case: Case, data: DataObject, *clauses: Any) -> None:
    try:
        compare(case, data, bounded(case.clause(*clauses), data.draw(windows), data.draw(st.integers(1, 4))))
    except UnsupportedError:
        assume(not is_circular(case))
        raise


def bounded(clause: str, window: str, width: int) -> str:
    """The clause with a window around all matches: only then is something settled before the end."""
    if window == "none":
        return clause
    lines = clause.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("PATTERN"))
    lines[place] = f"PATTERN ({lines[place].removeprefix('PATTERN ')} & ALL_ROWS)"
    bound = f"window(1, {width + 1})" if window == "rows" else f"window(ts, 0, {width}, SECOND)"
    before = f"{lines[place + 1]}, " if place + 1 < len(lines) else "DEFINE "
    return "\n".join([*lines[: place + 1], f"{before}SEGMENT ALL_ROWS AS {bound}"])


def compare(case: Case, data: DataObject, clause: str) -> None:
    plan = local.plan_clause(clause, _SCHEMA)
    assert isinstance(plan.scan, SegmentScan)
    table = local.sorted_rows(plan, [{**row, "ts": at(row["t"])} for row in case.rows], _SCHEMA)
    for chunk in read_chunks(iter(table.to_batches()), plan.scan.keys, 1):
        length = chunk.table.num_rows
        cuts = sorted(data.draw(st.lists(st.integers(0, length), max_size=5)))
        try:
            expected = [row for batch in matcher(plan.scan).run(chunk) for row in batch.to_pylist()]
        except DataError:
            with pytest.raises(DataError, match="SKIP"):
                fed(plan.scan, chunk, [*cuts, length], data)
            continue
        assert_same(*in_order(plan.scan, fed(plan.scan, chunk, [*cuts, length], data, expected), expected))


def at(second: int) -> datetime:
    return datetime(2024, 1, 1) + timedelta(seconds=second)


def in_order(plan: SegmentScan, *found: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows as they come; where all matches are wanted, their order means nothing."""
    return [sorted(rows, key=repr) if matcher(plan).apart else rows for rows in found]


def fed(
    plan: SegmentScan, chunk: Chunk, ends: list[int], data: DataObject, expected: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """The output for one series, handed over up to each of the ends in turn; sometimes it is known when rows come.

    Of what is `expected` in the end, all that is known comes at once, where matches do not depend on each other.
    """
    windows = plan.tree.window.times
    times = chunk.column(plan.slots[windows[0].slot].column).cast("int64").to_pylist() if windows else []
    plan = replace(plan, time=plan.slots[windows[0].slot].column) if windows else plan
    search, state, output = matcher(plan), OpenSeries.new(1), []
    horizon = EVER
    for number, end in enumerate(ends):
        first = int(state.first[0])
        piece = chunk.table.slice(first, end - first)
        last = number == len(ends) - 1
        if end < len(times) and data.draw(st.booleans()):
            horizon = int(times[end])  # and so it is from now on: a watermark does not go back
        piece = Chunk(piece, np.array([0, piece.num_rows]))
        batches, after, _, _ = search.resume(piece, state, np.array([last]), horizon)
        assert state.first <= after.first <= after.start <= end and after.start >= state.start
        assert not last or after.start == end
        event("settled before the end" if after.start > 0 and not last else "all at the end")
        state = after
        output += [row for batch in batches for row in batch.to_pylist()]
        if search.apart and expected is not None and not last:
            known = [row for row in expected if row["__m2"] + rows_after(plan) < end]
            event("known before its window has closed" if len(known) > int(state.start[0]) else "known later")
            assert_same(*in_order(plan, output, known))
    assert state.matches == 0 or output
    return output


def matcher(plan: SegmentScan) -> SegmentMatcher:
    return SegmentMatcher(plan, {}, choose_tree)


def assert_same(actual: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Equal rows; sums that begin at another row may differ in their last digits."""
    assert len(actual) == len(expected), (actual, expected)
    for ours, theirs in zip(actual, expected, strict=True):
        for name, value in theirs.items():
            if isinstance(value, float) and isinstance(ours[name], float):
                assert math.isclose(ours[name], value, rel_tol=1e-9, abs_tol=1e-9), (name, ours, theirs)
            else:
                assert ours[name] == value, (name, ours, theirs)


@more
@given(plain_cases(), st.data())
def test_all_matches(case: Case, data: DataObject) -> None:
    check(case, data)


@more
@given(skip_cases(), st.data())
def test_skips(drawn: tuple[Case, str, tuple[str, ...]], data: DataObject) -> None:
    case, text, _ = drawn
    check(case, data, ("MATCH_NUMBER() AS number",), f"AFTER MATCH SKIP {text}")


@more
@given(measured_cases(), st.data())
def test_measures(drawn: tuple[Case, list[tuple[str | None, str, Any]]], data: DataObject) -> None:
    case, measures = drawn
    check(case, data, [f"{text} AS m{place}" for place, (_, text, _) in enumerate(measures)])


@pytest.mark.parametrize(
    ("bound", "undecided"),
    [
        ("window(1, 3)", 4),  # the window from row 3 ends with the last row
        ("window(ts, 0, 2, SECOND)", 3),  # a row at the time of the last one may come
        ("window(1, 9)", 0),
        ("true", 0),
    ],
)
def test_undecided(bound: str, undecided: int) -> None:
    clause = f"ORDER BY t MEASURES first(t) AS s PATTERN (X) DEFINE SEGMENT X AS {bound}"
    plan = local.plan_clause(clause, _SCHEMA)
    assert isinstance(plan.scan, SegmentScan)
    rows = [{"k": 1, "t": number, "v": number, "u": number, "ts": at(number)} for number in range(6)]
    table = local.sorted_rows(plan, rows, _SCHEMA)
    batches, state, _, _ = matcher(plan.scan).resume(
        Chunk(table, np.array([0, 6])), OpenSeries.new(1), np.array([False])
    )
    found = [row["__m0"] for batch in batches for row in batch.to_pylist()] if batches else []
    assert (state.start, state.first, state.matches) == (undecided, undecided, len(found))
    # But all matches are known whose last row is there, whatever else begins with their first.
    most = {"window(1, 3)": 3, "window(ts, 0, 2, SECOND)": 3}.get(bound, 6)
    assert len(found) == sum(min(most, 6 - first) for first in range(6))


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("X & C", "SEGMENT X AS window(1, 2), C AS prev(v, 2) = 1"),
        ("X", "SEGMENT X AS window(1, 2) AND prev(first(X.v), 2) = 1"),
    ],
)
def test_rows_before_a_segment_are_kept_as_long_as_conditions_read_them(pattern: str, define: str) -> None:
    clause = f"ORDER BY t MEASURES first(t) AS s PATTERN ({pattern}) DEFINE {define}"
    plan = local.plan_clause(clause, _SCHEMA)
    assert isinstance(plan.scan, SegmentScan)
    rows = [{"k": 1, "t": number, "v": number, "u": number, "ts": at(number)} for number in range(6)]
    table = local.sorted_rows(plan, rows, _SCHEMA)
    expected = [row for batch in matcher(plan.scan).run(Chunk(table, np.array([0, 6]))) for row in batch.to_pylist()]
    assert expected
    state, found = OpenSeries.new(1), []
    for end in range(1, 7):
        first = int(state.first[0])
        piece = Chunk(table.slice(first, end - first), np.array([0, end - first]))
        batches, state, _, _ = matcher(plan.scan).resume(piece, state, np.array([end == 6]))
        found += [row for batch in batches for row in batch.to_pylist()]
    assert found == expected


def test_rows_that_a_match_has_skipped_stay_skipped() -> None:
    """Also while rows before the search are kept for conditions that look back."""
    clause = (
        "ORDER BY t MEASURES first(t) AS s, last(t) AS e AFTER MATCH SKIP PAST LAST ROW "
        "PATTERN (X) DEFINE SEGMENT X AS window(2, 2) AND (prev(first(X.v), 2) IS NULL OR first(X.v) >= 0)"
    )
    plan = local.plan_clause(clause, _SCHEMA)
    assert isinstance(plan.scan, SegmentScan)
    rows = [{"k": 1, "t": number, "v": number, "u": number, "ts": at(number)} for number in range(4)]
    table = local.sorted_rows(plan, rows, _SCHEMA)
    state, found = OpenSeries.new(1), []
    for end in (2, 2, 4, 4):
        first = int(state.first[0])
        piece = Chunk(table.slice(first, end - first), np.array([0, end - first]))
        batches, state, _, _ = matcher(plan.scan).resume(piece, state, np.array([False]))
        found += [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        assert state.start == end
    assert found == [(0, 1), (2, 3)]
