"""Chunks of sorted events through the kernels, matches out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from trellis.algebra.event_scan import EdgeTests, EventResult, EventScan, EventSearch
from trellis.algebra.query import Selection
from trellis.errors import DataError, ResourceError, TrellisError, UnsupportedError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.events.edges import growing, whole
from trellis.execution.events.found import count_matches, numbers_before, put_in_order, read_graphs, read_matches
from trellis.execution.match_reader import MatchReader
from trellis.execution.open_series import EVER, NEVER, OpenSeries, Resumed
from trellis.execution.pulse import pulse
from trellis.execution.rows.outputs import Graphs
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Conditions, Ints, Matched
from trellis.kernels.event_arrays import Absences, EventAutomaton, Growth, Registers, Room, Step
from trellis.kernels.event_room import (
    Sizes,
    longer_runs,
    more_cells,
    more_runs,
    new_graphs,
    new_matches,
    new_room,
    new_runs,
)
from trellis.kernels.room import new_track, new_work
from trellis.kernels.runs import find_events, find_events_alone
from trellis.kernels.wide import has_wide

__all__ = ["EventMatcher"]

_SELECTIONS = {
    Selection.STRICT_CONTIGUITY: o.CONTIGUOUS,
    Selection.PARTITION_CONTIGUITY: o.CONTIGUOUS,
    Selection.SKIP_TILL_NEXT_MATCH: o.SKIP_NEXT_MATCH,
    Selection.SKIP_TILL_ANY_MATCH: o.SKIP_ANY,
}
_WANTED = {
    EventResult.NOTHING: o.NOTHING,
    EventResult.MATCHES: o.ALL_MATCHES,
    EventResult.COUNTS: o.COUNTS,
    EventResult.GRAPHS: o.GRAPHS,
}
_SIZES = Sizes()
# Events of the matches that end at one event: they are put in order, so all of them are held, with some 60 bytes each.
_MOST_AT_ONCE = 1 << 24


class EventMatcher(MatchReader):
    """A plan as arrays, ready for chunks."""

    plan: EventScan

    def __init__(self, plan: EventScan) -> None:
        super().__init__(plan)
        self.wide = has_wide(plan.program.code)
        self.wide_sums = any(spec.kind >= o.SUM_WIDE for spec in plan.aggregates)
        words, states = plan.words, range(2 * len(plan.parts))
        longest = max((len(word.slots) for word in words), default=0)
        self.registers = Registers(
            np.array([[state in word.states for word in words] for state in states], np.bool_).reshape(
                len(states), len(words)
            ),
            np.array([[*word.slots, *[-1] * (longest - len(word.slots))] for word in words], np.int64).reshape(
                len(words), longest
            ),
            np.array([word.by_row for word in words], np.bool_),
            np.array([word.as_known for word in words], np.bool_),
            len(plan.sets),
            len(plan.aggregates),
            np.array([_reads_spread(spec.kind, spec.second) for spec in plan.aggregates], np.bool_),
            any(spec.previous != o.NO_CHAIN for spec in plan.aggregates),
        )

    def run(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk."""
        yield from self._results(chunk, None, np.zeros(len(chunk.offsets) - 1, np.int64))

    def resume(self, chunk: Chunk, series: OpenSeries, final: Bools, horizon: int = EVER) -> Resumed:
        """The output rows that are decided, and where the search through each series stands then.

        Of each series the chunk holds the rows from `first` on; if `final`, there will be no more. Rows to come have no
        smaller key of WITHIN than `horizon`. A match is decided when its last event has come; but if something must be
        absent at the end of the pattern, when its window has closed. So is what times out.
        """
        plan = self.plan
        if plan.search is EventSearch.ONE_AT_A_TIME:
            raise UnsupportedError(
                "A search of one run after the other needs whole series: it cannot be done while rows still come.",
                cure="Leave out the hint search.",
            )
        assert plan.slices is None, "a slice is no series"
        if chunk.table.num_rows == 0:
            return Resumed([], series, np.full(len(final), NEVER))
        chunk = replace(chunk, gone=series.first)
        growth = growing(plan, chunk, series, final, horizon)
        given = series.matches.copy()
        batches = list(self._results(chunk, growth, given))
        to_series = series.first - chunk.offsets[:-1]
        first, start, shown = (rows + to_series for rows in (growth.firsts, growth.starts, growth.ends))
        rest = series._replace(first=first, start=start, matches=given, shown=shown)
        return Resumed(batches, rest, growth.due)

    def _results(self, chunk: Chunk, growth: Growth | None, given: Ints) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk; `given` are the matches of each series that were given out, and it is kept up."""
        dictionary = self.dictionary(chunk)
        for matched, graphs in self.find(chunk, dictionary, growth):
            ends = matched.rows[matched.begins[1:] - 1]
            timed_out = matched.owners < 0
            matched = matched._replace(owners=np.where(timed_out, -1 - matched.owners, matched.owners))
            before = numbers_before(matched.owners, timed_out, given)
            yield from self.measure(chunk, dictionary, matched, ends, before=before, graphs=graphs)
            given += np.bincount(matched.owners[~timed_out], minlength=len(given))

    def find(
        self, chunk: Chunk, dictionary: loading.Dictionary | None, growth: Growth | None = None
    ) -> Iterator[tuple[Matched, Graphs | None]]:
        """The matches of a chunk, some at a time; they are gone when more are asked for.

        Where only their number or their graph is wanted, a match is the event that ends them. Series are whole unless
        `growth` says what is known of them; where their search stands is written there. What has timed out has an owner
        below 0: -1 - its series.
        """
        plan = self.plan
        status = np.zeros(3, np.int64)
        slots = loading.load_slots(chunk, plan.slots, dictionary)
        program = self.program(dictionary)
        longest = int(np.diff(chunk.offsets).max())
        work = new_work(longest, 1, 1, plan.program.depth, True, False, self.wide)
        starts, edges = loading.load_starts(chunk, None), loading.load_edges(plan, chunk)
        conditions = self.conditions(chunk, slots, program, work, status, starts, edges)
        self.check(status, chunk)
        absences = self._absences(conditions, chunk.table.num_rows)
        step = Step(
            self._automaton(conditions, absences),
            whole(plan, chunk) if growth is None else growth,
            absences,
            conditions,
            program,
            slots,
            self.places,
            self.aggregates,
            self.registers,
            loading.load_within(chunk, plan.within),
            plan.most_events,
        )
        # Of each set the first row, the last one, and one that is added; labels need room for all.
        track = new_track(self.member, len(plan.aggregates), 3, True, wide=self.wide_sums)
        track = track._replace(label=np.empty(longest, np.int32))
        room = new_room(track, work.stack, status, longest, _SIZES)
        if plan.search is EventSearch.ONE_AT_A_TIME:
            found = self._find_alone(chunk, step, room)
        else:
            found = self._find(chunk, step, room)
        for matched, graphs in found:
            yield count_matches(matched) if graphs is None and plan.result is EventResult.COUNTS else (matched, graphs)

    def _find(self, chunk: Chunk, step: Step, room: Room) -> Iterator[tuple[Matched, Graphs | None]]:
        progress, listed = room.progress, step.automaton.wanted == o.ALL_MATCHES
        rows, full = _SIZES.rows, _SIZES.full
        runs = new_runs(_SIZES.runs, len(self.plan.words))
        matches = new_matches(rows if listed else 0)
        graphs = new_graphs(1, 0, 0) if listed else new_graphs(rows + 1, rows, len(room.cells.row))
        while True:
            pulse.follow(progress, o.AT_ROW)
            outcome = find_events(chunk.offsets, step, runs, room, matches, graphs, self.plan.budget, full)
            self.check(room.status, chunk)
            match outcome:
                case o.MORE_RUNS:
                    runs, room = longer_runs(runs), more_runs(room)
                case o.MORE_CELLS:
                    room = more_cells(room)
                case _:
                    # Few matches need little room; of many, many are handed on at a time.
                    alone = progress[o.MATCHES] == 0
                    if not alone and listed:
                        yield read_matches(matches, progress), None
                    elif not alone:
                        self._check_counts(graphs.high[: progress[o.MATCHES]], graphs.rows, chunk)
                        yield read_graphs(graphs, progress, len(self.plan.parts) - 1)
                    if outcome == o.FINISHED:
                        return
                    if outcome == o.MORE_MATCHES and listed:
                        if alone and len(matches.rows) > _MOST_AT_ONCE:
                            last = int(chunk.offsets[progress[o.AT_SERIES] + 1]) - 1
                            raise self._too_many(min(int(progress[o.AT_ROW]), last), chunk)
                        if alone or len(matches.rows) < full:
                            matches = new_matches(2 * len(matches.rows))
                    elif outcome == o.MORE_MATCHES:
                        times = 2 if alone or len(graphs.node_row) < full else 1
                        graphs = new_graphs(
                            times * len(graphs.owners), times * len(graphs.node_row), len(room.cells.row)
                        )
                    progress[o.MATCHES] = progress[o.USED] = progress[o.NODES] = progress[o.EDGES] = 0

    def _find_alone(self, chunk: Chunk, step: Step, room: Room) -> Iterator[tuple[Matched, Graphs | None]]:
        """One run after the other; all matches are held, and put in order at the end."""
        progress, words = room.progress, len(self.plan.words)
        runs, waiting = new_runs(4, words), new_runs(64, words)
        numbers = np.empty((2, 64), np.int64)
        matches = new_matches(1 << 16)
        while True:
            pulse.follow(progress, o.AT_ROW)
            outcome = find_events_alone(
                chunk.offsets, step, runs, waiting, numbers[0], numbers[1], room, matches, self.plan.budget
            )
            self.check(room.status, chunk)
            if outcome == o.FINISHED:
                break
            if outcome == o.MORE_RUNS:
                room, waiting = more_cells(room), longer_runs(waiting)
                numbers = np.concatenate([numbers, np.empty_like(numbers)], axis=1)
            else:
                # The step was half done: begin anew.
                matches = new_matches(4 * len(matches.rows))
                progress[:] = 0
                progress[o.AT_ROW] = -1
        if progress[o.MATCHES]:
            yield put_in_order(read_matches(matches, progress)), None

    def _automaton(self, conditions: Conditions, absences: Absences) -> EventAutomaton:
        plan = self.plan
        parts = plan.parts
        return EventAutomaton(
            np.array([part.repeated for part in parts], np.bool_),
            _bits([part.begin for part in parts], conditions),
            _programs([part.begin for part in parts]),
            _bits([part.take for part in parts], conditions),
            _programs([part.take for part in parts]),
            _programs([part.proceed for part in parts]),
            _SELECTIONS[plan.selection],
            plan.search is EventSearch.MERGED,
            plan.search is EventSearch.ONE_AT_A_TIME,
            self._wanted(absences),
            plan.non_overlapping,
            plan.timeouts and plan.result is EventResult.MATCHES,
        )

    def _wanted(self, absences: Absences) -> int:
        """What the kernel writes down; where it cannot count matches without a list, they are counted in the list."""
        plan = self.plan
        # What must be absent is compared with the events of each match, if there is anything to compare.
        compared = bool(((absences.program >= 0) & (absences.before[:, -1] > 0)).any())
        listed = compared or plan.search is EventSearch.ONE_AT_A_TIME
        return o.ALL_MATCHES if plan.result is EventResult.COUNTS and listed else _WANTED[plan.result]

    def _absences(self, conditions: Conditions, rows: int) -> Absences:
        absences = self.plan.absences
        bits = _bits([one.tests for one in absences], conditions)
        count = np.zeros((len(absences), rows + 1), np.int64)
        for number, bit in enumerate(bits):
            fits = conditions.bits[bit] if bit >= 0 else np.ones(rows, np.bool_)
            np.cumsum(fits, out=count[number, 1:])
        return Absences(
            np.array([one.after for one in absences], np.int64),
            bits,
            _programs([one.tests for one in absences]),
            count,
        )

    def _check_counts(self, high: Ints, rows: Ints, chunk: Chunk) -> None:
        """Where the number of matches is the result, it must be known; beside a graph it may be missing."""
        if self.plan.result is EventResult.COUNTS and (high < 0).any():
            where = chunk.where(int(rows[np.argmax(high < 0)]), self.plan)
            raise DataError(
                f"The number of matches that end at {where} has more than 38 digits.",
                cure="Shorten WITHIN, or make conditions stricter.",
            )

    def _too_many(self, row: int, chunk: Chunk) -> TrellisError:
        other = "Shorten WITHIN, make conditions stricter, or take another selection strategy."
        if any(one.tests.before >= 0 for one in self.plan.absences):
            cure = f"Each is compared with what must be absent, so all are listed, also to count them. {other}"
        else:
            cure = f"RETURN count(*) counts them, and compressed=True keeps them as a graph. {other}"
        return ResourceError(
            f"The matches that end at {chunk.where(row, self.plan)} have more than {_MOST_AT_ONCE:,} events together.",
            cure=cure,
        )

    def error(self, kind: int, row: int, chunk: Chunk) -> TrellisError:
        """What went wrong at a row, for people."""
        where = chunk.where(row, self.plan)
        if kind == o.OUT_OF_STEPS:
            return ResourceError(
                f"The search was given up after {self.plan.budget:,} steps in one partition, at {where}.",
                cure="Shorten WITHIN, make conditions stricter, take another selection strategy than "
                "skip_till_any_match, or raise the hint step_budget.",
            )
        return self.failure(kind, where)


def _reads_spread(kind: int, second: tuple[int, ...]) -> bool:
    return o.VAR_SAMP <= kind <= o.STDDEV_POP or any(slot >= 0 for slot in second)


def _bits(tests: list[EdgeTests], conditions: Conditions) -> Ints:
    return np.array([conditions.bit[one.alone] if one.alone >= 0 else -1 for one in tests], np.int64)


def _programs(tests: list[EdgeTests]) -> Ints:
    return np.array([one.before for one in tests], np.int64)
