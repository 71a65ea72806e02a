"""A segment plan over a chunk of rows: slices, the choice of a physical tree, matches, skips, numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from trellis.algebra.logical_tree import walk_all
from trellis.algebra.physical_tree import ChosenTree, PhysicalNode
from trellis.algebra.query import Boundary, SkipTo, Wanted
from trellis.algebra.segments import Price, SegmentScan
from trellis.algebra.statistics import SegmentStatistics
from trellis.errors import DataError
from trellis.execution.open_series import NEVER, rows_after
from trellis.execution.pulse import pulse
from trellis.execution.segments.conditions import SegmentTester, row_of
from trellis.execution.segments.executor import Executor
from trellis.execution.segments.functions import Extent, UserFunction
from trellis.execution.segments.rows import Rows
from trellis.execution.segments.sample import sample_segments
from trellis.execution.segments.sets import Segments
from trellis.execution.segments.spaces import Space, full_space
from trellis.kernels.arrays import Bools, Ints, Program, Slots
from trellis.kernels.pairs import skip_matches

__all__ = ["Choose", "Finder", "SegmentMatches"]

Choose = Callable[[SegmentScan, SegmentStatistics, Mapping[str, Price]], ChosenTree]
"""Chooses a physical tree for a plan from statistics of the rows at hand."""

_MOST_ROWS = 1 << 17


@dataclass(frozen=True, slots=True)
class SegmentMatches:
    """The matches of a chunk in order: rows of start and end, the segments of variables, number in the series.

    `following` is the row at which the search goes on after a match, for slices of series; -1 if there is none.
    """

    starts: Ints
    ends: Ints
    bindings: dict[str, Extent]
    numbers: Ints
    following: Ints


@dataclass(frozen=True, slots=True)
class _Part:
    """Segments that start at some rows, and end, for each of these, at some row from `ends[0]` to `ends[1]`."""

    starts: Bools
    ends: tuple[Ints, Ints] | None = None

    def of(self, space: Space, base: int) -> Space:
        """That part of the space of all segments of the rows from `base` on."""
        mine = self.starts[space.anchors + base]
        anchors, low, high = space.anchors[mine], space.low[mine], space.high[mine]
        if self.ends is not None:
            low = np.maximum(low, self.ends[0][anchors + base] - base)
            high = np.minimum(high, self.ends[1][anchors + base] - base)
            there = low <= high
            anchors, low, high = anchors[there], low[there], high[there]
        return Space("start", anchors, low, high)


@dataclass(slots=True)
class Finder:
    """Finds the matches of a plan, chunk after chunk. The tree is chosen with the first chunk, and kept."""

    plan: SegmentScan
    choose: Choose
    users: Mapping[str, UserFunction] = field(default_factory=dict)
    tree: PhysicalNode | None = None

    def find(
        self,
        offsets: Ints,
        slots: Slots,
        program: Program,
        start_before: Ints | None = None,
        name: Callable[[int], str] | None = None,
    ) -> tuple[Rows, SegmentMatches]:
        """The matches in a chunk of whole series; for slices, those that start before a row of each.

        `name` says of a row which one it is, for errors.
        """
        rows = self.rows(offsets, slots, name)
        return rows, self._finish(rows, self._search(rows, program, None), start_before)

    def count(self, offsets: Ints, slots: Slots, program: Program, name: Callable[[int], str] | None = None) -> int:
        """How many segments there are in a chunk, whatever AFTER MATCH SKIP says."""
        return len(self._search(self.rows(offsets, slots, name), program, None))

    def find_settled(
        self,
        offsets: Ints,
        slots: Slots,
        program: Program,
        begins: Ints,
        shown: Ints | None,
        is_open: Bools,
        horizon: int,
        name: Callable[[int], str],
    ) -> tuple[Rows, SegmentMatches, Ints, Ints]:
        """The matches that start at `begins` or later and that no row to come can change.

        Also, for each series, the row from which it is undecided: no window from an earlier row reaches the end of the
        rows, nor do the rows behind that which count, and AFTER MATCH SKIP leads to no earlier one. And when the window
        of that row has closed.

        Where all matches are wanted, each is known when its rows are there, and those behind it that count. With
        `shown` these come at once, without those that were known when there were no rows from there on; else they come
        with their windows.
        """
        rows = self.rows(offsets, slots, name)
        deadlines = self._deadlines(rows)
        undecided = np.where(is_open, self._first_incomplete(rows, deadlines < horizon), offsets[1:])
        # Rows before the beginning are there to be looked at; a match has skipped them.
        undecided = np.maximum(undecided, begins)
        every = np.arange(rows.count)
        series = np.repeat(np.arange(len(begins)), np.diff(offsets))
        starts = every >= begins[series]
        if shown is None:
            found = self._search(rows, program, _Part(starts & (every < undecided[series])))
        else:
            after = rows_after(self.plan)
            ends = (shown - after)[series], (offsets[1:] - 1 - np.where(is_open, after, 0))[series]
            found = self._search(rows, program, _Part(starts, ends))
        matches = self._finish(rows, found, None)
        if self.plan.wanted is Wanted.PREFERRED:
            np.maximum.at(undecided, series[matches.starts], matches.following)
        due = np.where(undecided < offsets[1:], np.append(deadlines, NEVER)[undecided], NEVER)
        return rows, matches, undecided, due

    def _deadlines(self, rows: Rows) -> Ints:
        """For each row the last time that a match from it may reach, if nothing behind a match counts."""
        deadlines = np.full(rows.count, NEVER)
        if rows_after(self.plan) > 0:
            return deadlines
        for time in self.plan.tree.window.times:
            source = self.plan.slots[time.slot]
            if time.most is not None and source.column == self.plan.time and source.held != "float":
                deadlines = np.minimum(deadlines, rows.slots.ints[time.slot] + time.most)
        return deadlines

    def _first_incomplete(self, rows: Rows, closed: Bools) -> Ints:
        """For each series, the first row from which a segment might go on, or be looked at, beyond the last row.

        None does where the window has `closed`.
        """
        window, every = self.plan.tree.window, np.arange(rows.count)
        last = rows.stop + 0
        if window.most is not None:
            last = np.minimum(last, every + window.most - 1)
        for time in window.times:
            reach = rows.reach(time) if time.most is not None else None
            if reach is not None:
                # A window that ends before the last row has ended; another may go on.
                last = np.where(reach[1] < rows.stop - 1, np.minimum(last, reach[1]), last)
        complete = np.append(0, np.cumsum((last + rows_after(self.plan) < rows.stop) | closed))
        return rows.offsets[:-1] + np.diff(complete[rows.offsets])

    def _search(self, rows: Rows, program: Program, wanted: _Part | None) -> Segments:
        """All segments, or those that are wanted."""
        found: list[Segments] = []
        spent = 0
        for part, space, base in self._slices(rows, wanted):
            pulse.at(base)
            conditions = SegmentTester(part, self.plan.conditions, program, self.plan.program.depth, self.users)
            if self.tree is None:
                self.tree = self.choose(self.plan, sample_segments(self.plan, part, conditions), self.prices()).tree
            executor = Executor(part, conditions, self.plan.budget, self.plan.reach, spent)
            result = executor.run(self.tree, space, frozenset(self.plan.tracked))
            found.append(_moved(result, base))
            spent = executor.spent
        return _together(found)

    def prices(self) -> dict[str, Price]:
        """What registered functions cost."""
        return {name: user.price for name, user in self.users.items()}

    def rows(self, offsets: Ints, slots: Slots, name: Callable[[int], str] | None = None) -> Rows:
        """The rows of a chunk."""
        whole = tuple(source.held != "float" for source in self.plan.slots)
        return Rows(offsets, slots, whole, self.plan.scales, self._longest(offsets), name)

    def _longest(self, offsets: Ints) -> int:
        """How many rows a segment may have that anybody looks at; parts of a match may be longer than all matches."""
        longest = int(np.diff(offsets).max())
        bounds = [node.window.most for node in walk_all(self.plan.tree)]
        return min([longest, max(longest if most is None else most for most in bounds)])

    def _slices(self, rows: Rows, wanted: _Part | None) -> Iterator[tuple[Rows, Space | None, int]]:
        """The chunk in pieces, where it is long and segments are short, each with the rows that its segments need."""
        last = self._last_rows(rows)
        if rows.count <= 2 * _MOST_ROWS or last is None:
            yield rows, (None if wanted is None else wanted.of(full_space(rows), 0)), 0
            return
        for first in range(0, rows.count, _MOST_ROWS):
            stop = min(first + _MOST_ROWS, rows.count)
            low = max(int(rows.first[first]), first - self.plan.reach)
            high = min(int(rows.stop[stop - 1]), int(last[first:stop].max()) + 1 + self.plan.reach)
            part = _part_of(rows, low, high)
            mine = np.zeros(rows.count, np.bool_)
            mine[first:stop] = True if wanted is None else wanted.starts[first:stop]
            every, here = full_space(part), _Part(mine, None if wanted is None else wanted.ends)
            yield part, (None if here.ends is None and mine[low:high].all() else here.of(every, low)), low

    def _last_rows(self, rows: Rows) -> Ints | None:
        """The last row that a segment from each row may reach; None if nothing bounds it well."""
        window = self.plan.tree.window
        last = rows.stop - 1
        if window.most is not None:
            last = np.minimum(last, np.arange(rows.count) + window.most - 1)
        for time in window.times:
            reach = rows.reach(time) if time.most is not None else None
            last = last if reach is None else np.minimum(last, reach[1])
        longest = int((last - np.arange(rows.count)).max(initial=0))
        return last if longest <= _MOST_ROWS // 4 else None

    def _finish(self, rows: Rows, found: Segments, start_before: Ints | None) -> SegmentMatches:
        starts, ends = found.pairs()
        series = np.searchsorted(rows.offsets, starts, side="right") - 1
        following = starts
        if start_before is not None:
            mine = np.flatnonzero(starts < start_before[series])
            found, series = found.take(mine), series[mine]
            following = found.pairs()[0]
        if self.plan.wanted is Wanted.PREFERRED:
            found, series, following = self._skipped(
                rows, found, series.astype(np.int64), every_start=start_before is not None
            )
        starts, ends = found.pairs()
        # Numbers start at 1 in each series.
        firsts = np.flatnonzero(np.diff(series, prepend=-1))
        counts = np.diff(np.append(firsts, len(series)))
        numbers = np.arange(1, len(series) + 1) - np.repeat(firsts, counts)
        return SegmentMatches(starts, ends, found.bindings, numbers.astype(np.int64), following)

    def _skipped(self, rows: Rows, found: Segments, series: Ints, *, every_start: bool) -> tuple[Segments, Ints, Ints]:
        """AFTER MATCH SKIP: the leftmost start, then the longest (or preferred), then on from where the skip leads.

        With `every_start` nothing is skipped but other matches from the same row: a later pass will.
        """
        starts, ends = found.pairs()
        keys = [self._boundary(found, boundary) for boundary in self.plan.preference] or [-ends]
        # What is still equal goes by the rows of variables, in the order of their names.
        ties = [array for name in self.plan.tracked for array in found.bindings[name]]
        order = np.lexsort((*reversed(ties), *reversed(keys), starts))
        found, series = found.take(order), series[order]
        starts, ends = found.pairs()
        to_target = self.plan.skip in (SkipTo.FIRST, SkipTo.LAST)
        targets = starts
        if to_target:
            first = self.plan.skip is SkipTo.FIRST
            targets = row_of(rows, found.bindings[self.plan.skip_to], first, 0, 0)
        past = ends + 1 if self.plan.skip is SkipTo.PAST_LAST_ROW else starts + 1
        following = np.where(targets > starts, targets, -1) if to_target else past
        if every_start:
            places = np.flatnonzero(np.diff(starts, prepend=-1))
            return found.take(places), series[places], following[places]
        kept = np.zeros(len(starts), np.bool_)
        wrong = skip_matches(series, starts, ends, targets, self.plan.skip is SkipTo.PAST_LAST_ROW, to_target, kept)
        if wrong >= 0:
            raise DataError(
                f"AFTER MATCH {self.plan.skip.value} {self.plan.skip_to} is impossible for the match at "
                f"{rows.where(int(starts[wrong]))}: there is no such row after the first one.",
                cure="Skip to a variable that every match contains after its first row, or use SKIP TO NEXT ROW.",
            )
        places = np.flatnonzero(kept)
        return found.take(places), series[places], following[places]

    def _boundary(self, found: Segments, boundary: Boundary) -> Ints:
        """What a quantifier took of each match, the preferred first; nothing at all is least."""
        starts, ends = found.pairs() if boundary.variable is None else found.bindings[boundary.variable]
        rows = starts if boundary.at_start else ends
        return -rows if boundary.latest else rows


def _part_of(rows: Rows, low: int, high: int) -> Rows:
    """Neighbouring rows as a chunk of their own; series may be cut."""
    inner = rows.offsets[(rows.offsets > low) & (rows.offsets < high)]
    offsets = np.concatenate([[low], inner, [high]]).astype(np.int64) - low
    slots = Slots(
        np.ascontiguousarray(rows.slots.ints[:, low:high]),
        np.ascontiguousarray(rows.slots.floats[:, low:high]),
        np.ascontiguousarray(rows.slots.known[:, low:high]),
        rows.slots.pair_ints,
        rows.slots.pair_floats,
        rows.slots.pair_known,
    )
    return Rows(offsets, slots, rows.whole, rows.scales, rows.longest, lambda row: rows.where(row + low))


def _moved(segments: Segments, base: int) -> Segments:
    if base == 0:
        return segments
    starts, ends = segments.pairs()
    bindings = {
        name: (np.where(s >= 0, s + base, -1), np.where(s >= 0, e + base, -1))
        for name, (s, e) in segments.bindings.items()
    }
    return Segments((starts + base, ends + base), bindings=bindings)


def _together(found: list[Segments]) -> Segments:
    if len(found) == 1:
        return found[0]
    starts, ends = (np.concatenate(arrays) for arrays in zip(*(part.pairs() for part in found), strict=True))
    bindings = {
        name: (
            np.concatenate([part.bindings[name][0] for part in found]),
            np.concatenate([part.bindings[name][1] for part in found]),
        )
        for name in found[0].bindings
    }
    return Segments((starts, ends), bindings=bindings)
