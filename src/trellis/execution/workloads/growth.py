"""Series of events that still grow: which matches of a workload are decided, and which events are still needed.

1. A match is decided when its last event has come; but where something must be absent behind it, when its window has
   closed. Which windows had closed when a series was last looked at, the number `horizon` of the series tells: so each
   match is given out once.
2. No match to come begins at an event whose windows have all closed.
3. Events before that are needed where matches wait, and something must be absent before their first event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trellis.algebra.workload_scan import RootSpec, WindowSpec, WorkloadScan
from trellis.execution.chunks import Chunk
from trellis.execution.loading import load_within
from trellis.execution.open_series import NEVER, OpenSeries
from trellis.execution.workloads.found import take_matches, without
from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.instance_arrays import Matched, Window

__all__ = ["Growing", "is_open"]


def is_open(root: RootSpec) -> bool:
    """Whether something must be absent that could still come when all events of a match have."""
    return any(not absence.before for absence in root.absences)


@dataclass(frozen=True, slots=True)
class Roots:
    """What decides when matches of each root come: whether it is open, and whether others of its pattern are not."""

    pattern: Ints
    window: Ints
    is_open: Bools
    is_mixed: Bools

    @staticmethod
    def of(plan: WorkloadScan) -> Roots:
        """Those of a plan."""
        opened = {root.pattern for root in plan.roots if is_open(root)}
        mixed = opened & {root.pattern for root in plan.roots if not is_open(root)}
        return Roots(
            np.array([root.pattern for root in plan.roots], np.int64),
            np.array([root.window for root in plan.roots], np.int64),
            np.array([is_open(root) for root in plan.roots], np.bool_),
            np.array([root.pattern in mixed for root in plan.roots], np.bool_),
        )


@dataclass(frozen=True, slots=True)
class Growing:
    """What is known of series that grow: of each row its series, and of each window when it closes; `deadline`: of all.

    Matches of open roots whose windows had not closed, and are now (`closing[window, row]`), are new; of other roots
    those that do not end before the row `shown` of their series. Rows to come have no smaller time than `horizon`.
    """

    roots: Roots
    series: Ints
    closed: Bools
    deadline: Ints
    closing: Bools
    waiting: tuple[Ints, ...]
    shown: Ints
    horizon: Ints

    @staticmethod
    def of(
        plan: WorkloadScan, chunk: Chunk, windows: Sequence[Window], series: OpenSeries, final: Bools, horizon: int
    ) -> Growing:
        """What is known of series of which the chunk has the rows from `first` on."""
        owners = np.repeat(np.arange(len(final)), np.diff(chunk.offsets))
        closed = np.ones(len(owners), np.bool_)
        deadline = np.full(len(owners), -NEVER)
        horizons = np.full(len(final), horizon, np.int64)
        in_chunk = chunk.offsets[:-1] - series.first
        start, shown = series.start + in_chunk, series.shown + in_chunk
        rows = np.arange(len(owners))
        # All windows of rows before `start` had closed, and rows from `shown` on are new.
        earlier, seen = rows < start[owners], rows < shown[owners]
        closing, waiting = [], []
        open_windows = {root.window for root in plan.roots if is_open(root)}
        for number, (spec, window) in enumerate(zip(plan.windows, windows, strict=True)):
            over, until, before = _closed(spec, window, chunk, owners, horizons, shown, series.horizon)
            closed &= over
            deadline = np.maximum(deadline, until)
            closing.append((over | final[owners]) & ~(before & seen) & ~earlier)
            waiting.append(np.where(over, NEVER, until) if number in open_windows else np.zeros(0, np.int64))
        return Growing(
            Roots.of(plan),
            owners,
            closed | final[owners],
            deadline,
            np.array(closing),
            tuple(waiting),
            shown,
            horizons,
        )

    def decided(self, matched: Matched) -> Matched:
        """The matches that are decided now, and were not before; their source is their pattern then, not their root."""
        firsts, lasts = matched.rows[matched.begins[:-1]], matched.rows[matched.begins[1:] - 1]
        closing = self.closing[self.roots.window[matched.source], firsts]
        opened, mixed = self.roots.is_open[matched.source], self.roots.is_mixed[matched.source]
        new = np.where(opened, closing, lasts >= self.shown[self.series[firsts]])
        # These were given out when their last event had come, and an open root of the same pattern may find them now.
        told = closing & ~new & ~opened & mixed
        by_pattern = matched._replace(source=self.roots.pattern[matched.source])
        found = take_matches(by_pattern, np.flatnonzero(new))
        return without(found, take_matches(by_pattern, np.flatnonzero(told)))

    def starts(self, chunk: Chunk) -> Ints:
        """Of each series the first row whose windows are open; its end if there is none."""
        rows = np.where(self.closed, NEVER, np.arange(len(self.series)))
        found = chunk.offsets[1:].copy()
        np.minimum.at(found, self.series, rows)
        return found

    def due(self, starts: Ints, chunk: Chunk) -> Ints:
        """When a window closes that matches wait for, or all windows of the first rows that are open."""
        there = starts < chunk.offsets[1:]
        found = np.full(len(starts), NEVER)
        found[there] = self.deadline[starts[there]]
        for until in self.waiting:
            if len(until):
                np.minimum.at(found, self.series, until)
        return found


def _closed(
    spec: WindowSpec, window: Window, chunk: Chunk, owners: Ints, horizons: Ints, shown: Ints, before: Ints
) -> tuple[Bools, Ints, Bools]:
    """Of each row whether no event to come is in its window, from which time on that is so, and whether it was so.

    It was when rows to come had no smaller time than `before`, and rows from `shown` on were still to come. Rows come
    in the order of time: `horizons` are raised to the times that are here.
    """
    rows = len(owners)
    if spec.within is not None:
        within = load_within(chunk, spec.within)
        np.maximum.at(horizons, owners[within.known], within.key[within.known])
        over: Bools = ~within.known | (within.deadline < horizons[owners])
        was: Bools = ~within.known | (within.deadline < before[owners])
        return over, np.where(within.known, within.deadline, -NEVER), was
    never = np.full(rows, NEVER)
    if not spec.events:
        return np.zeros(rows, np.bool_), never, np.zeros(rows, np.bool_)
    # One more event than the window holds has come.
    full: Bools = window.until < chunk.offsets[1:][owners]
    return full, np.where(full, -NEVER, NEVER), window.until < shown[owners]
