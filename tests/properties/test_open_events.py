"""Series of events in several calls: wherever they are cut, the matches are those of the whole series.

They also come as soon as they are decided. What that is follows from a search through the rows so far as if there were
no more: its matches stay, unless what must be absent at the end of the pattern may still come. What timed out comes
when its window has closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import assume, event, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

import local
from naive_sase import EventQuery
from properties.test_events import (
    _SCHEMA,
    decompressed,
    hurried,
    positions,
    queries,
    read_graph,
    render,
    rooms,
    streams,
)
from trellis.algebra.automaton import WithinSpec
from trellis.algebra.event_scan import EventScan
from trellis.algebra.plan import Plan
from trellis.errors import UnsupportedError
from trellis.execution import loading
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.events import matcher
from trellis.execution.events.matcher import EventMatcher
from trellis.execution.loading import load_within
from trellis.execution.open_series import EVER, NEVER, OpenSeries, Resumed
from trellis.kernels.arrays import Ints, Within
from trellis.languages.sase import parse_sase_text

Rows = list[dict[str, Any]]
_FAR = 1000  # a time after all windows


@dataclass(frozen=True)
class Match:
    """What is known of output: the first and the last event, by their ids, and all that is written."""

    first: int
    last: int
    written: str
    timed_out: bool = False


class Subject:
    """A query whose output is compared: matches, how many end at each event, or graphs of these."""

    def __init__(self, query: EventQuery, what: str, **hints: Any) -> None:
        self.query, self.what = query, what
        self.positives = [component for component in query.components if not component.negated]
        last = self.positives[-1]
        end = f"{last.variable}[{last.variable}.LEN]" if last.kleene else last.variable
        listed = render(query)
        text = listed.partition("RETURN")[0]
        text = {"matches": listed, "counts": f"{text} RETURN {end}.id AS at, count(*) AS n", "graphs": text}[what]
        self.plan = self._plan(text, compressed=what == "graphs", **hints)
        # Of counts, too, it must be known where the matches begin.
        self.listing: Subject = self if what == "matches" else Subject(query, "matches", **hints)
        self.waits = query.components[-1].negated
        self.uneven = False

    @staticmethod
    def _plan(text: str, *, compressed: bool = False, **hints: Any) -> Plan:
        return local.plan_clause(
            parse_sase_text(text, time_columns=("time", "id"), compressed=compressed), _SCHEMA, **hints
        )

    def chunk(self, stream: Rows) -> Chunk | None:
        return _chunk(self.plan, stream)

    def read(self, batches: list[pa.RecordBatch]) -> list[Match]:
        """The output, so that it can be compared; graphs are compared by the matches in them."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        if self.what == "graphs":
            outputs = dict(self.plan.scan.outputs)
            graphs = [read_graph(row, outputs) for row in rows]
            matches = [sorted(decompressed(graph, self.positives)) for graph in graphs]
            return [
                Match(-1, found[0][-1][-1], f"{found} {graph['matches']}")
                for graph, found in zip(graphs, matches, strict=True)
            ]
        finished = [{name: local.evaluate(expression, row) for name, expression in self.plan.finished} for row in rows]
        if self.what == "counts":
            return [Match(-1, row["at"], repr(row)) for row in finished]
        ids = [[at for c in self.positives for at in positions(row[c.variable], kleene=c.kleene)] for row in finished]
        return [
            Match(min(every), max(every), repr(row), row["number"] is None)
            for every, row in zip(ids, finished, strict=True)
        ]

    def found(self, stream: Rows) -> list[Match]:
        """The output for events of one series that is whole."""
        chunk = self.chunk(stream)
        return [] if chunk is None else self.read(list(EventMatcher(_scan(self.plan)).run(chunk)))


def _scan(plan: Plan) -> EventScan:
    assert isinstance(plan.scan, EventScan)
    return plan.scan


def _chunk(plan: Plan, stream: Rows) -> Chunk | None:
    table = local.sorted_rows(plan, stream, _SCHEMA)
    chunks = list(read_chunks(iter(table.to_batches()), plan.scan.keys, 1000))
    assert len(chunks) <= 1
    return chunks[0] if chunks else None


class Feed:
    """The series of a chunk, handed to a matcher piece by piece."""

    def __init__(self, subject: Subject, chunk: Chunk, stream: Rows) -> None:
        scan = _scan(subject.plan)
        self.subject, self.chunk, self.most_events = subject, chunk, scan.most_events
        self.matcher = EventMatcher(scan)
        self.within = loading.load_within(chunk, scan.within)
        self.lengths = np.diff(chunk.offsets).tolist()
        self.series = OpenSeries.new(len(self.lengths))
        self.due = np.full(len(self.lengths), NEVER)
        self.up_to = [0] * len(self.lengths)
        # What was said of each series: how far time is, and that it has ended. That stays true.
        self.told = [EVER] * len(self.lengths)
        self.ended = [False] * len(self.lengths)
        self.output: list[Match] = []
        self.ids = _ids(subject.plan, chunk)
        by_id = {row["id"]: row for row in stream}
        self.events = [by_id[number] for number in self.ids]

    def in_series(self, matches: list[Match]) -> list[Match]:
        """The matches series by series; those of one stay in their order."""
        owners = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return sorted(matches, key=lambda match: int(owners[self.ids.index(match.last)]))

    def bound(self, numbers: list[int]) -> int:
        """The greatest horizon that is true: the time of the next row of any of these series."""
        if not self.within.active:
            return _FAR
        following = [
            int(self.within.key[row])
            for k in numbers
            for row in range(self.chunk.offsets[k] + self.up_to[k], self.chunk.offsets[k + 1])
            if self.within.known[row]
        ]
        return min(following, default=_FAR)

    def give(self, numbers: list[int], up_to: list[int], final: list[bool], horizon: int) -> None:
        """Hand over some of the series, each up to a row."""
        before = OpenSeries(*(column[numbers] for column in self.series))
        found = self.call(numbers, up_to, final, horizon)
        for k, end in zip(numbers, up_to, strict=True):
            self.up_to[k] = end
        for column, values in zip(self.series, found.series, strict=True):
            column[numbers] = values
        self.due[numbers] = found.due
        given_rows = self.subject.read(found.batches)
        self.output += given_rows
        assert (found.series.matches - before.matches).sum() == sum(not match.timed_out for match in given_rows)
        for place, k in enumerate(numbers):
            self.told[k] = max(self.told[k], horizon)
            self.ended[k] |= final[place]
            was = OpenSeries(*(column[place : place + 1] for column in before))
            self._check_state(k, was, self.ended[k], self.told[k])

    def call(self, numbers: list[int], up_to: list[int], final: list[bool], horizon: int) -> Resumed:
        pieces = [
            self.chunk.table.slice(int(self.chunk.offsets[k] + self.series.first[k]), end - int(self.series.first[k]))
            for k, end in zip(numbers, up_to, strict=True)
        ]
        offsets = np.append(0, np.cumsum([piece.num_rows for piece in pieces])).astype(np.int64)
        chunk = Chunk(pa.concat_tables(pieces).combine_chunks(), offsets)
        before = OpenSeries(*(column[numbers] for column in self.series))
        copies = [column.copy() for column in before]
        found = self.matcher.resume(chunk, before, np.array(final), horizon)
        assert all((one == other).all() for one, other in zip(copies, before, strict=True)), "arguments do not change"
        return found

    def _check_state(self, k: int, before: OpenSeries, final: bool, horizon: int) -> None:
        """Nothing goes back; what is given are the matches that are decided; no row is kept that nobody needs."""
        first, start, matches, shown, _ = (int(column[k]) for column in self.series)
        end, low = self.up_to[k], int(self.chunk.offsets[k])
        assert before.first[0] <= first <= start <= shown <= end
        assert (before.start[0], before.matches[0], before.shown[0]) <= (start, matches, shown)
        if final:
            assert (first, shown, self.due[k]) == (end, end, NEVER)
        now = self.events[low : low + end]
        wanted, undecided = self.decided(k, horizon, final)
        assert matches == len(wanted)
        if self.subject.query.timeouts:
            self._check_timeouts(k, horizon, final, undecided)
        assert shown == (end if undecided is None else self.ids[low:].index(undecided)), "the first that is undecided"
        if final or first == end:
            assert self.due[k] == NEVER
            return
        if self.within.active:
            time = self.horizon(k, horizon) if shown == end else int(self.within.key[low + shown])
            # What must be absent before what times out, and so may lie before all windows that are open.
            if not (self.subject.query.timeouts and first < start):
                assert self.within.known[low + first] and self.within.deadline[low + first] >= time, now
            assert self.due[k] >= self.horizon(k, horizon)
        else:
            assert self.due[k] == NEVER
        if self.most_events:
            assert shown - (start if self.subject.query.timeouts else first) < self.most_events

    def _check_timeouts(self, k: int, horizon: int, final: bool, undecided: int | None) -> None:
        """What timed out is given when its window has closed, but it may wait for what began before."""
        low, end = int(self.chunk.offsets[k]), self.up_to[k]
        rows = {number: low + at for at, number in enumerate(self.ids[low : low + end])}
        time = self.horizon(k, horizon) if self.within.active else 0
        given = {match.written for match in self.output if match.timed_out and match.first in rows}
        closed = {
            match.written
            for match in self.subject.found(self.events[low : low + end])
            if match.timed_out and (final or not self._is_open(rows[match.first], low + end, time))
        }
        assert given == closed if undecided is None and not self.subject.uneven else given <= closed

    def horizon(self, k: int, horizon: int) -> int:
        """The same for one series: its rows come in the order of time, too."""
        rows = range(self.chunk.offsets[k], self.chunk.offsets[k] + self.up_to[k])
        return max([horizon, *(int(self.within.key[row]) for row in rows if self.within.known[row])])

    def decided(self, k: int, horizon: int, final: bool) -> tuple[list[Match], int | None]:
        """What must have been given of a series; and the event that ends the first match that is undecided."""
        low, end = int(self.chunk.offsets[k]), self.up_to[k]
        now = self.events[low : low + end]
        found = [match for match in self.subject.found(now) if not match.timed_out]
        if final or not self.subject.waits:
            return found, None
        rows = {number: low + at for at, number in enumerate(self.ids[low : low + end])}
        time = self.horizon(k, horizon) if self.within.active else 0
        ends = [
            match.last
            for match in self.subject.listing.found(now)
            if not match.timed_out and self._is_open(rows[match.first], low + end, time)
        ]
        undecided = min(ends, key=rows.__getitem__, default=None)
        if undecided is None:
            return found, None
        return [match for match in found if rows[match.last] < rows[undecided]], undecided

    def _is_open(self, first: int, end: int, time: int) -> bool:
        if self.most_events and end - first >= self.most_events:
            return False
        return not self.within.active or bool(self.within.deadline[first] >= time)

    def wait(self) -> None:
        """Let time go by without rows: something happens after the time that is due, and nothing before."""
        numbers = list(range(len(self.lengths)))
        while (least := int(self.due.min())) < NEVER:
            early = self.call(numbers, self.up_to, [False] * len(numbers), least)
            assert not early.batches and (early.series.shown == self.series.shown).all()
            before = OpenSeries(*(column.copy() for column in self.series))
            self.give(numbers, self.up_to, [False] * len(numbers), least + 1)
            moved = (self.series.first > before.first) | (self.series.shown > before.shown)
            assert moved.any() or self.due.min() > least


def _ids(plan: Plan, chunk: Chunk) -> list[int]:
    """The ids of the rows of a chunk."""
    name = next(name for name, value in plan.projected if str(value) == "`id`")
    ids: list[int] = chunk.column(name).to_pylist()
    return ids


@st.composite
def timed(draw: DrawFn) -> Rows:
    """Events, the first of which may have no time."""
    stream = draw(streams())
    unknown = draw(st.sampled_from((0, 0, 0, 0, 1, 2)))
    return [{**row, "time": None} if number < unknown else row for number, row in enumerate(stream)]


hints = st.fixed_dictionaries(
    {"search": st.sampled_from(("auto", "auto", "apart")), "off": st.sampled_from(([], ["keep_events"]))}
)
whats = st.sampled_from(("matches", "matches", "matches", "counts", "graphs"))


def subject_of(query: EventQuery, what: str, options: dict[str, Any]) -> Subject:
    query = query if what == "matches" else replace(query, non_overlap=False, timeouts=False)
    # Refused on streams: see `plan_stream`.
    assume(not (query.timeouts and query.non_overlap and query.components[0].negated))
    try:
        return Subject(query, what, **options)
    except UnsupportedError:
        event("what is absent is compared")
        assume(False)
        raise


def draw_horizon(data: DataObject, bound: int, before: int) -> int:
    """A true one, no less than before: often as great as can be, and sometimes without any news."""
    return max(before, data.draw(st.sampled_from((bound, bound, bound - 1, bound - 3, EVER)), label="horizon"))


def check(subject: Subject, stream: Rows, data: DataObject, *, at_once: bool) -> None:
    """Cut the stream anywhere; compare with what the whole of it gives."""
    chunk = subject.chunk(stream)
    assume(chunk is not None)
    assert chunk is not None
    expected = subject.read(list(EventMatcher(_scan(subject.plan)).run(chunk)))
    feed = Feed(subject, chunk, stream)
    numbers = list(range(len(feed.lengths)))
    for group in [numbers] if at_once else [[k] for k in numbers]:
        growing, horizon = list(group), EVER
        while growing:
            up_to = [data.draw(st.integers(feed.up_to[k], feed.lengths[k]), label=f"rows of {k}") for k in growing]
            for k, end in zip(growing, up_to, strict=True):
                feed.up_to[k] = end
            final = [feed.up_to[k] == feed.lengths[k] and data.draw(st.booleans()) for k in growing]
            horizon = draw_horizon(data, feed.bound(growing), horizon)
            feed.give(growing, up_to, final, horizon)
            event("a match waits" if (feed.series.shown < feed.up_to).any() else "nothing waits")
            event("rows are kept" if (feed.series.first < feed.up_to).any() else "nothing is kept")
            growing = [k for k, last in zip(growing, final, strict=True) if not last]
            if all(feed.up_to[k] == feed.lengths[k] for k in growing) and data.draw(st.booleans()):
                break
    if feed.within.active:
        feed.wait()
        assert (feed.series.first == feed.lengths).all(), "all windows have closed"
        event("time went by")
    else:
        feed.give(numbers, feed.lengths, [True] * len(numbers), EVER)
    given, wanted = feed.in_series(feed.output), feed.in_series(expected)
    event("something timed out" if any(match.timed_out for match in wanted) else "nothing timed out")
    if subject.uneven and subject.query.timeouts:
        given, wanted = sorted(given, key=repr), sorted(wanted, key=repr)
    assert given == wanted


@given(queries(), timed(), whats, hints, rooms(), st.data())
def test_a_series_at_a_time(
    query: EventQuery, stream: Rows, what: str, options: dict[str, Any], sizes: Any, data: DataObject
) -> None:
    subject = subject_of(query, what, options)
    with mock.patch.object(matcher, "_SIZES", sizes):
        check(subject, stream, data, at_once=False)


@given(queries(), timed(), whats, hints, rooms(), st.data())
def test_several_series_in_one_call(
    query: EventQuery, stream: Rows, what: str, options: dict[str, Any], sizes: Any, data: DataObject
) -> None:
    """Series grow side by side, some end before others."""
    subject = subject_of(replace(query, equivalence=("k",)), what, options)
    with mock.patch.object(matcher, "_SIZES", sizes):
        check(subject, stream, data, at_once=True)


@given(hurried(), timed(), hints, rooms(), st.data())
def test_what_times_out(query: EventQuery, stream: Rows, options: dict[str, Any], sizes: Any, data: DataObject) -> None:
    subject = subject_of(query, "matches", options)
    with mock.patch.object(matcher, "_SIZES", sizes):
        check(subject, stream, data, at_once=data.draw(st.booleans()))


@st.composite
def waiting(draw: DrawFn) -> EventQuery:
    """Queries with something that must be absent at the end."""
    query = draw(st.one_of(queries(), hurried()))
    components = query.components
    assume(any(not component.negated for component in components[:-1]))
    last = replace(components[-1], kleene=False, negated=True)
    mentioned = [one for one in query.predicates if f"'{last.variable}'" in repr(one)]
    kept = tuple(one for one in query.predicates if one not in mentioned)
    within = query.within or ("time", draw(st.integers(1, 8)))
    return replace(query, components=(*components[:-1], last), predicates=kept, within=within)


@given(waiting(), timed(), whats, hints, st.data())
def test_what_must_be_absent_at_the_end(
    query: EventQuery, stream: Rows, what: str, options: dict[str, Any], data: DataObject
) -> None:
    check(subject_of(query, what, options), stream, data, at_once=data.draw(st.booleans()))


@given(
    st.one_of(queries(), hurried(), waiting()),
    streams(),
    whats,
    hints,
    st.lists(st.integers(0, 9), min_size=9),
    st.data(),
)
def test_windows_may_end_in_any_order(
    query: EventQuery, stream: Rows, what: str, options: dict[str, Any], widths: list[int], data: DataObject
) -> None:
    """Months do: 31 January and a month is before 29 January 23:00 and a month."""
    query = replace(query, within=("time", 4))
    subject = subject_of(query, what, options)
    subject.uneven = True
    with uneven(subject, [row["time"] + width for row, width in zip(stream, widths, strict=False)]):
        check(subject, stream, data, at_once=data.draw(st.booleans()))


@contextmanager
def uneven(subject: Subject, deadlines: list[int]) -> Iterator[None]:
    """The window of each event ends when this says."""

    def load(chunk: Chunk, spec: WithinSpec | None) -> Within:
        found = load_within(chunk, spec)
        plan = subject.plan if _has(chunk, subject.plan) else subject.listing.plan
        deadline: Ints = np.array([deadlines[number] for number in _ids(plan, chunk)], np.int64)
        return found._replace(deadline=deadline)

    with mock.patch.object(loading, "load_within", load):
        yield


def _has(chunk: Chunk, plan: Plan) -> bool:
    return {name for name, _ in plan.projected} <= set(chunk.table.column_names)
