"""Comparisons of values of events, and bounds that the values of one side must keep to.

Values become numbers of 64 bits in the same order, so that many of them are compared with one at a time.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Slots
from trellis.kernels.compile import inlined
from trellis.kernels.expressions import compare_floats
from trellis.kernels.wide import compared

__all__ = ["UNKNOWN", "bounds_of", "compare_values", "rank_of"]

UNKNOWN = -(2**63)
_LEAST, _MOST = -(2**63) + 1, 2**63 - 1


@inlined
def compare_values(
    slots: Slots,
    left: int | np.int32,
    left_row: int | np.int32,
    right: int | np.int32,
    right_row: int | np.int32,
    comparison: int | np.int32,
    is_float: int | np.int32 | np.bool_,
) -> bool:
    """Whether a comparison of two known values holds."""
    if not (slots.known[left, left_row] and slots.known[right, right_row]):
        return False
    if is_float:
        order = compare_floats(slots.floats[left, left_row], slots.floats[right, right_row])
    else:
        one, other = slots.ints[left, left_row], slots.ints[right, right_row]
        order = int(one > other) - int(one < other)
    return bool(compared(int(comparison), order))


@inlined
def rank_of(
    slots: Slots, value: int | np.int32, row: int | np.int32, is_float: int | np.int32 | np.bool_
) -> int | np.int64:
    """A number for a value: in the order of values, where NaN is the greatest. The two least integers have one rank."""
    if not slots.known[value, row]:
        return np.int64(UNKNOWN)
    bits = np.int64(slots.ints[value, row])
    if is_float:
        number = slots.floats[value, row]
        if number != number:
            return np.int64(_MOST)
        if number == 0.0:
            return np.int64(0)
        if bits < 0:
            return bits ^ np.int64(_MOST)
        return bits
    return max(bits, np.int64(_LEAST))


@inlined
def bounds_of(comparison: int | np.int32, rank: int | np.int64, turned: bool) -> tuple[int | np.int64, int | np.int64]:
    """Ranks that values keep to which compare in a way with one of a known rank; all if nothing is known.

    `turned`: values are on the left. Some that are within bounds may not compare that way, so the comparison itself
    must be made, too.
    """
    low: int | np.int64 = np.int64(_LEAST)
    high: int | np.int64 = np.int64(_MOST)
    less = comparison == o.LESS or comparison == o.LESS_EQUAL
    greater = comparison == o.GREATER or comparison == o.GREATER_EQUAL
    strict = comparison == o.LESS or comparison == o.GREATER
    if comparison == o.EQUAL:
        low, high = rank, rank
    elif (less and turned) or (greater and not turned):
        high = rank - 1 if strict and rank > _LEAST else rank
    elif less or greater:
        low = rank + 1 if strict and rank < _MOST else rank
    return low, high
