"""The match so far: which rows each set of variables holds, and what the aggregates over them are.

Everything is a stack that grows with the match, so a search that turns back only has to cut the stacks: the state
of an aggregate before a row is still there.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Ints, Places, Program, Slots, Stack, Track
from trellis.kernels.compile import inlined, inner
from trellis.kernels.decimals import SUM_OVERFLOWED, compare_words, sum_words
from trellis.kernels.expressions import compare_floats, evaluate, sum_overflows

__all__ = ["add_row", "compute_arguments", "cut_rows"]


@inner
def compute_arguments(
    variable: int,
    program: Program,
    slots: Slots,
    places: Places,
    aggregates: Aggregates,
    row: int,
    start: int,
    low: int,
    high: int,
    match_number: int,
    track: Track,
    stack: Stack,
    status: Ints,
) -> None:
    """Run the programs of arguments for a row that is about to be mapped to a variable."""
    track.label[row - low] = variable
    for number in range(len(aggregates.kind)):
        if (
            aggregates.slot[number, variable] == o.COMPUTED
            and track.member[aggregates.sets[number], variable]
            and status[0] == o.DONE
        ):
            evaluate(
                aggregates.begin[number],
                aggregates.end[number],
                program,
                slots,
                places,
                aggregates,
                row,
                start,
                low,
                high,
                match_number,
                track,
                stack,
                status,
            )
            track.given_int[number] = stack.ints[0]
            track.given_high[number] = stack.highs[0]
            track.given_float[number] = stack.floats[0]
            track.given_known[number] = stack.known[0]


@inlined
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
    kind = aggregates.kind[number]
    slot = aggregates.slot[number, variable]
    if kind >= o.SUM_WIDE or slot == o.COMPUTED or aggregates.previous[number] < o.NO_CHAIN:
        # What few queries need stands apart: here it would cost the others time.
        _add_rare_value(number, variable, row, start, low, slots, aggregates, track, status)
        return
    n = track.counts[aggregates.sets[number]] - 1
    tally, whole, real, spread = _state(number, n - 1, track)
    counts = slot == o.EVERY_ROW or (slot >= 0 and slots.known[slot, row])
    if counts and aggregates.previous[number] >= 0:
        counts = not _seen(number, row, start, low, slots, aggregates, track)
    if counts:
        tally += 1
        if kind != o.COUNT:
            value, value_real = slots.ints[slot, row], slots.floats[slot, row]
            whole, real, spread = _step(kind, tally, whole, real, spread, value, value_real, row, status)
    track.tally[number, n] = tally
    track.whole[number, n] = whole
    track.real[number, n] = real
    track.spread[number, n] = spread


@inlined
def _state(number: int, at: int, track: Track) -> tuple[int, int, float, float]:
    """The state of an aggregate after a row of its set, in one word; of none if `at` is below 0."""
    if at < 0:
        return 0, 0, 0.0, 0.0
    return track.tally[number, at], track.whole[number, at], track.real[number, at], track.spread[number, at]


@inlined
def _step(
    kind: int,
    tally: int,
    whole: int,
    real: float,
    spread: float,
    value: int,
    value_real: float,
    row: int,
    status: Ints,
) -> tuple[int, float, float]:
    """The state of an aggregate of one word after one more value."""
    if kind == o.SUM_INT:
        if sum_overflows(whole, value):
            status[0] = o.OVERFLOW
        whole += value
    elif kind == o.SUM_FLOAT or kind == o.AVG:
        real += value_real
    elif kind >= o.VAR_SAMP and kind <= o.STDDEV_POP:
        # Welford: sums of squares would lose the digits of large values.
        delta = value_real - real
        real += delta / tally
        spread += delta * (value_real - real)
    elif kind == o.MIN_INT or kind == o.MAX_INT:
        if tally == 1 or (value < whole if kind == o.MIN_INT else value > whole):
            whole = value
            spread = row
    elif kind == o.MIN_FLOAT or kind == o.MAX_FLOAT:
        order = compare_floats(value_real, real)
        if tally == 1 or (order < 0 if kind == o.MIN_FLOAT else order > 0):
            real = value_real
            spread = row
    return whole, real, spread


@inner
def _add_rare_value(
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
    """As `_add_value`, for values of two words, values that a program gives, and distinct ones without a chain."""
    n = track.counts[aggregates.sets[number]] - 1
    kind = aggregates.kind[number]
    wide = kind >= o.SUM_WIDE
    tally, whole, real, spread = _state(number, n - 1, track)
    high = track.high[number, n - 1] if wide and n > 0 else 0
    slot = aggregates.slot[number, variable]
    value, value_high, value_real = 0, 0, 0.0
    counts = slot == o.EVERY_ROW
    if slot >= 0:
        counts = slots.known[slot, row]
        value, value_real = slots.ints[slot, row], slots.floats[slot, row]
        value_high = slots.ints[slot + 1, row] if aggregates.wide[number] else value >> 63
    elif slot == o.COMPUTED:
        counts = track.given_known[number]
        value, value_high = track.given_int[number], track.given_high[number]
        value_real = track.given_float[number]
    if counts and aggregates.previous[number] >= 0:
        counts = not _seen(number, row, start, low, slots, aggregates, track)
    elif counts and aggregates.previous[number] != o.NO_CHAIN:
        counts = _is_new(number, tally, value, value_high, value_real, aggregates, track)
    if counts:
        tally += 1
        if kind == o.SUM_WIDE:
            if high != SUM_OVERFLOWED:
                high, whole, fits = sum_words(high, whole, value_high, value)
                if not fits:
                    high = SUM_OVERFLOWED
        elif wide:
            order = compare_words(value_high, value, high, whole)
            if tally == 1 or (order < 0 if kind == o.MIN_WIDE else order > 0):
                high, whole = value_high, value
                spread = row
        else:
            whole, real, spread = _step(kind, tally, whole, real, spread, value, value_real, row, status)
    if wide:
        track.high[number, n] = high
    track.tally[number, n] = tally
    track.whole[number, n] = whole
    track.real[number, n] = real
    track.spread[number, n] = spread


@inlined
def _is_new(
    number: int, tally: int, value: int, value_high: int, value_real: float, aggregates: Aggregates, track: Track
) -> bool:
    """Whether a value differs from all that were counted; then it is remembered.

    A search that turns back finds the values as they were: those that later rows added stand behind.
    """
    if aggregates.previous[number] == o.LOOK_BACK_FLOAT:
        for k in range(tally):
            if compare_floats(track.distinct_float[number, k], value_real) == 0:
                return False
        track.distinct_float[number, tally] = value_real
        return True
    for k in range(tally):
        if track.distinct_int[number, k] == value and track.distinct_high[number, k] == value_high:
            return False
    track.distinct_int[number, tally] = value
    track.distinct_high[number, tally] = value_high
    return True


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
