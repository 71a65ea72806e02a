"""Windows as rows: how far a match may reach that begins at a row, and where one may begin that reaches a row."""

from __future__ import annotations

from trellis.kernels.arrays import Bools, Ints, Shorts
from trellis.kernels.compile import kernel

__all__ = ["find_earliest", "find_until"]


@kernel
def find_until(offsets: Ints, key: Ints, deadline: Ints, known: Bools, until: Shorts) -> None:
    """Of each row the first one that is beyond its deadline; itself, if it has no key. Keys rise in each series."""
    for series in range(len(offsets) - 1):
        high = offsets[series + 1]
        for row in range(offsets[series], high):
            if not known[row]:
                until[row] = row
                continue
            low, end = row + 1, high
            while low < end:
                middle = (low + end) >> 1
                if key[middle] <= deadline[row]:
                    low = middle + 1
                else:
                    end = middle
            until[row] = low


@kernel
def find_earliest(offsets: Ints, until: Shorts, earliest: Shorts) -> None:
    """Of each row the first one of its series with a match that may reach it; perhaps one before that."""
    for series in range(len(offsets) - 1):
        low = offsets[series]
        if low == offsets[series + 1]:
            continue
        begin = low
        furthest = until[low]
        for row in range(low, offsets[series + 1]):
            while furthest <= row and begin < row:
                begin += 1
                furthest = max(furthest, until[begin])
            earliest[row] = begin
