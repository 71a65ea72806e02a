"""Chunks of sorted events through the kernels, matches out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from trellis.algebra.event_scan import EdgeTests, EventScan, EventSearch
from trellis.algebra.query import Selection
from trellis.errors import ResourceError, TrellisError
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.match_reader import MatchReader
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Conditions, Ints, Matched
from trellis.kernels.event_arrays import Absences, Cells, EventAutomaton, EventMatches, Registers, Room, Runs, Step
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
# Rows of matches that are written before they are handed on.
_FULL = 1 << 20


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
            len(plan.sets),
            len(plan.aggregates),
            np.array([_reads_spread(spec.kind, spec.second) for spec in plan.aggregates], np.bool_),
        )

    def run(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk."""
        dictionary = self.dictionary(chunk)
        owner, given = -1, 0
        for matched in self.find(chunk, dictionary):
            before = np.where(matched.owners == owner, given, 0)
            yield from self.measure(chunk, dictionary, matched, matched.starts, before=before)
            last = int(matched.owners[-1])
            given = int(np.count_nonzero(matched.owners == last)) + (given if last == owner else 0)
            owner = last

    def find(self, chunk: Chunk, dictionary: loading.Dictionary | None) -> Iterator[Matched]:
        """The matches of a chunk, some at a time."""
        plan = self.plan
        status = np.zeros(3, np.int64)
        slots = loading.load_slots(chunk, plan.slots, dictionary)
        program = self.program(dictionary)
        longest = int(np.diff(chunk.offsets).max())
        work = new_work(longest, 1, 1, plan.program.depth, True, False, self.wide)
        origins, edges = loading.load_starts(chunk, None), loading.load_edges(plan, chunk, (), ())
        conditions = self.conditions(chunk, slots, program, work, status, origins, edges)
        self.check(status, chunk)
        step = Step(
            self._automaton(conditions),
            self._absences(conditions, chunk.table.num_rows),
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
        cell = np.zeros(1, np.float64)
        progress = np.zeros(o.COUNTERS, np.int64)
        progress[o.AT_ROW] = -1
        one, other = (_new_runs(64, len(plan.words)) for _ in range(2))
        room = Room(
            track,
            work.stack,
            _new_cells(1024),
            np.empty(64, np.int64),
            np.empty(longest, np.int64),
            np.empty(longest, np.int64),
            np.empty(1024, np.int64),
            np.empty(1024, np.int64),
            progress,
            cell,
            cell.view(np.int64),
            status,
        )
        if plan.search is EventSearch.ONE_AT_A_TIME:
            yield from self._find_alone(chunk, step, room)
            return
        matches = _new_matches(1024)
        while True:
            outcome = find_events(chunk.offsets, step, one, other, room, matches, plan.budget, _FULL)
            self.check(status, chunk)
            match outcome:
                case o.MORE_RUNS:
                    one, other = (_longer(runs) for runs in (one, other))
                    room = room._replace(final=np.empty(len(one.state), np.int64))
                case o.MORE_CELLS:
                    room = _more_cells(room)
                case o.MORE_MATCHES if progress[o.MATCHES] == 0:
                    matches = _new_matches(2 * len(matches.rows))
                case _:
                    if progress[o.MATCHES]:
                        yield _matched(matches, progress)
                        progress[o.MATCHES] = progress[o.USED] = 0
                    if outcome == o.FINISHED:
                        return

    def _find_alone(self, chunk: Chunk, step: Step, room: Room) -> Iterator[Matched]:
        """One run after the other; all matches are held, and put in order at the end."""
        progress, words = room.progress, len(self.plan.words)
        one, other, waiting = _new_runs(4, words), _new_runs(4, words), _new_runs(64, words)
        numbers = np.empty((2, 64), np.int64)
        matches = _new_matches(1 << 16)
        while True:
            outcome = find_events_alone(
                chunk.offsets, step, one, other, waiting, numbers[0], numbers[1], room, matches, self.plan.budget
            )
            self.check(room.status, chunk)
            if outcome == o.FINISHED:
                break
            if outcome == o.MORE_RUNS:
                room, waiting = _more_cells(room), _longer(waiting)
                numbers = np.concatenate([numbers, np.empty_like(numbers)], axis=1)
            else:
                # The step was half done: begin anew.
                matches = _new_matches(4 * len(matches.rows))
                progress[:] = 0
                progress[o.AT_ROW] = -1
        if progress[o.MATCHES]:
            yield _in_order(_matched(matches, progress))

    def _automaton(self, conditions: Conditions) -> EventAutomaton:
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
            plan.non_overlapping,
        )

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


def _in_order(matched: Matched) -> Matched:
    """The matches as the other searches give them: by their last row, then by all of their rows."""
    begins = matched.begins
    keys = [
        (matched.rows[end - 1], tuple(matched.rows[begin:end]), tuple(-matched.variables[begin:end]))
        for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
    ]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    lengths = np.diff(begins)[order]
    places = np.concatenate([np.arange(begins[k], begins[k + 1]) for k in order])
    return Matched(
        matched.starts[order],
        matched.owners[order],
        np.append(0, np.cumsum(lengths)),
        matched.rows[places],
        matched.variables[places],
        matched.shown,
    )


def _reads_spread(kind: int, second: tuple[int, ...]) -> bool:
    return o.VAR_SAMP <= kind <= o.STDDEV_POP or any(slot >= 0 for slot in second)


def _bits(tests: list[EdgeTests], conditions: Conditions) -> Ints:
    return np.array([conditions.bit[one.alone] if one.alone >= 0 else -1 for one in tests], np.int64)


def _programs(tests: list[EdgeTests]) -> Ints:
    return np.array([one.before for one in tests], np.int64)


def _new_runs(count: int, words: int) -> Runs:
    state, cell, start, key = (np.empty(count, np.int64) for _ in range(4))
    return Runs(state, cell, start, key, np.empty((count, words), np.int64))


def _longer(runs: Runs) -> Runs:
    return Runs(*(np.concatenate([array, np.empty_like(array)]) for array in runs))


def _new_cells(count: int) -> Cells:
    return Cells(*(np.empty(count, np.int64) for _ in range(5)))


def _more_cells(room: Room) -> Room:
    cells = Cells(*(np.concatenate([array, np.empty_like(array)]) for array in room.cells))
    todo = np.empty(len(cells.row), np.int64)
    return room._replace(cells=cells, todo_cell=todo, todo_depth=np.empty_like(todo))


def _new_matches(rows: int) -> EventMatches:
    arrays = (np.empty(rows + 1, np.int64) for _ in range(8))
    return EventMatches(*arrays)


def _matched(matches: EventMatches, progress: Ints) -> Matched:
    count, used = int(progress[o.MATCHES]), int(progress[o.USED])
    rows = matches.rows[:used].copy()
    begins = matches.begins[: count + 1].copy()
    return Matched(
        rows[begins[:-1]],
        matches.owners[:count].copy(),
        begins,
        rows,
        matches.parts[:used].astype(np.int32),
        np.ones(used, np.bool_),
    )
