"""The commonest conditions over whole search spaces: a number of each segment against a constant, in one loop.

A space gives each of some anchors a range of rows at the other end; what passes is written as pairs. Numbers are
computed as everywhere else, to the last digit: only the arrays between the steps are saved.
"""

from __future__ import annotations

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Floats, Ints
from trellis.kernels.compile import inlined, kernel
from trellis.kernels.moments import coefficient

__all__ = [
    "FIRST_BY_LAST",
    "FIRST_LESS_LAST",
    "LAST_BY_FIRST",
    "LAST_LESS_FIRST",
    "clip_ranges",
    "count_begins",
    "keep_ends",
    "scan_moments",
    "scan_steps",
    "spread_reach",
]

LAST_LESS_FIRST, FIRST_LESS_LAST, LAST_BY_FIRST, FIRST_BY_LAST = range(4)


@inlined
def _passes(comparison: int, value: float, bound: float) -> bool:
    if comparison == o.LESS:
        return value < bound
    if comparison == o.LESS_EQUAL:
        return value <= bound
    if comparison == o.GREATER:
        return value > bound
    if comparison == o.GREATER_EQUAL:
        return value >= bound
    if comparison == o.EQUAL:
        return value == bound
    return value != bound


@inlined
def _may_pass(x: Floats, here: float, low: int, high: int, shape: int, sign: float, bound: float) -> bool:
    """Whether any row of a range may pass: without branches in the loop, so that it runs on several rows at once."""
    count = 0
    if shape == 0:
        for row in range(low, high + 1):
            count += sign * (x[row] - here) >= bound
    elif shape == 1:
        for row in range(low, high + 1):
            count += sign * (x[row] / here) >= bound
    else:
        for row in range(low, high + 1):
            count += sign * (here / x[row]) >= bound
    return count > 0


@kernel
def scan_steps(
    kind: int,
    comparison: int,
    bound: float,
    x: Floats,
    known: Bools,
    by_end: bool,
    anchors: Ints,
    low: Ints,
    high: Ints,
    starts: Ints,
    ends: Ints,
) -> int:
    """Segments whose last and first values differ, or relate, as asked; a division by zero is no value."""
    count = 0
    # The value at the anchor stands on the left of the operator, or on the right.
    swapped = (kind in (FIRST_LESS_LAST, FIRST_BY_LAST)) != by_end
    divided = kind in (LAST_BY_FIRST, FIRST_BY_LAST)
    ordered = comparison not in (o.EQUAL, o.UNEQUAL)
    sign = -1.0 if comparison in (o.LESS, o.LESS_EQUAL) else 1.0
    shape = (2 if swapped else 1) if divided else 0
    turned = -sign if swapped and not divided else sign
    for i in range(len(anchors)):
        anchor = anchors[i]
        if not known[anchor] or (divided and not swapped and x[anchor] == 0.0):
            continue
        here = x[anchor]
        if ordered and not _may_pass(x, here, low[i], high[i], shape, turned, sign * bound):
            continue
        for row in range(low[i], high[i] + 1):
            there = x[row]
            if divided:
                value = here / there if swapped else there / here
                passed = _passes(comparison, value, bound) and known[row] and (not swapped or there != 0.0)
            else:
                passed = _passes(comparison, here - there if swapped else there - here, bound) and known[row]
            if passed:
                starts[count] = row if by_end else anchor
                ends[count] = anchor if by_end else row
                count += 1
    return count


@kernel
def scan_moments(
    what: int,
    comparison: int,
    bound: float,
    x: Floats,
    y: Floats,
    known: Bools,
    blocks: Ints,
    base: Ints,
    sums: Floats,
    runs_x: Ints,
    runs_y: Ints,
    by_end: bool,
    anchors: Ints,
    low: Ints,
    high: Ints,
    starts: Ints,
    ends: Ints,
) -> int:
    """Segments whose coefficient compares as asked, from prefix sums."""
    count = 0
    for i in range(len(anchors)):
        for row in range(low[i], high[i] + 1):
            start = row if by_end else anchors[i]
            end = anchors[i] if by_end else row
            value, there = coefficient(
                what, x, y, known, blocks, base, sums, runs_x[start] >= end, runs_y[start] >= end, start, end
            )
            starts[count] = start
            ends[count] = end
            count += there and _passes(comparison, value, bound)
    return count


@kernel
def clip_ranges(
    anchors: Ints,
    low: Ints,
    high: Ints,
    backward: bool,
    least: int,
    most: int,
    first: Ints,
    last: Ints,
    out_anchors: Ints,
    out_low: Ints,
    out_high: Ints,
) -> int:
    """What is left of ranges within a window of `least` to `most` rows; how many anchors have any.

    `first` and `last` bound the other end for each anchor row, where they are not empty.
    """
    count = 0
    for i in range(len(anchors)):
        anchor = anchors[i]
        if backward:
            begin, end = max(low[i], anchor - (most - 1)), min(high[i], anchor - (least - 1))
        else:
            begin, end = max(low[i], anchor + (least - 1)), min(high[i], anchor + (most - 1))
        if len(first) > 0:
            begin, end = max(begin, first[anchor]), min(end, last[anchor])
        if end >= begin:
            out_anchors[count] = anchor
            out_low[count] = begin
            out_high[count] = end
            count += 1
    return count


@kernel
def spread_reach(rows: Ints, low: Ints, high: Ints, nearest: Ints, furthest: Ints) -> None:
    """For each row the least of `low` and the greatest of `high` that stand with it."""
    for i in range(len(rows)):
        row = rows[i]
        nearest[row] = min(nearest[row], low[i])
        furthest[row] = max(furthest[row], high[i])


@kernel
def count_begins(starts: Ints, begins: Ints) -> None:
    """For each row (and the one after the last) the place of the first segment that starts there or later."""
    i = 0
    for row in range(len(begins)):
        while i < len(starts) and starts[i] < row:
            i += 1
        begins[row] = i


@kernel
def keep_ends(starts: Ints, ends: Ints, last: Ints, out_starts: Ints, out_ends: Ints) -> int:
    """Each segment once, of a list in order of starts; ends in any order. `last[row]` begins as -1.

    `last[end]` remembers the start that an end was seen with.
    """
    count = 0
    for i in range(len(starts)):
        if last[ends[i]] != starts[i]:
            last[ends[i]] = starts[i]
            out_starts[count] = starts[i]
            out_ends[count] = ends[i]
            count += 1
    return count
