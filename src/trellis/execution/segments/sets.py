"""Sets of segments, as sorted lists of pairs or as bands of bits, whichever an operator needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from trellis.execution.segments.functions import Extent
from trellis.kernels.arrays import Ints, Words
from trellis.kernels.bands import count_bits, list_bits, set_bits
from trellis.kernels.pairs import merge_pairs
from trellis.kernels.scans import count_begins, keep_ends

__all__ = ["Segments", "band_width", "begins_of", "difference", "intersection", "keys_of", "union"]


def band_width(longest: int) -> int:
    """How many words hold the lengths of segments of up to `longest` rows."""
    return max((longest + 63) >> 6, 1)


class Segments:
    """A set of segments. With `bindings` (the segments of variables inside), one segment may stand several times.

    Lists are in order of start and end; where `in_order` is false only of start, and combinations may repeat.
    """

    __slots__ = ("_band", "_pairs", "bindings", "in_order")

    def __init__(
        self, pairs: Extent | None = None, band: Words | None = None, bindings: Mapping[str, Extent] | None = None
    ) -> None:
        self._pairs = pairs
        self._band = band
        self.bindings: dict[str, Extent] = dict(bindings or {})
        self.in_order = True

    @staticmethod
    def empty(variables: Iterable[str] = ()) -> Segments:
        """No segment at all."""
        none = (np.zeros(0, np.int64), np.zeros(0, np.int64))
        return Segments(none, bindings=dict.fromkeys(variables, none))

    @property
    def is_band(self) -> bool:
        """Whether the set is at hand as bits."""
        return self._band is not None

    def pairs(self) -> Extent:
        """The starts and ends, in order."""
        if self._pairs is None:
            assert self._band is not None
            count = count_bits(self._band)
            starts, ends = np.empty(count, np.int64), np.empty(count, np.int64)
            list_bits(self._band, starts, ends)
            self._pairs = starts, ends
        return self._pairs

    def band(self, rows: int, width: int) -> Words:
        """The bits; `width` words for each row."""
        if self._band is None:
            assert self._pairs is not None
            self._band = np.zeros((rows, width), np.uint64)
            set_bits(*self._pairs, self._band)
        return self._band

    def __len__(self) -> int:
        if self._pairs is None:
            assert self._band is not None
            return count_bits(self._band)
        return len(self._pairs[0])

    def take(self, rows: Ints) -> Segments:
        """Some of the segments, by their places in the list."""
        starts, ends = self.pairs()
        bindings = {name: (s[rows], e[rows]) for name, (s, e) in self.bindings.items()}
        taken = Segments((starts[rows], ends[rows]), bindings=bindings)
        taken.in_order = self.in_order
        return taken

    def keep(self, wanted: Iterable[str], rows: int) -> Segments:
        """Without the bindings that nobody wants, in order; each segment once for each combination that is left."""
        kept = {name: self.bindings[name] for name in wanted if name in self.bindings}
        if len(kept) == len(self.bindings) and self.in_order:
            return self
        if kept:
            return Segments(self.pairs(), bindings=kept).distinct()
        starts, ends = self.pairs()
        last = np.full(rows, -1, np.int64)
        one, other = np.empty(len(starts), np.int64), np.empty(len(starts), np.int64)
        count = keep_ends(starts, ends, last, one, other)
        keys = np.sort(keys_of(one[:count], other[:count]))
        return Segments((keys >> 32, keys & 0xFFFFFFFF))

    def distinct(self) -> Segments:
        """Sorted, each combination once."""
        starts, ends = self.pairs()
        columns = [array for extent in self.bindings.values() for array in extent]
        order = np.lexsort((*reversed(columns), ends, starts))
        ordered = [array[order] for array in (starts, ends, *columns)]
        new = np.zeros(len(order), np.bool_)
        if len(order):
            new[0] = True
            for array in ordered:
                new[1:] |= array[1:] != array[:-1]
        taken = self.take(order[new])
        taken.in_order = True
        return taken


def begins_of(starts: Ints, rows: int) -> Ints:
    """For each row, and the one after the last, the place of the first segment that starts there or later."""
    begins = np.empty(rows + 1, np.int64)
    count_begins(starts, begins)
    return begins


def keys_of(starts: Ints, ends: Ints) -> Ints:
    """One number for each segment, in the order of start and end."""
    keys: Ints = (starts << 32) | ends
    return keys


def _merged(left: Segments, right: Segments, room: int, only_left: bool, both: bool, only_right: bool) -> Segments:
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    one, other = left.pairs(), right.pairs()
    count = merge_pairs(one[0], one[1], other[0], other[1], only_left, both, only_right, starts, ends)
    return Segments((starts[:count], ends[:count]))


def intersection(left: Segments, right: Segments) -> Segments:
    """The segments in both sets (without bindings)."""
    return _merged(left, right, min(len(left), len(right)), False, True, False)


def union(left: Segments, right: Segments) -> Segments:
    """The segments in either set; a variable that only one side binds has no segment on the other."""
    if not left.bindings and not right.bindings:
        return _merged(left, right, len(left) + len(right), True, True, True)
    starts, ends = (np.concatenate(arrays) for arrays in zip(left.pairs(), right.pairs(), strict=True))
    bindings = {}
    for name in dict.fromkeys((*left.bindings, *right.bindings)):
        sides = []
        for side in (left, right):
            nothing = np.full(len(side), -1, np.int64)
            sides.append(side.bindings.get(name, (nothing, nothing)))
        bindings[name] = (np.concatenate([s for s, _ in sides]), np.concatenate([e for _, e in sides]))
    return Segments((starts, ends), bindings=bindings).distinct()


def difference(left: Segments, right: Segments) -> Segments:
    """The segments that are only in the left set (without bindings)."""
    return _merged(left, right, len(left), True, False, False)
