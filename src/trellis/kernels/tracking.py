"""The match so far: which rows each set of variables holds, and what the aggregates over them are.

Everything is a stack that grows with the match, so a search that turns back only has to cut the stacks: the state
of an aggregate before a row is still there.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Ints, Slots, Track
from trellis.kernels.compile import inlined, inner
from trellis.kernels.expressions import compare_floats, sum_overflows

__all__ = ["add_row", "cut_rows"]


@inner
def add_row(
    variable: int, row: int, start: int, low: int, slots: Slots, aggregates: Aggregates, track: Track, status: Ints
) -> None:
    """Map a row to a variable."""
    track.label[row - low] = variable
    for number in range(len(track.counts)):
        if track.member[number, variable]:
            track.rows[number, track.counts[number]] = row
            track.counts[number] += 1
    for number in range(len(aggregates.kind)):
        if track.member[aggregates.sets[number], variable]:
            _add_value(number, variable, row, start, low, slots, aggregates, track, status)


@inlined
def cut_rows(row: int | np.int64, track: Track) -> None:
    """Forget the rows of the match from `row` on."""
    for number in range(len(track.counts)):
        count = track.counts[number]
        while count > 0 and track.rows[number, count - 1] >= row:
            count -= 1
        track.counts[number] = count


@inlined
def _add_value(
    number: int,
    variable: int,
    row: int,
    start: int,
    low: int,
    slots: Slots,
    aggregates: Aggregates,
    track: Track,
    status: Ints,
) -> None:
    n = track.counts[aggregates.sets[number]] - 1
    tally, whole, real, spread = 0, 0, 0.0, 0.0
    if n > 0:
        tally = track.tally[number, n - 1]
        whole = track.whole[number, n - 1]
        real = track.real[number, n - 1]
        spread = track.spread[number, n - 1]
    slot = aggregates.slot[number, variable]
    counts = slot == o.EVERY_ROW or (slot >= 0 and slots.known[slot, row])
    if counts and aggregates.previous[number] >= 0:
        counts = not _seen(number, row, start, low, slots, aggregates, track)
    if counts:
        kind = aggregates.kind[number]
        tally += 1
        if kind == o.SUM_INT:
            value = slots.ints[slot, row]
            if sum_overflows(whole, value):
                status[0] = o.OVERFLOW
            whole += value
        elif kind == o.SUM_FLOAT or kind == o.AVG:
            real += slots.floats[slot, row]
        elif kind >= o.VAR_SAMP and kind <= o.STDDEV_POP:
            # Welford: sums of squares would lose the digits of large values.
            value_real = slots.floats[slot, row]
            delta = value_real - real
            real += delta / tally
            spread += delta * (value_real - real)
        elif kind == o.MIN_INT or kind == o.MAX_INT:
            value = slots.ints[slot, row]
            if tally == 1 or (value < whole if kind == o.MIN_INT else value > whole):
                whole = value
                spread = row
        elif kind == o.MIN_FLOAT or kind == o.MAX_FLOAT:
            value_real = slots.floats[slot, row]
            order = compare_floats(value_real, real)
            if tally == 1 or (order < 0 if kind == o.MIN_FLOAT else order > 0):
                real = value_real
                spread = row
    track.tally[number, n] = tally
    track.whole[number, n] = whole
    track.real[number, n] = real
    track.spread[number, n] = spread


@inlined
def _seen(number: int, row: int, start: int, low: int, slots: Slots, aggregates: Aggregates, track: Track) -> bool:
    """Whether an earlier row of the set holds the same value."""
    chain = aggregates.previous[number]
    earlier = slots.ints[chain, row]
    while earlier >= start:
        label = track.label[earlier - low]
        if label >= 0 and track.member[aggregates.sets[number], label]:
            return True
        earlier = slots.ints[chain, earlier]
    return False
