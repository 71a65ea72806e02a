"""Instances in order: where they are found, and how they are put in order."""

from __future__ import annotations

import numpy as np

from trellis.kernels.arrays import Ints, Shorts
from trellis.kernels.compile import inlined, inner
from trellis.kernels.instance_arrays import FIRST

__all__ = ["DIGITS", "find_first", "find_in", "find_near", "move_instances", "sort_instances"]

_DIGIT = 11
DIGITS = (1 << _DIGIT) + 1
"""The counters of a sort."""
_FEW = 24
"""So many instances are sorted by comparing them."""


@inlined
def find_first(rows: Shorts, begin: int | np.int64, end: int | np.int64, least: int | np.int64) -> int | np.int64:
    """The first place from `begin` on that holds at least so much; `end` if there is none."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def find_in(
    pool: Shorts, column: int, begin: int | np.int64, end: int | np.int64, least: int | np.int64
) -> int | np.int64:
    """The first instance from `begin` on that has at least so much in a column; `end` if there is none."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if pool[middle, column] < least:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def find_near(
    pool: Shorts, begin: int | np.int64, end: int | np.int64, least: int | np.int64, guess: int | np.int64
) -> np.int64:
    """As `find_in` for the first row, quick where the place is near a guess."""
    low = min(max(guess, begin), end)
    high = low
    step = np.int64(1)
    if low > begin and pool[low - 1, FIRST] >= least:
        # Before the guess.
        high = low - 1
        low = begin
        while high - step > begin:
            if pool[high - step, FIRST] < least:
                low = high - step + 1
                break
            high -= step
            step *= 2
    else:
        high = end
        while low + step < end:
            if pool[low + step, FIRST] >= least:
                high = low + step
                break
            low += step
            step *= 2
    return np.int64(find_in(pool, FIRST, low, high, least))


@inner
def sort_instances(pool: Shorts, begin: int, count: int, column: int, width: int, places: Ints) -> None:
    """Sort instances by a column, stable. As many places behind them are free, and one more."""
    if count <= _FEW:
        spare = begin + count
        for at in range(begin + 1, begin + count):
            key = pool[at, column]
            if pool[at - 1, column] <= key:
                continue
            for cell in range(width):
                pool[spare, cell] = pool[at, cell]
            place = at
            while place > begin and pool[place - 1, column] > key:
                for cell in range(width):
                    pool[place, cell] = pool[place - 1, cell]
                place -= 1
            for cell in range(width):
                pool[place, cell] = pool[spare, cell]
        return
    least, most = pool[begin, column], pool[begin, column]
    for at in range(begin + 1, begin + count):
        least, most = min(least, pool[at, column]), max(most, pool[at, column])
    here, there = begin, begin + count
    shift = 0
    # Digit by digit, from the last one.
    while (most - least) >> shift > 0:
        for digit in range(DIGITS):
            places[digit] = 0
        for at in range(here, here + count):
            places[(((pool[at, column] - least) >> shift) & (DIGITS - 2)) + 1] += 1
        for digit in range(1, DIGITS):
            places[digit] += places[digit - 1]
        for at in range(here, here + count):
            digit = ((pool[at, column] - least) >> shift) & (DIGITS - 2)
            place = there + places[digit]
            places[digit] += 1
            for cell in range(width):
                pool[place, cell] = pool[at, cell]
        here, there = there, here
        shift += _DIGIT
    if here != begin:
        move_instances(pool, here, begin, count, width)


@inlined
def move_instances(
    pool: Shorts, source: int | np.int64, target: int | np.int64, count: int | np.int64, width: int
) -> None:
    """Move instances to the front, or where they do not overlap."""
    for number in range(count):
        for cell in range(width):
            pool[target + number, cell] = pool[source + number, cell]
