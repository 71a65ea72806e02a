"""How far partial matches come, counted in a worker: a partition of sorted rows in, one line of JSON out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from trellis.algebra.automaton import Op
from trellis.algebra.partial import PartialScan
from trellis.errors import DataError, ResourceError
from trellis.execution import loading
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.rows.matcher import RowMatcher
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Automaton, Bytes, Conditions, Elements, Ints, Program, Shorts, Slots, Work
from trellis.kernels.partial import LAST_ROW, LEFT_BITS, NO_ROW, NOTHING, ROW_BITS, explore, sweep
from trellis.kernels.room import more_room, new_track, new_work

__all__ = ["BEYOND_ROWS", "Followed", "Partial", "PartialMatcher", "PartialTask", "joined"]

BEYOND_ROWS = -1
"""In place of the parts of a condition that are left: there is no such row."""

_SHOWN_BEGIN, _SHOWN_END = 3, 4
_LONGEST_TEXT = 40
# Starts are looked at in this order where there is not time for all: so those that are looked at lie everywhere.
_STRIDES = (4096, 512, 64, 8, 1)


@dataclass(slots=True)
class Partial:
    """What is known of the rows of a partition, added up over its chunks.

    `passed` counts for each condition the rows for which it holds (those that look at the match stay at 0), `reached`
    for each element the starts, `ends` the failed attempts: their instruction, how many parts of the condition were
    left (none: the row lies beyond the window), and how many there are. `matches` are those of the search itself;
    `given_up` says why there are none, if it was given up. `failed` are tests with an error.
    """

    rows: int = 0
    series: int = 0
    longest: int = 0
    matches: int = 0
    given_up: str = ""
    asked: int = 0
    matched: int = 0
    unknown: int = 0
    cut: int = 0
    failed: int = 0
    passed: list[int] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)
    ends: list[tuple[int, int, int]] = field(default_factory=list)
    nearest: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PartialTask:
    """The function of `mapInArrow`."""

    plan: PartialScan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition in, what is known of them out."""
        found = self.follow(batches)
        if found.rows:
            text = json.dumps({name: getattr(found, name) for name in Partial.__slots__})
            yield pa.record_batch({"found": pa.array([text], pa.string())})

    def follow(self, batches: Iterable[pa.RecordBatch]) -> Partial:
        """The same as a value."""
        matcher, scan = PartialMatcher(self.plan), self.plan.scan
        for chunk in read_chunks(iter(batches), scan.keys, scan.chunk_rows):
            matcher.add(chunk)
        return matcher.found()


class Followed(NamedTuple):
    """What is known of each row of a chunk as a start: its nearest failed attempt, how far it comes (REACHES_...)."""

    ranks: Ints
    places: Shorts
    outcomes: Bytes
    reached: Ints
    cut: int = 0
    failed: int = 0


class _Loaded(NamedTuple):
    """A chunk as kernels read it."""

    chunk: Chunk
    conditions: Conditions
    program: Program
    slots: Slots
    work: Work
    numbers: Ints


class PartialMatcher:
    """A plan as arrays, and what was found by it so far."""

    def __init__(self, plan: PartialScan) -> None:
        self.plan = plan
        self.searcher = RowMatcher(plan.scan)
        code = plan.instructions
        self.automaton = Automaton(
            _shorts([step.op for step in code]),
            _shorts([step.variable for step in code]),
            np.zeros(len(code), np.bool_),
            _shorts([step.x for step in code]),
            _shorts([step.y for step in code]),
            _shorts(list(plan.backward)),
        )
        numbers: list[int] = []
        begins, ends = [], []
        for element in plan.elements:
            begins.append(len(numbers))
            numbers += [test.condition for test in plan.tests[element.variable]]
            ends.append(len(numbers))
        self.elements = Elements(
            _shorts([element.variable for element in plan.elements]),
            np.array(begins, np.int64),
            np.array(ends, np.int64),
            _shorts(numbers),
            _shorts(list(plan.missing)),
        )
        self.merging = loading.load_merges(plan.merges, plan.key_width, plan.scan.aggregates)
        local = all(test.local for tests in plan.tests for test in tests)
        checks = any(step.op is Op.CHECK for step in code)
        self.sweeps = local and not checks and plan.scan.within is None
        self.total = Partial(passed=[0] * len(plan.scan.conditions), reached=[0] * len(plan.elements))
        self.ends: Counter[tuple[int, int]] = Counter()

    def found(self) -> Partial:
        """What is known of all chunks."""
        self.total.ends = [(place, outcome, count) for (place, outcome), count in sorted(self.ends.items())]
        return self.total

    def add(self, chunk: Chunk) -> None:
        """Follow the partial matches of a chunk."""
        loaded = self._load(chunk)
        followed = self.follow(loaded)
        total = self.total
        total.rows += chunk.table.num_rows
        total.series += len(chunk.offsets) - 1
        total.longest = max(total.longest, int(np.diff(chunk.offsets).max()))
        for number, condition in enumerate(self.plan.scan.conditions):
            if condition.where == "always":
                total.passed[number] += chunk.table.num_rows
            elif condition.where != "kernel":
                total.passed[number] += int(loaded.conditions.bits[loaded.conditions.bit[number]].sum())
        outcomes = followed.outcomes
        stopped = outcomes == o.REACHES_NONE
        total.asked += int((outcomes != o.REACHES_UNASKED).sum())
        total.matched += int((outcomes == o.REACHES_MATCH).sum())
        total.unknown += int((outcomes == o.REACHES_UNKNOWN).sum())
        total.cut += followed.cut
        total.failed += followed.failed
        total.reached = [old + int(new) for old, new in zip(total.reached, followed.reached, strict=True)]
        places, ranks = followed.places[stopped].astype(np.int64), followed.ranks[stopped]
        left = ranks >> ROW_BITS & NO_ROW
        codes, counts = np.unique(places << LEFT_BITS | left, return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            self.ends[code >> LEFT_BITS, _parts_left(code)] += count
        self._keep_nearest(loaded, np.flatnonzero(stopped), ranks, places)

    def follow_chunk(self, chunk: Chunk) -> Followed:
        """How far the partial matches of a chunk come, start by start."""
        return self.follow(self._load(chunk))

    def _load(self, chunk: Chunk) -> _Loaded:
        searcher, scan = self.searcher, self.plan.scan
        status = np.zeros(3, np.int64)
        dictionary = searcher.dictionary(chunk)
        slots, program = loading.load_slots(chunk, scan.slots, dictionary), searcher.program(dictionary)
        longest = int(np.diff(chunk.offsets).max())
        width = max(self.plan.key_width, 3)
        work = new_work(longest, len(self.plan.instructions), width, scan.program.depth, False, True, searcher.wide)
        origins, edges = loading.load_starts(chunk, None), loading.load_edges(scan, chunk)
        conditions = searcher.conditions(chunk, slots, program, work, status, origins, edges)
        searcher.check(status, chunk)
        return _Loaded(chunk, conditions, program, slots, work, self._search(chunk))

    def _search(self, chunk: Chunk) -> Ints:
        """Search as the query does; for each row, what number a match from there would have."""
        total = self.total
        try:
            found = [
                matcher.find(chunk, matcher.dictionary(chunk)) for matcher in (self.searcher, *self.searcher.others)
            ]
        except (DataError, ResourceError) as error:
            total.given_up = total.given_up or error.problem
            return np.ones(chunk.table.num_rows, np.int64)
        began = np.zeros(chunk.table.num_rows + 1, np.int64)
        for matches in found:
            count = int(matches.progress[2])
            total.matches += count
            np.add.at(began, matches.starts[:count] + 1, 1)
        before = np.cumsum(began)[:-1]
        numbers: Ints = before - np.repeat(before[chunk.offsets[:-1]], np.diff(chunk.offsets)) + 1
        return numbers

    def follow(self, loaded: _Loaded) -> Followed:
        """How far partial matches come, start by start."""
        rows = loaded.chunk.table.num_rows
        followed = Followed(
            np.full(rows, NOTHING, np.int64),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.uint8),
            np.zeros(len(self.plan.elements), np.int64),
        )
        if not self.sweeps:
            return self._explore(loaded, followed, _spread(rows), self.plan.row_steps * rows + self.plan.start_steps)
        width, words = len(self.plan.instructions), (len(self.plan.elements) + 63) // 64
        sweep(
            loaded.chunk.offsets,
            self.automaton,
            self.elements,
            loaded.conditions,
            np.empty((2, width), np.int64),
            np.empty((2, width), np.int32),
            np.empty((2, width), np.bool_),
            np.zeros((2, width, words), np.uint64),
            followed.ranks,
            followed.places,
            followed.outcomes,
            followed.reached,
        )
        return followed

    def _explore(
        self, loaded: _Loaded, followed: Followed, starts: Ints, steps: int, path: Shorts | None = None
    ) -> Followed:
        chunk, scan, searcher, work = loaded.chunk, self.plan.scan, self.searcher, loaded.work
        longest = int(np.diff(chunk.offsets).max())
        track = new_track(
            searcher.member,
            len(scan.aggregates),
            longest,
            searcher.tracked,
            looks_back=searcher.looks_back,
            wide=searcher.wide_sums,
        )
        within = loading.load_within(chunk, scan.within)
        owners = np.repeat(np.arange(len(chunk.offsets) - 1), np.diff(chunk.offsets))
        stamps = np.full(len(self.plan.elements), -1, np.int64)
        progress = np.array([0, steps, 0, 0], np.int64)
        status = np.zeros(3, np.int64)
        path = np.zeros(1, np.int32) if path is None else path
        while True:
            outcome = explore(
                chunk.offsets,
                owners,
                loaded.numbers,
                starts,
                self.automaton,
                self.elements,
                loaded.conditions,
                loaded.program,
                loaded.slots,
                searcher.places,
                searcher.aggregates,
                self.merging,
                within,
                track,
                work,
                stamps,
                followed.ranks,
                followed.places,
                followed.outcomes,
                followed.reached,
                path,
                progress,
                self.plan.start_steps,
                status,
            )
            if outcome == o.DONE:
                return followed._replace(cut=int(progress[3]), failed=int(progress[2]))
            work = more_room(work)

    def _keep_nearest(self, loaded: _Loaded, starts: Ints, ranks: Ints, places: Ints) -> None:
        """Keep the nearest misses; of those that stop at one row for one reason, the longest."""
        if len(starts) == 0 or self.plan.nearest == 0:
            return
        offsets = loaded.chunk.offsets
        stops = LAST_ROW - (ranks & LAST_ROW)
        series = np.searchsorted(offsets, starts, side="right")
        grades = ranks >> ROW_BITS
        order = np.lexsort((starts, -(stops - starts), grades))
        seen: set[tuple[int, int, int]] = set()
        kept = 0
        for at in order.tolist():
            key = (int(series[at]), int(stops[at]), int(places[at]))
            if key in seen:
                continue
            seen.add(key)
            kept += 1
            length = int(stops[at] - starts[at])
            worst = self.total.nearest[-1] if len(self.total.nearest) >= self.plan.nearest else None
            grade = [int(grades[at]) >> LEFT_BITS, int(grades[at]) & NO_ROW, -length]
            if kept > self.plan.nearest or (worst is not None and worst["grade"] <= grade):
                break
            self.total.nearest.append(self._miss(loaded, int(starts[at]), int(series[at]) - 1, grade))
            self.total.nearest.sort(key=_by_grade)
            del self.total.nearest[self.plan.nearest :]

    def _miss(self, loaded: _Loaded, start: int, series: int, grade: list[int]) -> dict[str, Any]:
        """A miss as people see it: its rows, and what each was taken for."""
        chunk = loaded.chunk
        low, high = int(chunk.offsets[series]), int(chunk.offsets[series + 1])
        path = np.full(max(2, high - low), -1, np.int32)
        rows = chunk.table.num_rows
        again = Followed(
            np.full(rows, NOTHING, np.int64),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.uint8),
            np.zeros(len(self.plan.elements), np.int64),
        )
        again = self._explore(loaded, again, np.array([start], np.int64), self.plan.start_steps, path)
        rank, place = int(again.ranks[start]), int(again.places[start])
        stop = LAST_ROW - (rank & LAST_ROW)
        taken = list(range(start, stop))
        gap = len(taken) - _SHOWN_BEGIN - _SHOWN_END
        told = taken if gap <= 1 else [*taken[:_SHOWN_BEGIN], *taken[-_SHOWN_END:]]
        shown = [(row, int(path[row - start])) for row in told]
        if stop < high:
            shown.append((stop, -1))
        columns = [chunk.column(name) for _, name in self.plan.shown]
        keys = [_text(chunk.column(name)[start].as_py()) for _, name in self.plan.keys]
        return {
            "grade": grade,
            "keys": keys,
            "first": start - low + 1,
            "taken": len(taken),
            "gap": max(0, gap) if gap > 1 else 0,
            "place": place,
            "left": _parts_left(rank >> ROW_BITS),
            "rows": [[row - low + 1, element, [_text(c[row].as_py()) for c in columns]] for row, element in shown],
        }


def joined(found: Iterable[Partial], nearest: int) -> Partial:
    """What is known of several partitions."""
    total, ends = Partial(), Counter[tuple[int, int]]()
    for one in found:
        for name in ("rows", "series", "matches", "asked", "matched", "unknown", "cut", "failed"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
        total.longest = max(total.longest, one.longest)
        total.given_up = total.given_up or one.given_up
        total.passed = [a + b for a, b in zip_longest(total.passed, one.passed, fillvalue=0)]
        total.reached = [a + b for a, b in zip_longest(total.reached, one.reached, fillvalue=0)]
        for place, left, count in one.ends:
            ends[place, left] += count
        total.nearest += one.nearest
    total.ends = [(place, left, count) for (place, left), count in sorted(ends.items())]
    total.nearest = sorted(total.nearest, key=_by_grade)[:nearest]
    return total


def _by_grade(miss: dict[str, Any]) -> tuple[list[int], list[str], int]:
    return miss["grade"], miss["keys"], miss["first"]


def _parts_left(code: int) -> int:
    left = code & NO_ROW
    return BEYOND_ROWS if left == NO_ROW else left


def _spread(rows: int) -> Ints:
    """All rows, those first that lie far apart."""
    numbers = np.arange(rows, dtype=np.int64)
    order = np.empty(rows, np.int64)
    order[:] = numbers
    if rows <= _STRIDES[0]:
        return order
    level = np.full(rows, len(_STRIDES), np.int64)
    for number in range(len(_STRIDES) - 1, -1, -1):
        level[numbers % _STRIDES[number] == 0] = number
    return np.argsort(level, kind="stable").astype(np.int64)


def _text(value: object) -> str:
    text = "NULL" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _shorts(values: list[int]) -> Shorts:
    return np.array(values, np.int32)
