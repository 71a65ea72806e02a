"""Parts of the automaton baseline: the shared index of regressions, trend tests, and the growing output."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

from benchmarks.options import is_quick

__all__ = ["append", "compiled", "emit", "excess", "index", "inlined", "longest", "scores", "sweep", "ticks_of", "tied"]

Array = np.ndarray[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F, options: dict[str, str]) -> F:
    if is_quick():
        return function  # compiling takes longer than all else that a quick run does
    # Numba's types know no options in a dictionary.
    compile_with: Callable[..., Callable[[F], F]] = njit
    return compile_with(error_model="numpy", nogil=True, **options)(function)


def compiled(function: F) -> F:
    """Compile a function; division by zero follows IEEE."""
    return _compiled(function, {})


def inlined(function: F) -> F:
    """As `compiled`, for a function that is put into its callers."""
    return _compiled(function, {"inline": "always"})


_COUNT, _X, _Y, _XX, _XY, _YY = range(6)
# Sums over the whole series are not trusted this close to a threshold, nor where a segment is this flat.
_NEAR = 1e-4
_FLAT = 1e8


@compiled
def longest(offsets: Array) -> int:
    """The length of the longest series."""
    most = 0
    for s in range(len(offsets) - 1):
        most = max(most, offsets[s + 1] - offsets[s])
    return most


@compiled
def append(starts: Array, ends: Array, used: int, found: Array, count: int, i: int, base: int) -> Any:
    """Write out the ends of the start i that were found."""
    starts, ends = _room(starts, ends, used, count)
    for k in range(count):
        starts[used + k] = base + i
        ends[used + k] = base + found[k]
    return starts, ends, used + count


@compiled
def emit(starts: Array, ends: Array, used: int, mark: Array, high: int, i: int, base: int) -> Any:
    """Write out the ends up to high that are marked with the start i, in order."""
    starts, ends = _room(starts, ends, used, high + 1 - i)
    for j in range(i, high + 1):
        if mark[j] == i:
            starts[used] = base + i
            ends[used] = base + j
            used += 1
    return starts, ends, used


@compiled
def _room(starts: Array, ends: Array, used: int, more: int) -> Any:
    """The arrays, or larger copies if so many more do not fit."""
    if used + more <= len(starts):
        return starts, ends
    size = 2 * (used + more)
    larger_starts, larger_ends = np.empty(size, np.int64), np.empty(size, np.int64)
    larger_starts[:used] = starts[:used]
    larger_ends[:used] = ends[:used]
    return larger_starts, larger_ends


@compiled
def index(tstamp: Array, values: Array, base: int, n: int, sums: Array, x: Array, y: Array, run: Array) -> None:
    """Prepare one series: x and y about zero, their prefix sums, and `run`.

    The series is shifted by whole numbers and time is counted in steps, so that sums of whole numbers stay exact.
    `run[j]` is the first row such that all values from there to j are equal or NULL: a segment that begins there or
    later is constant.
    """
    step = np.int64(1)
    if n > 1:
        step = max(step, tstamp[base + 1] - tstamp[base])
    total = 0.0
    count = 0
    for r in range(n):
        if r > 0 and tstamp[base + r] > tstamp[base + r - 1]:
            step = min(step, tstamp[base + r] - tstamp[base + r - 1])
        if not math.isnan(values[base + r]):
            total += values[base + r]
            count += 1
    shift = np.rint(total / count) if count > 0 else 0.0
    middle = tstamp[base + n // 2]
    sums[:, 0] = 0.0
    value = math.nan
    begin = 0
    before = -1  # the last row that has a value
    for r in range(n):
        x[r] = (tstamp[base + r] - middle) / step
        y[r] = values[base + r] - shift
        for c in range(6):
            sums[c, r + 1] = sums[c, r]
        if not math.isnan(y[r]):
            if before >= 0 and y[r] != value:
                begin = before + 1
            value = y[r]
            before = r
            sums[_COUNT, r + 1] += 1.0
            sums[_X, r + 1] += x[r]
            sums[_Y, r + 1] += y[r]
            sums[_XX, r + 1] += x[r] * x[r]
            sums[_XY, r + 1] += x[r] * y[r]
            sums[_YY, r + 1] += y[r] * y[r]
        run[r] = begin


@compiled
def excess(sums: Array, x: Array, y: Array, run: Array, i: int, j: int, threshold: float) -> float:
    """A number with the sign of R² less the threshold, R² with the sign of the slope over [i, j]; NaN for NULL.

    From the prefix sums, without a division; when those are too near to the threshold to tell, from the segment alone.
    """
    if run[j] <= i:
        return math.nan
    n = sums[_COUNT, j + 1] - sums[_COUNT, i]
    sx = sums[_X, j + 1] - sums[_X, i]
    sy = sums[_Y, j + 1] - sums[_Y, i]
    xy = n * (sums[_XY, j + 1] - sums[_XY, i]) - sx * sy
    xx = n * (sums[_XX, j + 1] - sums[_XX, i]) - sx * sx
    yy = n * (sums[_YY, j + 1] - sums[_YY, i]) - sy * sy
    scale = xx * yy
    above = xy * abs(xy) - threshold * scale
    if abs(above) <= _NEAR * scale or yy * _FLAT <= sums[_YY, j + 1]:
        return _r2_of_segment(x, y, i, j) - threshold
    return float(above)


@compiled
def sweep(
    sums: Array, x: Array, y: Array, run: Array, i: int, low: int, high: int, threshold: float, side: float, hits: Array
) -> None:
    """Whether R² over [i, j] is at or beyond the threshold, for all j of low..high: `hits[j] >= 0`.

    Beyond is above for side 1, below for side -1. The same as `excess`, in a loop that the compiler can vectorize.
    """
    if high < low:
        return
    count, head_x, head_y = sums[_COUNT, i], sums[_X, i], sums[_Y, i]
    head_xx, head_xy, head_yy = sums[_XX, i], sums[_XY, i], sums[_YY, i]
    counts, all_x, all_y = sums[_COUNT][low + 1 : high + 2], sums[_X][low + 1 : high + 2], sums[_Y][low + 1 : high + 2]
    all_xx, all_xy = sums[_XX][low + 1 : high + 2], sums[_XY][low + 1 : high + 2]
    all_yy, out = sums[_YY][low + 1 : high + 2], hits[low : high + 1]
    doubtful = 0
    for k in range(len(out)):
        n = counts[k] - count
        sx = all_x[k] - head_x
        sy = all_y[k] - head_y
        xy = n * (all_xy[k] - head_xy) - sx * sy
        xx = n * (all_xx[k] - head_xx) - sx * sx
        yy = n * (all_yy[k] - head_yy) - sy * sy
        scale = xx * yy
        above = xy * abs(xy) - threshold * scale
        doubt = (abs(above) <= _NEAR * scale) | (yy * _FLAT <= all_yy[k])
        doubtful += doubt
        out[k] = math.nan if doubt else side * above
    if doubtful > 0:
        for j in range(low, high + 1):
            if math.isnan(hits[j]):
                hits[j] = -1.0 if run[j] <= i else side * (_r2_of_segment(x, y, i, j) - threshold)


@compiled
def _r2_of_segment(x: Array, y: Array, i: int, j: int) -> float:
    """R² with the sign of the slope, from the segment's own differences."""
    while math.isnan(y[i]):
        i += 1
    n = sx = sy = sxx = sxy = syy = 0.0
    for r in range(i, j + 1):
        if not math.isnan(y[r]):
            dx = x[r] - x[i]
            dy = y[r] - y[i]
            n += 1.0
            sx += dx
            sy += dy
            sxx += dx * dx
            sxy += dx * dy
            syy += dy * dy
    xy = n * sxy - sx * sy
    return xy * abs(xy) / ((n * sxx - sx * sx) * (n * syy - sy * sy))


@compiled
def scores(values: Array, n: int, context: int, out: Array) -> None:
    """The z-score of each row in the `context` rows that end there; NaN unless there are so many, all with values."""
    for r in range(n):
        out[r] = math.nan
        if r + 1 < context:
            continue
        total = 0.0
        varies = False
        for k in range(r + 1 - context, r + 1):
            total += values[k]
            varies = varies or values[k] != values[r]
        if math.isnan(total) or not varies:
            continue
        mean = total / context
        squares = 0.0
        for k in range(r + 1 - context, r + 1):
            squares += (values[k] - mean) ** 2
        out[r] = (values[r] - mean) / math.sqrt(squares / (context - 1.0))


@compiled
def ticks_of(values: Array, i: int, j: int) -> Any:
    """What row j adds to the Mann-Kendall test of [i, j - 1]: rises less falls, and the growth of the ties' term."""
    value = values[j]
    s = 0
    equal = 0
    for r in range(i, j):
        s += int(value > values[r]) - int(value < values[r])
        equal += int(value == values[r])
    return s, tied(equal + 1) - tied(equal)


@compiled
def tied(size: int) -> int:
    """The term of the variance of Mann-Kendall's S for a group of equal values, or for all values."""
    return size * (size - 1) * (2 * size + 5)
