"""Which matches of an open series of events are decided, and which rows are kept, on short streams.

`A1 B3` are an event of the type A at the time 1, and one of the type B at the time 3.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from unittest import mock

import numba
import numpy as np
import pytest

import local
from properties.test_events import read_graph
from trellis.algebra.automaton import WithinSpec
from trellis.algebra.event_scan import EventScan, EventSearch
from trellis.algebra.plan import Plan
from trellis.errors import DataError, UnsupportedError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.events.matcher import EventMatcher
from trellis.execution.loading import load_within
from trellis.execution.open_series import EVER, NEVER, OpenSeries, Resumed
from trellis.kernels.arrays import Within
from trellis.kernels.runs import find_events
from trellis.languages.sase import parse_sase_text

OPEN = np.array([False])
_SCHEMA = [("id", "int"), ("type", "string"), ("time", "int"), ("x", "int")]
_ORDER = "PATTERN SEQ(A a, B b, ~(C c))"


class Stand(NamedTuple):
    """Where the search through one series stands."""

    first: int
    start: int
    matches: int
    shown: int


class Series:
    """A query, and an open series that is handed to it piece by piece."""

    def __init__(self, query: str, *, compressed: bool = False, **hints: Any) -> None:
        parsed = parse_sase_text(query, time_columns=("time", "id"), compressed=compressed)
        self.plan: Plan = local.plan_clause(parsed, _SCHEMA, off=["keep_events"], **hints)
        assert isinstance(self.plan.scan, EventScan)
        self.matcher = EventMatcher(self.plan.scan)
        self.rows: list[dict[str, Any]] = []
        self.series = OpenSeries.new(1)
        self.due = NEVER

    def give(self, text: str, horizon: int = EVER, *, final: bool = False) -> list[dict[str, Any]]:
        """More events; the output rows."""
        for word in text.split():
            number = len(self.rows)
            self.rows.append({"id": number, "type": word[0], "time": int(word[1:]), "x": number % 3})
        resumed = self.resume(horizon, final=final)
        self.series, self.due = resumed.series, int(resumed.due[0])
        return [row for batch in resumed.batches for row in batch.to_pylist()]

    def resume(self, horizon: int = EVER, *, final: bool = False) -> Resumed:
        first = int(self.series.first[0])
        table = local.sorted_rows(self.plan, self.rows, _SCHEMA).slice(first).combine_chunks()
        chunk = Chunk(table, np.array([0, table.num_rows]))
        return self.matcher.resume(chunk, self.series, np.array([final]), horizon)

    def late(self, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        """What `_LATE` returns."""
        finished = [{name: local.evaluate(value, row) for name, value in self.plan.finished} for row in rows]
        return [(row["a"], row["b"], row["number"]) for row in finished]

    @property
    def stand(self) -> Stand:
        return Stand(*(int(column[0]) for column in self.series[:-1]))


def stand(query: str, events: str, horizon: int = EVER) -> Stand:
    series = Series(query)
    series.give(events, horizon)
    return series.stand


@pytest.mark.parametrize(
    ("strategy", "events", "expected"),
    [
        ("partition_contiguity", "A1 B2", Stand(2, 2, 1, 2)),
        ("partition_contiguity", "A1 B2 A3", Stand(2, 2, 1, 3)),
        ("partition_contiguity", "A1 C2", Stand(2, 2, 0, 2)),  # the run has ended
        ("partition_contiguity", "C1 A2 A3", Stand(2, 2, 0, 3)),
        ("strict_contiguity", "A1 C2", Stand(2, 2, 0, 2)),
        ("skip_till_next_match", "A1 C2", Stand(0, 0, 0, 2)),
        ("skip_till_next_match", "A1 B2 B3", Stand(3, 3, 1, 3)),  # the first B was the one
        ("skip_till_next_match", "A1 B2 C3 A4 C5", Stand(3, 3, 1, 5)),
        ("skip_till_any_match", "C0 A1 B2 B3", Stand(1, 1, 2, 4)),  # any B will do
        ("skip_till_any_match", "C0", Stand(1, 1, 0, 1)),
    ],
)
def test_rows_are_kept_from_the_first_run_that_is_alive(strategy: str, events: str, expected: Stand) -> None:
    """Without any window."""
    assert stand(f"PATTERN SEQ(A a, B b) WHERE {strategy} {{ }}", events) == expected


@pytest.mark.parametrize(
    ("within", "events", "horizon", "first"),
    [
        ("10", "A1 A5 C11", EVER, 0),
        ("10", "A1 A5 C12", EVER, 1),  # rows come in order
        ("10", "A1 A5 C6", 11, 0),  # a row at 11 may come
        ("10", "A1 A5 C6", 12, 1),
        ("10", "A1 A5 C6", 16, 3),
        ("3 events", "A1 C2", 99, 0),
        ("3 events", "A1 C2 C3", 99, 3),
        ("3 events", "A1 A2 C3", 99, 1),
    ],
)
def test_windows_close(within: str, events: str, horizon: int, first: int) -> None:
    assert stand(f"PATTERN SEQ(A a, B b) WITHIN {within}", events, horizon).first == first


def test_what_must_be_absent_before_a_match_is_kept() -> None:
    query = "PATTERN SEQ(~(C c), A a, B b) WITHIN 10"
    assert stand(query, "C1 A5 C6") == Stand(0, 1, 0, 3)
    assert stand(query, "C1 X2") == Stand(0, 2, 0, 2)
    assert stand(query, "X1 C2") == Stand(1, 2, 0, 2)
    assert stand(query, "C1 C2", 12) == Stand(1, 2, 0, 2)
    series = Series(query)
    assert not series.give("C1") and not series.give("A3") and not series.give("B11")
    assert series.stand == Stand(0, 3, 0, 3)  # a second event at 11 would see it, too
    assert not series.give("C20") and len(series.give("A25 B31")) == 1


def test_a_series_is_due_when_its_last_window_has_closed() -> None:
    series = Series("PATTERN SEQ(A a, B b) WHERE skip_till_any_match { } WITHIN 10")
    series.give("A1 A5 C6 B7")
    assert series.due == 15
    series.give("", 14)
    assert (series.stand.first, series.due) == (1, 15)
    series.give("", 16)
    assert (series.stand.first, series.due) == (4, NEVER)
    series = Series("PATTERN SEQ(~(C c), A a) WITHIN 10")
    series.give("C1 A5")
    assert (series.stand, series.due) == (Stand(0, 2, 0, 2), 11)
    series.give("", 12)
    assert (series.stand, series.due) == (Stand(2, 2, 0, 2), NEVER)


def test_what_must_be_absent_after_a_match_lets_it_wait() -> None:
    series = Series(f"{_ORDER} WITHIN 10 RETURN a.id AS a, MATCH_NUMBER() AS number")
    assert series.give("A1 B2 X3") == []
    assert (series.stand, series.due) == (Stand(0, 0, 0, 1), 11)
    assert series.give("", 11) == []
    assert len(series.give("", 12)) == 1
    assert (series.stand, series.due) == (Stand(3, 3, 1, 3), NEVER)
    assert series.give("A20 B21 A22 B23") == []
    assert (series.stand, series.due) == (Stand(3, 3, 1, 4), 30)
    assert series.give("C24") == []  # both are no matches
    assert series.stand == Stand(8, 8, 1, 8)


def test_an_undecided_match_holds_up_those_behind_it() -> None:
    """They are numbered in the order of their ends."""
    query = f"{_ORDER} WHERE skip_till_any_match {{ }} WITHIN 10"
    series = Series(query)
    assert series.give("A1 A3 B4 X12") == []  # the window of the first A has closed, that of the second has not
    assert (series.stand, series.due) == (Stand(0, 0, 0, 2), 13)
    assert len(series.give("X14")) == 2
    series = Series(f"{query} OUTPUT NON_OVERLAP")
    assert len(series.give("A1 A3 B4 X12")) == 1  # whatever becomes of the second, it overlaps the first
    assert (series.stand, series.due) == (Stand(4, 4, 1, 4), NEVER)


def test_an_undecided_match_may_rule_out_those_behind_it() -> None:
    series = Series(f"{_ORDER} WHERE skip_till_any_match {{ }} WITHIN 10 RETURN a.id AS a OUTPUT NON_OVERLAP")
    assert series.give("A1 B2 B3 A4 B5") == []
    assert (series.stand, series.due) == (Stand(0, 0, 0, 1), 11)
    assert [len(series.give("", horizon)) for horizon in (11, 12, 14, 15)] == [0, 1, 0, 1]
    assert series.stand == Stand(5, 5, 2, 5)
    series = Series(f"{_ORDER} WHERE skip_till_any_match {{ }} WITHIN 10 OUTPUT NON_OVERLAP")
    assert series.give("A1 B2 A4 B5 C11") == [] and series.stand == Stand(0, 0, 0, 5)


_LATE = "RETURN a.id AS a, b.id AS b, MATCH_NUMBER() AS number"


def test_what_times_out_comes_when_its_window_has_closed() -> None:
    """Each as soon as that is known, and no number is lost."""
    series = Series(f"PATTERN SEQ(A a, B b) WITHIN 10 {_LATE} SHOW TIMEOUT MATCHES")
    assert series.give("A1 A5 C6") == []
    assert (series.stand, series.due) == (Stand(0, 0, 0, 3), 11)
    assert series.give("", 11) == []
    assert series.late(series.give("", 12)) == [(0, None, None)]
    assert (series.stand, series.due) == (Stand(1, 1, 0, 3), 15)
    assert series.late(series.give("B14 A15 B16 A17")) == [(1, 3, 1), (4, 5, 2)]
    assert series.late(series.give("A30")) == [(6, None, None)]
    assert series.late(series.give("", final=True)) == [(7, None, None)]
    assert series.stand == Stand(8, 8, 2, 8)


def test_a_window_of_events_closes_with_its_last_event() -> None:
    series = Series(f"PATTERN SEQ(A a, B b) WITHIN 3 events {_LATE} SHOW TIMEOUT MATCHES")
    assert series.give("A1 C2") == [] and series.due == NEVER
    assert series.late(series.give("C3")) == [(0, None, None)]
    assert series.stand == Stand(3, 3, 0, 3)


@pytest.mark.parametrize("events", ["A1 B2", "A1 B2 C3 B4"])
def test_what_came_to_a_match_does_not_time_out(events: str) -> None:
    query = f"PATTERN SEQ(A a, B b, ~(C c)) WITHIN 10 {_LATE} SHOW TIMEOUT MATCHES"
    for cuts in ([events], events.split()):
        series = Series(query)
        rows = [row for text in cuts for row in series.give(text)] + series.give("", 12)
        assert series.late(rows) == ([] if "C" in events else [(0, 1, 1)])


def test_what_times_out_overlaps_and_stops_no_match() -> None:
    """The second A begins inside the first match: its own match is none, but the third A times out."""
    query = "PATTERN SEQ(A a, B b) WHERE { b.x = a.x } WITHIN 10"
    for cuts in (["A1 A2 A3 B4 B5"], ["A1", "A2", "A3", "B4", "B5"], ["A1 A2 A3 B4", "B5"]):
        series = Series(f"{query} {_LATE} OUTPUT NON_OVERLAP SHOW TIMEOUT MATCHES")
        rows = [row for text in cuts for row in series.give(text)] + series.give("", 20)
        assert series.late(rows) == [(0, 3, 1), (2, None, None)]


def test_what_must_be_absent_before_what_times_out_is_kept() -> None:
    """Also after its own window has closed: the last event that was taken lies in it."""
    series = Series("PATTERN SEQ(~(C c), A a, B b, D d) WITHIN 10 SHOW TIMEOUT MATCHES")
    assert series.give("C1 A5 B9") == [] and series.give("", 13) == []
    assert series.stand == Stand(0, 1, 0, 3)
    assert series.give("", 16) == [] and series.stand == Stand(3, 3, 0, 3)
    other = Series("PATTERN SEQ(~(C c), A a, B b, D d) WITHIN 10 SHOW TIMEOUT MATCHES")
    assert other.give("C1 A5 B12") == [] and len(other.give("", 16)) == 1


def test_no_more_rows_means_that_nothing_more_happens() -> None:
    series = Series(f"{_ORDER} WITHIN 3 events")
    assert series.give("A1 B2") == [] and series.stand == Stand(0, 0, 0, 1)
    assert len(series.give("", final=True)) == 1 and series.stand == Stand(2, 2, 1, 2)
    series = Series(f"{_ORDER} WITHIN 3 events")
    assert [len(series.give(events)) for events in ("A1 B2", "X3")] == [0, 1]


@pytest.mark.parametrize("strategy", ["skip_till_next_match", "skip_till_any_match"])
@pytest.mark.parametrize("result", ["counts", "graphs"])
def test_counts_and_graphs_wait_for_all_of_their_matches(result: str, strategy: str) -> None:
    query = f"PATTERN SEQ(A a, X+ x[], ~(Y y), B b, ~(C c)) WHERE {strategy} {{ }} WITHIN 10"
    counted = result == "counts"
    series = Series(f"{query} RETURN count(*) AS n" if counted else query, compressed=not counted)
    assert series.give("A1 X2 A3 X4 B5 X6") == []
    assert (series.stand, series.due) == (Stand(0, 0, 0, 4), 13)
    assert series.give("", 12) == []
    (row,) = series.give("", 14)
    number = int(read_graph(row, dict(series.plan.scan.outputs))["matches"])
    assert number == (2 if strategy == "skip_till_next_match" else 4)
    # What is absent in the middle leaves only matches that are decided.
    other = Series(f"{query} RETURN count(*) AS n" if counted else query, compressed=not counted)
    assert other.give("A1 X2 Y3 B4 X5") == [] and other.stand.shown == 5
    assert other.give("A6 X7 B8 C9") == [] and other.stand.shown == 9


def test_only_beginnings_that_lead_to_a_match_are_waited_for() -> None:
    """The second A is before a Y, so no match of its own waits when the window of the first has closed."""
    query = "PATTERN SEQ(A a, ~(Y y), B b, ~(C c)) WHERE skip_till_any_match { } WITHIN 10 RETURN count(*) AS n"
    series = Series(query)
    assert series.give("A1 Y2 A3 B4 B5") == []
    assert (series.stand, series.due) == (Stand(0, 0, 0, 3), 13)
    assert series.give("", 13) == [] and len(series.give("", 14)) == 2


def test_windows_that_end_in_any_order() -> None:
    """The window of the first event ends last: the match waits for it, and so do the rows behind."""
    deadlines = [30, 12, 13, 40]

    def uneven(chunk: Chunk, spec: WithinSpec | None) -> Within:
        found = load_within(chunk, spec)
        gone = len(deadlines) - chunk.table.num_rows
        return found._replace(deadline=np.array(deadlines[gone:], np.int64))

    for returned in ("", "RETURN count(*) AS n"):
        series = Series(f"{_ORDER} WHERE skip_till_any_match {{ }} WITHIN 10 {returned}")
        with mock.patch.object(loading, "load_within", uneven):
            assert series.give("A1 A2 B3 X4") == []
            assert (series.stand, series.due) == (Stand(0, 0, 0, 2), 30)
            assert series.give("", 30) == []
            assert len(series.give("", 31)) == (1 if returned else 2)
            assert series.stand.first == 4


def test_several_series_wait_on_their_own() -> None:
    """One that is held up does not disturb the next."""
    one = Series(f"{_ORDER} WITHIN 10 RETURN a.id AS a")
    one.rows = [{"id": n, "type": kind, "time": n, "x": 0} for n, kind in enumerate("ABABXABC")]
    table = local.sorted_rows(one.plan, one.rows, _SCHEMA).combine_chunks()
    chunk = Chunk(table, np.array([0, 2, 5, 5, 8]))
    batches, series, due, _ = one.matcher.resume(chunk, OpenSeries.new(4), np.array([False, True, False, False]))
    rows = [local.evaluate(value, row) for b in batches for row in b.to_pylist() for _, value in one.plan.finished]
    assert 2 in rows and 0 not in rows
    assert [column.tolist() for column in series[:-1]] == [[0, 3, 0, 3], [0, 3, 0, 3], [0, 1, 0, 0], [1, 3, 0, 3]]
    assert due.tolist() == [10, NEVER, NEVER, NEVER]


def test_merged_runs_have_all_of_their_beginnings() -> None:
    """Runs in one state are one run, with a choice of beginnings; the earliest of them is kept."""
    query = "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_any_match { } RETURN a.id AS a"
    series = Series(query)
    series.give("X0 A1 A2 B3 A4 B5")
    assert series.stand == Stand(1, 1, 0, 6)
    assert len(series.give("C6")) == 2 * 3 + 1
    assert len(Series(query).give("X0 A1 A2 B3 A4 B5 C6", final=True)) == 7


def test_errors_count_rows_from_the_start_of_the_series() -> None:
    series = Series("PATTERN SEQ(A a, B b) WHERE { b.x / (a.time - 3) > 0 }")
    series.give("X1 B2")
    assert series.stand.first == 2
    with pytest.raises(DataError, match="row 4"):
        series.give("A3 B4")


@pytest.mark.parametrize("search", ["auto", "apart", "backtrack"])
def test_what_may_time_out_is_searched_run_by_run(search: str) -> None:
    series = Series("PATTERN SEQ(A a, B b) WITHIN 10 SHOW TIMEOUT MATCHES", search=search)
    assert isinstance(series.plan.scan, EventScan) and series.plan.scan.search is EventSearch.APART


def test_what_is_absent_before_matches_that_do_not_overlap_is_refused_on_streams() -> None:
    """If what timed out is asked for, too."""
    query = "PATTERN SEQ(~(C c), A a, B b) WITHIN 10 OUTPUT NON_OVERLAP"
    local.plan_clause(parse_sase_text(query), _SCHEMA, watermark="time")
    late = parse_sase_text(f"{query} SHOW TIMEOUT MATCHES")
    local.plan_clause(late, _SCHEMA)
    with pytest.raises(UnsupportedError, match="something must be absent there"):
        local.plan_clause(late, _SCHEMA, watermark="time")


def test_one_run_at_a_time_is_refused() -> None:
    series = Series("PATTERN SEQ(A a, B b)", search="backtrack")
    with pytest.raises(UnsupportedError, match="one run after the other"):
        series.give("A1")


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_series_that_grow_need_no_other_machine_code() -> None:
    series = Series(f"{_ORDER} WITHIN 10")
    series.give("A1 B2")
    table = local.sorted_rows(series.plan, series.rows, _SCHEMA).combine_chunks()
    assert len(list(series.matcher.run(Chunk(table, np.array([0, 2]))))) == 1
    assert len(find_events.signatures) == 1
