"""The rows of a chunk as segment functions see them: columns as floats, and what is derived from them once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from trellis.algebra.windows import TimeWindow
from trellis.kernels.arrays import Bools, Floats, Ints, Slots
from trellis.kernels.pairs import reach_rows

__all__ = ["Rows"]

T = TypeVar("T")
_FAR = np.int64(2**62)


@dataclass(slots=True)
class Rows:
    """Whole series, one after the other: series `k` has the rows `offsets[k]` to `offsets[k + 1]`.

    `whole[slot]` says whether a slot holds integers, `scales[slot]` what one of them is worth. `longest` is the number
    of rows that a segment can have. `name` says of a row which one it is, for errors.
    """

    offsets: Ints
    slots: Slots
    whole: tuple[bool, ...]
    scales: tuple[float, ...]
    longest: int
    name: Callable[[int], str] | None = None
    first: Ints = field(init=False)
    stop: Ints = field(init=False)
    _derived: dict[Hashable, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        lengths = np.diff(self.offsets)
        self.first = np.repeat(self.offsets[:-1], lengths)
        self.stop = np.repeat(self.offsets[1:], lengths)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.offsets[-1])

    def where(self, row: int) -> str:
        """Which row it is, for errors."""
        return f"row {row - int(self.first[row]) + 1}" if self.name is None else self.name(row)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once for each key."""
        if key not in self._derived:
            self._derived[key] = make()
        found: T = self._derived[key]
        return found

    def has(self, key: Hashable) -> bool:
        """Whether something was made already."""
        return key in self._derived

    def numbers(self, slot: int) -> tuple[Floats, Bools]:
        """A slot as floats without NaN, and where it has a value.

        Integers become differences to the first row of their series, so that the digits of epochs are kept: what is
        computed from these does not change when all values are moved. `plain` has them as they are.
        """

        def make() -> tuple[Floats, Bools]:
            known = self.slots.known[slot]
            if self.whole[slot]:
                moved = self.slots.ints[slot] - self.slots.ints[slot][self.first]
                return np.ascontiguousarray(moved * self.scales[slot], np.float64), known
            return self._without_nan(self.slots.floats[slot], known)

        return self.once(("numbers", slot), make)

    def plain(self, slot: int) -> tuple[Floats, Bools]:
        """A slot as floats, and where it has a value; NaN is none."""

        def make() -> tuple[Floats, Bools]:
            known = self.slots.known[slot]
            if self.whole[slot]:
                return np.ascontiguousarray(self.slots.ints[slot] * self.scales[slot], np.float64), known
            return self._without_nan(self.slots.floats[slot], known)

        return self.once(("plain", slot), make)

    @staticmethod
    def _without_nan(values: Floats, known: Bools) -> tuple[Floats, Bools]:
        there = known & np.isfinite(values)
        return np.where(there, values, 0.0), np.ascontiguousarray(there)

    def reach(self, window: TimeWindow) -> tuple[Ints, Ints] | None:
        """For each row the first and the last row that a segment from it may end at; None if keys are out of order."""

        def make() -> tuple[Ints, Ints] | None:
            first, last = np.empty(self.count, np.int64), np.empty(self.count, np.int64)
            monotone = np.ones(1, np.int64)
            least = -_FAR if window.least is None else np.int64(window.least)
            most = _FAR if window.most is None else np.int64(window.most)
            keys, known = self.slots.ints[window.slot], self.slots.known[window.slot]
            reach_rows(keys, known, self.offsets, int(least), int(most), first, last, monotone)
            return (first, last) if monotone[0] else None

        return self.once(("reach", window), make)

    def reach_back(self, window: TimeWindow) -> tuple[Ints, Ints] | None:
        """For each row the first and the last row that a segment to it may start at."""

        def make() -> tuple[Ints, Ints] | None:
            forward = self.reach(window)
            if forward is None:
                return None
            first, last = forward
            rows = np.arange(self.count, dtype=np.int64)
            # A row is reached from those whose last row is not before it, and whose first row is not after it.
            back_first = np.maximum(np.searchsorted(self._ascending(last), rows, side="left"), self.first)
            back_last = np.minimum(np.searchsorted(self._ascending(first), rows, side="right") - 1, rows)
            return back_first.astype(np.int64), back_last.astype(np.int64)

        return self.once(("back", window), make)

    @staticmethod
    def _ascending(values: Ints) -> Ints:
        """Reaches rise with the row, within a series and from one series to the next."""
        return np.maximum.accumulate(values)
