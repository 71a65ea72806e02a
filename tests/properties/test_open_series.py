"""Series that come in several calls: wherever they are cut, the matches are those of the whole series."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

import local
import naive
from naive import NaiveQuery
from properties.render import render_clause
from properties.strategies import cases, timeout_cases
from properties.test_matcher import _SCHEMA
from trellis.algebra.automaton import AutomatonScan
from trellis.errors import DataError, UnsupportedError
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.open_series import OpenSeries, check_resumable
from trellis.execution.rows.matcher import RowMatcher

Case = tuple[list[dict[str, Any]], list[str], NaiveQuery]

hints = st.fixed_dictionaries(
    {
        # Rows that nobody sees are dropped by looking at the whole series.
        "off": st.sampled_from(
            [
                ["eliminate_rows", "no_match"],
                ["eliminate_rows", "no_match", "hoist_slots"],
                ["eliminate_rows", "no_match", "merge_states"],
            ]
        ),
        "search": st.sampled_from(["auto", "auto", "backtrack"]),
    }
)


class Feed:
    """A chunk, handed to a matcher piece by piece."""

    def __init__(self, plan: AutomatonScan, chunk: Chunk) -> None:
        self.matcher, self.chunk = RowMatcher(plan), chunk
        self.lengths = np.diff(chunk.offsets).tolist()
        self.states = OpenSeries.new(len(self.lengths))
        self.settled = np.zeros(chunk.table.num_rows, np.bool_)
        self.output: list[list[dict[str, Any]]] = [[] for _ in self.lengths]
        self.all_output: list[dict[str, Any]] = []

    def give(self, numbers: list[int], up_to: list[int], final: list[bool]) -> None:
        """Hand over some of the series, each up to a row."""
        rows = np.concatenate(
            [
                np.arange(self.chunk.offsets[k] + self.states.first[k], self.chunk.offsets[k] + end)
                for k, end in zip(numbers, up_to, strict=True)
            ]
        )
        lengths = [end - int(self.states.first[k]) for k, end in zip(numbers, up_to, strict=True)]
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        table = self.chunk.table.take(pa.array(rows)).combine_chunks()
        chunk = Chunk(table, offsets, settled=self.settled[rows])
        before = OpenSeries(*(column[numbers] for column in self.states))
        batches, after, _, settled = self.matcher.resume(chunk, before, np.array(final))
        if settled is not None:
            assert (settled >= self.settled[rows]).all()
            self.settled[rows] = settled
        assert (before.first <= after.first).all() and (after.first <= after.start).all()
        assert (after.start <= up_to).all() and (before.start <= after.start).all()
        assert (after.start[final] == np.array(up_to)[final]).all() and (before.matches <= after.matches).all()
        for column, values in zip(self.states, after, strict=True):
            column[numbers] = values
        found = [row for batch in batches for row in batch.to_pylist()]
        self.output[numbers[0]] += found
        self.all_output += found


def whole(plan: AutomatonScan, chunk: Chunk) -> list[dict[str, Any]]:
    return [row for batch in RowMatcher(plan).run(chunk) for row in batch.to_pylist()]


def prepared(clause: str, rows: list[dict[str, Any]], options: dict[str, Any]) -> tuple[AutomatonScan, Chunk | None]:
    plan = local.plan_clause(clause, _SCHEMA, **options)
    assert plan.before.keep is None and plan.neighbours is None
    try:
        check_resumable(plan.scan)
    except UnsupportedError:  # functions of two rows, or of MATCH_NUMBER()
        assume(False)
    table = local.sorted_rows(plan, rows, _SCHEMA)
    chunks = list(read_chunks(iter(table.to_batches()), plan.scan.keys, 1000))
    return plan.scan, chunks[0] if chunks else None


@given(case=st.one_of(cases(), cases(row_local=True), timeout_cases()), options=hints, data=st.data())
def test_a_series_at_a_time(case: Case, options: dict[str, Any], data: DataObject) -> None:
    rows, columns, query = case
    try:
        naive.run(rows, columns, query, limit=20_000)
    except naive.TooManyCandidates:
        assume(False)
    except naive.SkipError:
        pass
    plan, chunk = prepared(render_clause(query), rows, options)
    assume(chunk is not None)
    assert chunk is not None
    feed = Feed(plan, chunk)
    for k, length in enumerate(feed.lengths):
        single = Chunk(chunk.table.slice(int(chunk.offsets[k]), length), np.array([0, length]))
        cuts = sorted(data.draw(st.lists(st.integers(0, length), max_size=6)))
        try:
            expected = whole(plan, single)
        except DataError:
            with pytest.raises(DataError, match="SKIP"):
                for end in cuts:
                    feed.give([k], [end], [False])
                feed.give([k], [length], [True])
            continue
        for end in cuts:
            feed.give([k], [end], [False])
            event("settled before the end" if feed.states.start[k] > 0 else "nothing settled")
        feed.give([k], [length], [True])
        if feed.matcher.apart:
            assert sorted(map(repr, feed.output[k])) == sorted(map(repr, expected))
        else:
            assert feed.output[k] == expected


# What begins at a row ends with a row like it, with one of two, with none of some in between, or soon.
WAITING = (
    "PATTERN (A ANY_ROW*? B) DEFINE A AS b, B AS NOT b AND x = 1",
    "PATTERN (A ANY_ROW*? B) DEFINE A AS b, B AS NOT b AND x = A.x",
    "PATTERN (A ANY_ROW* B) WITHIN 4 DEFINE A AS b, B AS NOT b AND x >= A.x",
    "PATTERN (A (B{2} | ANY_ROW? $)) DEFINE A AS b, B AS x = A.x",
    "PATTERN (A+ B*? C) DEFINE A AS b, B AS x <> A.x AND count(B.x) < 3, C AS x = sum(A.x)",
    "PATTERN (A B*? C) DEFINE A AS b, B AS x > 0, C AS x < NEXT(x)",
    "PATTERN (^ A ANY_ROW*? B | A B) WITHIN 6 DEFINE A AS b, B AS NOT b AND x = 1",
)
more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 4))
waiting_rows = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=2, max_size=12)


@pytest.mark.parametrize("query", WAITING)
@more
@given(drawn=waiting_rows, options=hints, data=st.data())
def test_no_start_waits_for_another_where_matches_may_overlap(
    query: str, drawn: list[tuple[int, bool]], options: dict[str, Any], data: DataObject
) -> None:
    rows = [{"id": t, "k": 0, "t": t, "x": x, "y": 0.0, "s": "a", "b": b} for t, (x, b) in enumerate(drawn)]
    clause = f"ORDER BY t MEASURES first(t) AS s, last(t) AS e AFTER MATCH SKIP TO NEXT ROW {query}"
    plan, chunk = prepared(clause, rows, options)
    assert chunk is not None
    feed = Feed(plan, chunk)
    assert feed.matcher.apart
    end = 0
    for _ in range(3):
        end = data.draw(st.integers(end, len(rows)))
        if end == 0:
            continue
        feed.give([0], [end], [False])
        alone = []
        for start in range(end):
            # Nothing but what begins at this row is searched.
            piece = Chunk(chunk.table.slice(0, end), np.array([0, end]), settled=np.arange(end) != start)
            found = RowMatcher(plan).resume(piece, OpenSeries.new(1), np.array([False]))
            alone += [row for batch in found.batches for row in batch.to_pylist()]
        event("found before another" if feed.settled.any() else "in order")
        assert sorted(map(repr, feed.all_output)) == sorted(map(repr, alone))
    feed.give([0], [len(rows)], [True])
    assert sorted(map(repr, feed.all_output)) == sorted(map(repr, whole(plan, chunk)))


@given(case=st.one_of(cases(), cases(row_local=True), timeout_cases()), options=hints, data=st.data())
def test_several_series_in_one_call(case: Case, options: dict[str, Any], data: DataObject) -> None:
    """Series grow side by side, some end before others; their rows come in another order than from whole series."""
    rows, columns, query = case
    try:
        naive.run(rows, columns, query, limit=20_000)
    except (naive.TooManyCandidates, naive.SkipError):
        assume(False)
    plan, chunk = prepared(render_clause(replace(query, partition_by=("k",))), rows, options)
    assume(chunk is not None)
    assert chunk is not None
    try:
        expected = whole(plan, chunk)
    except DataError:
        assume(False)
    feed = Feed(plan, chunk)
    growing, given_rows = list(range(len(feed.lengths))), [0] * len(feed.lengths)
    while growing:
        for k in growing:
            given_rows[k] = data.draw(st.integers(given_rows[k], feed.lengths[k]))
        final = [given_rows[k] == feed.lengths[k] and data.draw(st.booleans()) for k in growing]
        feed.give(growing, [given_rows[k] for k in growing], final)
        growing = [k for k, last in zip(growing, final, strict=True) if not last]
    assert sorted(map(repr, feed.all_output)) == sorted(map(repr, expected))
