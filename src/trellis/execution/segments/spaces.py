"""Search spaces: where the segments that somebody asks for may start and end.

`start` spaces give each of some start rows a range of ends, `end` spaces each of some end rows a range of starts,
`exact` spaces list the segments themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.algebra.windows import TimeWindow, Window
from trellis.execution.segments.rows import Rows
from trellis.execution.segments.sets import keys_of
from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.scans import clip_ranges, spread_reach

__all__ = ["Space", "clip", "contains", "fits", "full_space", "inside", "left_of", "limits", "right_of"]


_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Space:
    """`anchors` are starts (or ends), sorted and each once, `low` to `high` the rows at the other end.

    In an exact space `anchors` are the starts and `low`, which is `high`, the ends, sorted.
    """

    kind: str
    anchors: Ints
    low: Ints
    high: Ints
    full: bool = False

    def __len__(self) -> int:
        return len(self.anchors)


def full_space(rows: Rows) -> Space:
    """All segments of all series."""
    every = np.arange(rows.count, dtype=np.int64)
    return Space("start", every, every, rows.stop - 1, full=True)


def clip(rows: Rows, space: Space, window: Window) -> Space:
    """What is left of a space within a window."""
    if space.full:
        return rows.once(("clip", window), lambda: _clip(rows, space, window))
    return _clip(rows, space, window)


def _clip(rows: Rows, space: Space, window: Window) -> Space:
    anchors, low, high = space.anchors, space.low, space.high
    if space.kind == "exact":
        fit = fits(rows, anchors, low, window)
        return space if fit.all() else Space("exact", anchors[fit], low[fit], low[fit])
    backward = space.kind == "end"
    reaches = [rows.reach_back(time) if backward else rows.reach(time) for time in window.times]
    most = rows.count if window.most is None else window.most
    for reach in [known for known in reaches if known is not None] or [(_NONE, _NONE)]:
        anchors, low, high = _clipped(anchors, low, high, backward, window.least, most, reach)
    return Space(space.kind, anchors, low, high)


def _clipped(
    anchors: Ints, low: Ints, high: Ints, backward: bool, least: int, most: int, reach: tuple[Ints, Ints]
) -> tuple[Ints, Ints, Ints]:
    kept, first, last = (np.empty(len(anchors), np.int64) for _ in range(3))
    count = clip_ranges(anchors, low, high, backward, least, most, reach[0], reach[1], kept, first, last)
    return kept[:count], first[:count], last[:count]


def unordered(rows: Rows, window: Window) -> tuple[TimeWindow, ...]:
    """The time windows whose column does not rise: these are tested segment by segment."""
    return tuple(time for time in window.times if rows.reach(time) is None)


def fits(rows: Rows, starts: Ints, ends: Ints, window: Window) -> Bools:
    """Which segments lie within a window."""
    length = ends - starts + 1
    fit = length >= window.least
    if window.most is not None:
        fit &= length <= window.most
    for time in window.times:
        fit &= _in_time(rows, starts, ends, time)
    return fit


def _in_time(rows: Rows, starts: Ints, ends: Ints, time: TimeWindow) -> Bools:
    keys, known = rows.slots.ints[time.slot], rows.slots.known[time.slot]
    took = keys[ends] - keys[starts]
    fit: Bools = known[starts] & known[ends]
    if time.least is not None:
        fit &= took >= time.least
    if time.most is not None:
        fit &= took <= time.most
    return fit


def limits(rows: Rows, space: Space, window: Window) -> tuple[Ints, Ints]:
    """For every row the first and the last end of the segments that start there; none where the last is -1.

    These are all that start spaces say. For the others `contains` must be asked, too.
    """
    if space.full:
        return rows.once(("limits", window), lambda: _limits(rows, space, window))
    return _limits(rows, space, window)


def _limits(rows: Rows, space: Space, window: Window) -> tuple[Ints, Ints]:
    if space.kind == "end":
        return limits(rows, full_space(rows), window)
    clipped = clip(rows, space, window)
    low, high = np.zeros(rows.count, np.int64), np.full(rows.count, -1, np.int64)
    if space.kind == "exact":
        # Sorted by start and end: the first and the last of each start.
        last = np.append(clipped.anchors[1:] != clipped.anchors[:-1], True) if len(clipped) else np.zeros(0, np.bool_)
        first = np.roll(last, 1)
        low[clipped.anchors[first]] = clipped.low[first]
        high[clipped.anchors[last]] = clipped.low[last]
    else:
        low[clipped.anchors], high[clipped.anchors] = clipped.low, clipped.high
    return low, high


def contains(rows: Rows, space: Space, window: Window, starts: Ints, ends: Ints) -> Bools | None:
    """Which of the segments, which lie within the limits, are in the space; None for all."""
    inside_all: Bools | None = None
    if space.kind == "end":
        low, high = np.zeros(rows.count, np.int64), np.full(rows.count, -1, np.int64)
        low[space.anchors], high[space.anchors] = space.low, space.high
        inside_all = (low[ends] <= starts) & (starts <= high[ends])
    elif space.kind == "exact":
        keys, wanted = keys_of(starts, ends), keys_of(space.anchors, space.low)
        places = np.searchsorted(wanted, keys)
        inside_all = np.zeros(len(keys), np.bool_)
        there = places < len(wanted)
        inside_all[there] = wanted[places[there]] == keys[there]
    for time in unordered(rows, window):
        fit = _in_time(rows, starts, ends, time)
        inside_all = fit if inside_all is None else inside_all & fit
    return inside_all


def left_of(rows: Rows, space: Space) -> Space:
    """Segments that start like those of the space and end no later."""
    if space.full:
        return space
    if space.kind == "start":
        return Space("start", space.anchors, space.anchors, space.high)
    if space.kind == "exact":
        last = np.append(space.anchors[1:] != space.anchors[:-1], True) if len(space) else np.zeros(0, np.bool_)
        return Space("start", space.anchors[last], space.anchors[last], space.low[last])
    return inside(rows, space)


def right_of(rows: Rows, space: Space) -> Space:
    """Segments that end like those of the space and start no earlier."""
    if space.full:
        return space
    if space.kind == "end":
        return Space("end", space.anchors, space.low, space.anchors)
    if space.kind == "exact":
        order = np.lexsort((space.anchors, space.low))
        starts, ends = space.anchors[order], space.low[order]
        first = np.append(True, ends[1:] != ends[:-1]) if len(ends) else np.zeros(0, np.bool_)
        return Space("end", ends[first], starts[first], ends[first])
    return inside(rows, space)


def inside(rows: Rows, space: Space) -> Space:
    """Segments that lie inside one of the space."""
    if space.full:
        return space
    forward = space if space.kind == "start" else None
    if space.kind == "exact":
        forward = left_of(rows, space)
    furthest = np.full(rows.count, -1, np.int64)
    if forward is not None:
        furthest[forward.anchors] = forward.high
    else:
        # Each end row pulls the furthest end of its first possible start up.
        spread_reach(space.low, space.anchors, space.anchors, np.empty_like(furthest), furthest)
    furthest = np.maximum.accumulate(furthest)
    covered = np.flatnonzero(furthest >= np.arange(rows.count)).astype(np.int64)
    return Space("start", covered, covered, np.minimum(furthest[covered], rows.stop[covered] - 1))
