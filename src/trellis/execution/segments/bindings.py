"""Joins that remember the segments of variables: by places in the lists of both sides."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from trellis.algebra.physical_tree import Pad
from trellis.execution.segments.functions import Extent
from trellis.execution.segments.rows import Rows
from trellis.execution.segments.sets import Segments, begins_of, keys_of
from trellis.kernels.arrays import Ints
from trellis.kernels.pairs import fill_pairs, join_pairs

__all__ = ["bindings_at", "combine", "equal_places", "following_places", "hull", "pad_places"]

Spend = Callable[[int], None]


def hull(one: Extent, other: Extent) -> Extent:
    """The rows from the first to the last of two segments of a variable; a start of -1 is none."""
    starts = np.where(one[0] < 0, other[0], np.where(other[0] < 0, one[0], np.minimum(one[0], other[0])))
    return starts, np.maximum(one[1], other[1])


def bindings_at(
    left: Segments, right: Segments, left_places: Ints, right_places: Ints, names: Collection[str] | None = None
) -> dict[str, Extent]:
    """The bindings of pairs of segments, which stand at the given places of the two sides."""
    bindings: dict[str, Extent] = {}
    for side, places in ((left, left_places), (right, right_places)):
        for name, (starts, ends) in side.bindings.items():
            if names is None or name in names:
                taken = starts[places], ends[places]
                bindings[name] = hull(bindings[name], taken) if name in bindings else taken
    return bindings


def combine(
    pairs: Extent,
    left: Segments,
    right: Segments,
    left_places: Ints,
    right_places: Ints,
    names: Collection[str] | None = None,
) -> Segments:
    """Segments (`pairs`) with the bindings of both sides, or some of them."""
    return Segments(pairs, bindings=bindings_at(left, right, left_places, right_places, names))


def equal_places(left: Segments, right: Segments) -> tuple[Ints, Ints]:
    """The places of equal segments in two sorted lists, all combinations."""
    left_keys, right_keys = keys_of(*left.pairs()), keys_of(*right.pairs())
    first = np.searchsorted(right_keys, left_keys, side="left")
    last = np.searchsorted(right_keys, left_keys, side="right")
    return _ranges(first.astype(np.int64), last.astype(np.int64))


def _ranges(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """For each range its number and, one after the other, its members."""
    sums = np.append(0, np.cumsum(stop - first)).astype(np.int64)
    owners, members = np.empty(sums[-1], np.int64), np.empty(sums[-1], np.int64)
    if len(owners):
        fill_pairs(sums, np.arange(len(first), dtype=np.int64), first, 0, owners, members)
    return owners, members


def following_places(
    rows: Rows, left: Segments, right: Segments, gap: int, wild: bool, low: Ints, high: Ints, spend: Spend
) -> tuple[Ints, Ints]:
    """The places of segments that follow each other: the right one `gap` rows after the end, or any later if `wild`."""
    starts, ends = left.pairs()
    right_starts, right_ends = right.pairs()
    begins = begins_of(right_starts, rows.count)
    ahead = ends + gap
    ahead = np.where(ahead < rows.stop[starts], ahead, -1)
    until = np.where(ahead < 0, -1, rows.stop[starts] - 1) if wild else ahead
    progress = np.zeros(3, np.int64)
    room = len(left) + len(right) + 1024
    one, other = np.empty(room, np.int64), np.empty(room, np.int64)
    while not join_pairs(starts, ahead, until, begins, right_ends, low, high, one, other, progress):
        spend(len(one))
        one, other = (np.append(array, np.empty(len(array), np.int64)) for array in (one, other))
    return one[: progress[2]], other[: progress[2]]


def pad_places(rows: Rows, body: Segments, node: Pad, low: Ints, high: Ints, spend: Spend) -> tuple[Ints, Ints, Ints]:
    """The segments around those of the body: starts, ends, and the place of the segment inside."""
    starts, ends = body.pairs()
    places = np.arange(len(starts), dtype=np.int64)
    if node.before:
        most = node.window.most
        first = rows.first[starts] if most is None else np.maximum(rows.first[starts], ends - (most - 1))
        for time in node.window.times:
            reach = rows.reach_back(time)
            if reach is not None and not node.after:
                first = np.maximum(first, reach[0][ends])
        last = starts - (node.before - 1)
        spend(int(np.maximum(last - first + 1, 0).sum()))
        owners, starts = _ranges(first, np.maximum(last + 1, first))
        places, ends = places[owners], ends[owners]
    if node.after:
        first = np.maximum(ends + (node.after - 1), low[starts])
        last = high[starts]
        spend(int(np.maximum(last - first + 1, 0).sum()))
        owners, ends = _ranges(first, np.maximum(last + 1, first))
        starts, places = starts[owners], places[owners]
    fit = (low[starts] <= ends) & (ends <= high[starts])
    return starts[fit], ends[fit], places[fit]
