"""The windows of a workload as rows of a chunk."""

from __future__ import annotations

import numpy as np

from trellis.algebra.workload_scan import WindowSpec
from trellis.execution.chunks import Chunk
from trellis.execution.loading import load_within
from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.instance_arrays import Window
from trellis.kernels.reaches import find_earliest, find_until

__all__ = ["Groups", "load_window"]


class Groups:
    """Rows of one series that agree in some columns: `of_row` is the group of each, -1 where a column has no value."""

    def __init__(self, series: Ints, values: tuple[tuple[Ints, Bools], ...]) -> None:
        known = np.ones(len(series), np.bool_)
        of_row = series
        for codes, present in values:
            known &= present
            _, code = np.unique(codes, return_inverse=True)
            _, of_row = np.unique(of_row * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
        self.of_row: Ints = np.where(known, of_row.astype(np.int64), -1)
        self.count = int(self.of_row.max(initial=-1)) + 1


def load_window(spec: WindowSpec, chunk: Chunk, groups: Groups) -> Window:
    """How far matches reach; `groups` are the events that a window of events counts."""
    rows = chunk.table.num_rows
    ends = np.repeat(chunk.offsets[1:], np.diff(chunk.offsets))
    if spec.within is not None:
        within = load_within(chunk, spec.within)
        until = np.empty(rows, np.int32)
        find_until(chunk.offsets, within.key, within.deadline, within.known, until)
    elif spec.events:
        until = _after_events(spec.events, groups, ends)
    else:
        until = ends.astype(np.int32)
    earliest = np.empty(rows, np.int32)
    find_earliest(chunk.offsets, until, earliest)
    return Window(until, earliest)


def _after_events(count: int, groups: Groups, ends: Ints) -> Shorts:
    """Of each row the one that is so many events of its group later; the end of the series if there are fewer."""
    order = np.argsort(groups.of_row, kind="stable")
    group = groups.of_row[order]
    until = ends.copy()
    here, there = order[: max(len(order) - count, 0)], order[count:]
    same = group[: len(here)] == group[count:]
    until[here[same]] = there[same]
    until = np.where(groups.of_row < 0, np.arange(len(until)), until)
    return until.astype(np.int32)
