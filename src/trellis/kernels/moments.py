"""Regression, correlation and spread of segments: from prefix sums, or from the rows themselves.

Sums of squares over a long series lose the digits of a short segment in it. So prefix sums start anew in every block
of rows, relative to a value of that block; a block reaches over the next one, so that a segment which starts in it
and is no longer than a block lies in it. Longer segments have blocks of their own, eight times as long.
"""

from __future__ import annotations

import math

from trellis.kernels.arrays import Bools, Floats, Ints
from trellis.kernels.compile import inlined, inner, kernel

__all__ = [
    "CORRELATION",
    "MEAN",
    "R2",
    "R2_SIGNED",
    "SLOPE",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUM",
    "VAR_POP",
    "VAR_SAMP",
    "coefficient",
    "correlate_segments",
    "fill_moments",
    "fill_runs",
    "look_up_moments",
    "sum_moments",
]

R2, R2_SIGNED, SLOPE, CORRELATION, SUM, MEAN, VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP = range(10)

# Nearer to one than this, a coefficient is computed again from the rows.
_NEAR = 1e-9
_LAST_DIGITS = 2e-15
# Squares relative to the first value that are so much greater than those relative to the mean lost their digits.
_LOST = 1e-4
_HUGE = 1e300


@kernel
def fill_moments(
    x: Floats, y: Floats, known: Bools, offsets: Ints, block: int, first: int, base: Ints, sums: Floats
) -> int:
    """Fill the prefix sums for blocks of one length, from entry `first` on; where the next entry would be.

    `base[row]` becomes the entry before `row` in the block of `row`; entries are count, x, y, xx, xy, yy, and the two
    values that x and y are relative to.
    """
    entry = first
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        for begin in range(low, high, block):
            reach = min(begin + 2 * block, high)
            middle_x = middle_y = 0.0
            for row in range(begin, reach):
                if known[row]:
                    middle_x, middle_y = x[row], y[row]
                    break
            for k in range(6):
                sums[entry, k] = 0.0
            sums[entry, 6], sums[entry, 7] = middle_x, middle_y
            for row in range(begin, reach):
                if row < begin + block:
                    base[row] = entry
                dx = x[row] - middle_x if known[row] else 0.0
                dy = y[row] - middle_y if known[row] else 0.0
                sums[entry + 1, 0] = sums[entry, 0] + known[row]
                sums[entry + 1, 1] = sums[entry, 1] + dx
                sums[entry + 1, 2] = sums[entry, 2] + dy
                sums[entry + 1, 3] = sums[entry, 3] + dx * dx
                sums[entry + 1, 4] = sums[entry, 4] + dx * dy
                sums[entry + 1, 5] = sums[entry, 5] + dy * dy
                sums[entry + 1, 6], sums[entry + 1, 7] = middle_x, middle_y
                entry += 1
            entry += 1
    return entry


@kernel
def fill_runs(values: Floats, known: Bools, offsets: Ints, runs: Ints) -> None:
    """For each row the last row up to which all known values are equal."""
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        following = -1  # the next known row
        for row in range(high - 1, low - 1, -1):
            if following < 0:
                runs[row] = high - 1
            elif not known[row]:
                runs[row] = runs[row + 1]
            else:
                runs[row] = runs[following] if values[following] == values[row] else following - 1
            if known[row]:
                following = row


@inlined
def _finish(what: int, n: float, sy: float, xx: float, xy: float, yy: float) -> float:
    """A coefficient from n times the sums of centred squares and products; `sy` and `n` for sums and means.

    Of whole numbers all of these are exact while they are small, and then so is the coefficient but for one division.
    """
    if what == SUM:
        return sy
    if what == MEAN:
        return sy / n
    if what >= VAR_SAMP:
        spread = max(yy, 0.0) / n / (n if what in (VAR_POP, STDDEV_POP) else n - 1)
        return spread if what < STDDEV_SAMP else math.sqrt(spread)
    if what == SLOPE:
        return xy / xx
    if what == CORRELATION:
        r = xy / math.sqrt(xx) / math.sqrt(yy)
        return max(-1.0, min(1.0, r))
    square, product = xy * xy, xx * yy
    r2 = square / product if 0.0 < product < _HUGE and square < _HUGE else (xy / xx) * (xy / yy)
    r2 = min(r2, 1.0)
    return -r2 if what == R2_SIGNED and xy < 0 else r2


@inner
def _from_rows(what: int, x: Floats, y: Floats, known: Bools, start: int, end: int) -> tuple[float, bool]:
    """The coefficient of a segment from its rows, relative to its first values; to its means where digits are lost."""
    n = 0.0
    first = -1
    flat_x = flat_y = True
    sx = sy = xx = xy = yy = 0.0
    for row in range(start, end + 1):
        if known[row]:
            first = row if first < 0 else first
            dx, dy = x[row] - x[first], y[row] - y[first]
            flat_x = flat_x and dx == 0.0
            flat_y = flat_y and dy == 0.0
            n += 1
            sx += dx
            sy += dy
            xx += dx * dx
            xy += dx * dy
            yy += dy * dy
    if n < (1 if what in (SUM, MEAN, VAR_POP, STDDEV_POP) else 2):
        return 0.0, False
    if what <= CORRELATION and (flat_x or (flat_y and what != SLOPE)):
        return 0.0, False
    if what in (R2, R2_SIGNED) and n == 2:
        return (-1.0 if what == R2_SIGNED and xy < 0 else 1.0), True
    total = sy + n * y[first]
    lost_x = n * xx - sx * sx < _LOST * n * xx
    lost_y = n * yy - sy * sy < _LOST * n * yy
    mean_x, mean_y = sx / n, sy / n
    xx, xy, yy = n * xx - sx * sx, n * xy - sx * sy, n * yy - sy * sy
    if lost_x or lost_y:
        xx = xy = yy = 0.0
        for row in range(start, end + 1):
            if known[row]:
                dx, dy = x[row] - x[first] - mean_x, y[row] - y[first] - mean_y
                xx += dx * dx
                xy += dx * dy
                yy += dy * dy
        xx, xy, yy = n * xx, n * xy, n * yy
    if flat_y:
        xy = yy = 0.0
    value = _finish(what, n, total, xx, xy, yy)
    if what != SLOPE and what <= CORRELATION and abs(abs(value) - 1.0) < _LAST_DIGITS:
        value = math.copysign(1.0, value)
    return value, True


@kernel
def sum_moments(
    what: int, x: Floats, y: Floats, known: Bools, starts: Ints, ends: Ints, values: Floats, there: Bools
) -> None:
    """A coefficient of each segment, from its rows."""
    for i in range(len(starts)):
        values[i], there[i] = _from_rows(what, x, y, known, starts[i], ends[i])


@inlined
def coefficient(
    what: int,
    x: Floats,
    y: Floats,
    known: Bools,
    blocks: Ints,
    base: Ints,
    sums: Floats,
    flat_x: bool,
    flat_y: bool,
    start: int,
    end: int,
) -> tuple[float, bool]:
    """The coefficient of a segment from the prefix sums of the shortest blocks that hold it."""
    level = 0
    while blocks[level] <= end - start:
        level += 1
    before = base[level, start]
    after = before + end - start + 1
    n = sums[after, 0] - sums[before, 0]
    if n < (1 if what in (SUM, MEAN, VAR_POP, STDDEV_POP) else 2):
        return 0.0, False
    if what <= CORRELATION and (flat_x or (flat_y and what != SLOPE)):
        return 0.0, False
    sx = sums[after, 1] - sums[before, 1]
    sy = sums[after, 2] - sums[before, 2]
    xx = n * (sums[after, 3] - sums[before, 3]) - sx * sx
    xy = n * (sums[after, 4] - sums[before, 4]) - sx * sy
    yy = n * (sums[after, 5] - sums[before, 5]) - sy * sy
    if flat_y:
        yy = xy = 0.0
    value = _finish(what, n, sy + n * sums[before, 7], xx, xy, yy)
    # Rounding must not decide whether points lie on a line, nor show where squares have no digits left.
    doubtful = not abs(value) < 1.0 - _NEAR or not xx > 0.0 or not yy > 0.0
    if doubtful and what in (R2, R2_SIGNED, CORRELATION):
        return _from_rows(what, x, y, known, start, end)
    return value, True


@kernel
def look_up_moments(
    what: int,
    x: Floats,
    y: Floats,
    known: Bools,
    blocks: Ints,
    base: Ints,
    sums: Floats,
    runs_x: Ints,
    runs_y: Ints,
    starts: Ints,
    ends: Ints,
    values: Floats,
    there: Bools,
) -> None:
    """A coefficient of each segment, from prefix sums."""
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        values[i], there[i] = coefficient(
            what, x, y, known, blocks, base, sums, runs_x[start] >= end, runs_y[start] >= end, start, end
        )


@kernel
def correlate_segments(
    x: Floats,
    x_known: Bools,
    y: Floats,
    y_known: Bools,
    starts: Ints,
    ends: Ints,
    other_starts: Ints,
    other_ends: Ints,
    values: Floats,
    there: Bools,
) -> None:
    """The correlation of two segments, row by row from their starts; the shorter one decides how many rows count."""
    for i in range(len(starts)):
        a, b = starts[i], other_starts[i]
        rows = min(ends[i] - a, other_ends[i] - b) + 1
        n = sx = sy = 0.0
        for k in range(rows):
            if x_known[a + k] and y_known[b + k]:
                n += 1
                sx += x[a + k]
                sy += y[b + k]
        values[i], there[i] = 0.0, False
        if n < 2:
            continue
        xx = xy = yy = 0.0
        first = -1
        flat_x = flat_y = True
        for k in range(rows):
            if x_known[a + k] and y_known[b + k]:
                first = k if first < 0 else first
                flat_x = flat_x and x[a + k] == x[a + first]
                flat_y = flat_y and y[b + k] == y[b + first]
                dx, dy = x[a + k] - sx / n, y[b + k] - sy / n
                xx += dx * dx
                xy += dx * dy
                yy += dy * dy
        if flat_x or flat_y:
            continue
        value = _finish(CORRELATION, n, sy, xx, xy, yy)
        values[i] = math.copysign(1.0, value) if abs(abs(value) - 1.0) < _LAST_DIGITS else value
        there[i] = True
