"""Small search spaces in many rows: the rows that matter are taken out, and everything below works on these alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.execution.segments.rows import Rows
from trellis.execution.segments.sets import Segments
from trellis.execution.segments.spaces import Space, inside
from trellis.kernels.arrays import Ints, Slots

__all__ = ["Zoom", "zoom_in"]

# Fewer rows than this are not worth the copy, nor are more than this share of all.
_LEAST_ROWS = 2048
_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Zoom:
    """Some rows as a chunk of their own; `places` are their numbers among all rows."""

    rows: Rows
    space: Space
    places: Ints

    def back(self, found: Segments) -> Segments:
        """Segments with the numbers that their rows have among all."""
        starts, ends = found.pairs()
        bindings = {
            name: (np.where(s >= 0, self.places[s], -1), np.where(s >= 0, self.places[e], -1))
            for name, (s, e) in found.bindings.items()
        }
        moved = Segments((self.places[starts], self.places[ends]), bindings=bindings)
        moved.in_order = found.in_order
        return moved


def zoom_in(rows: Rows, space: Space, reach: int) -> Zoom | None:
    """The rows of a space and `reach` rows around, None if these are not few."""
    if rows.count < _LEAST_ROWS or len(space) > rows.count * _SHARE:
        return None
    covered = inside(rows, space).anchors
    if len(covered) == 0 or len(covered) > rows.count * _SHARE:
        return None
    gaps = np.flatnonzero((np.diff(covered) > 1) | (rows.first[covered[1:]] != rows.first[covered[:-1]])) + 1
    low = covered[np.append(0, gaps)]
    high = covered[np.append(gaps, len(covered)) - 1] + 1
    low, high = np.maximum(low - reach, rows.first[low]), np.minimum(high + reach, rows.stop[high - 1])
    # Stretches that touch are one.
    apart = np.append(True, (low[1:] > high[:-1]) | (rows.first[low[1:]] != rows.first[low[:-1]]))
    low, high = low[apart], np.maximum.reduceat(high, np.flatnonzero(apart))
    lengths = high - low
    if int(lengths.sum()) > rows.count * 2 * _SHARE:
        return None
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    places = np.arange(int(offsets[-1]), dtype=np.int64) + np.repeat(low - offsets[:-1], lengths)
    slots = rows.slots
    some = Slots(
        np.ascontiguousarray(slots.ints[:, places]),
        np.ascontiguousarray(slots.floats[:, places]),
        np.ascontiguousarray(slots.known[:, places]),
        slots.pair_ints,
        slots.pair_floats,
        slots.pair_known,
    )
    longest = min(rows.longest, int(lengths.max()))
    part = Rows(offsets, some, rows.whole, rows.scales, longest, lambda row: rows.where(int(places[row])))
    anchors, first, last = (np.searchsorted(places, array) for array in (space.anchors, space.low, space.high))
    return Zoom(part, Space(space.kind, anchors, first, last), places)
