"""Series of events that still grow: which matches of a workload are decided, and which events are still needed.

1. A match is decided when its last event has come; but where something must be absent behind it, when its window has
   closed. Then all windows that begin at its first event have closed: they are waited for together, so that one number
   for a series says which matches were given out.
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
from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.instance_arrays import Window

__all__ = ["Growing", "is_open"]


def is_open(root: RootSpec) -> bool:
    """Whether something must be absent that could still come when all events of a match have."""
    return any(not absence.before for absence in root.absences)


@dataclass(frozen=True, slots=True)
class Growing:
    """Of each row the series, whether its windows have closed, and when; and where the search of each series stood.

    Matches of open roots that begin before the row `start` of their series were given out, and of others those that end
    before the row `shown`.
    """

    series: Ints
    closed: Bools
    deadline: Ints
    start: Ints
    shown: Ints

    @staticmethod
    def of(
        plan: WorkloadScan, chunk: Chunk, windows: Sequence[Window], series: OpenSeries, final: Bools, horizon: int
    ) -> Growing:
        """What is known of series of which the chunk has the rows from `first` on."""
        owners = np.repeat(np.arange(len(final)), np.diff(chunk.offsets))
        closed = np.ones(len(owners), np.bool_)
        deadline = np.full(len(owners), -NEVER)
        for spec, window in zip(plan.windows, windows, strict=True):
            over, until = _closed(spec, window, chunk, owners, horizon)
            closed &= over
            deadline = np.maximum(deadline, until)
        in_chunk = chunk.offsets[:-1] - series.first
        return Growing(owners, closed | final[owners], deadline, series.start + in_chunk, series.shown + in_chunk)

    def starts(self, chunk: Chunk) -> Ints:
        """Of each series the first row whose windows are open; its end if there is none."""
        rows = np.where(self.closed, NEVER, np.arange(len(self.series)))
        found = chunk.offsets[1:].copy()
        np.minimum.at(found, self.series, rows)
        return found

    def due(self, firsts: Ints, chunk: Chunk) -> Ints:
        """When the windows of the first rows that are kept have closed."""
        there = firsts < chunk.offsets[1:]
        found = np.full(len(firsts), NEVER)
        found[there] = self.deadline[firsts[there]]
        return found


def _closed(spec: WindowSpec, window: Window, chunk: Chunk, owners: Ints, horizon: int) -> tuple[Bools, Ints]:
    """Of each row whether no event to come is in its window, and from which time on that is so at the latest."""
    rows = len(owners)
    if spec.within is not None:
        within = load_within(chunk, spec.within)
        horizons = np.full(len(chunk.offsets) - 1, horizon, np.int64)
        # Rows come in the order of time, so none is before those that are here.
        np.maximum.at(horizons, owners[within.known], within.key[within.known])
        over: Bools = ~within.known | (within.deadline < horizons[owners])
        return over, np.where(within.known, within.deadline, -NEVER)
    never = np.full(rows, NEVER)
    if not spec.events:
        return np.zeros(rows, np.bool_), never
    # One more event than the window holds has come.
    full: Bools = window.until < chunk.offsets[1:][owners]
    return full, np.where(full, -NEVER, NEVER)
