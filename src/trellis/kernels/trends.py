"""Functions of segments that compare values in order: Mann-Kendall, rising and falling steps, outliers, extremes."""

from __future__ import annotations

import math

import numpy as np

from trellis.kernels.arrays import Bools, Floats, Ints
from trellis.kernels.compile import inlined, inner, kernel

__all__ = [
    "compare_all",
    "count_steps",
    "extreme_table",
    "fill_trends",
    "find_extremes",
    "score_outliers",
    "search_extremes",
    "squeeze_rows",
]

_RENEW = 256


@inlined
def _tied(count: int) -> int:
    """What one more value adds to t(t-1)(2t+5), summed over groups of equal values, when `count` are there already."""
    return 6 * count * count + 12 * count


@inlined
def _score(s: int, ties: int, n: int) -> tuple[float, bool]:
    """Mann-Kendall's Z by the normal approximation, with the correction for ties."""
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18.0
    if n < 2 or variance <= 0:
        return 0.0, False
    if s == 0:
        return 0.0, True
    return (s - 1 if s > 0 else s + 1) / math.sqrt(variance), True


@kernel
def squeeze_rows(known: Bools, offsets: Ints, rows: Ints, following: Ints, preceding: Ints) -> int:
    """Number the known rows; how many there are.

    `rows` lists them, `following[row]` and `preceding[row]` are the numbers of the known row at `row` or next to it,
    in another series where there is none.
    """
    count = 0
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        for row in range(low, high):
            following[row] = count
            if known[row]:
                rows[count] = row
                count += 1
            preceding[row] = count - 1
    return count


@kernel
def compare_all(x: Floats, known: Bools, starts: Ints, ends: Ints, kept: Floats, values: Floats, there: Bools) -> None:
    """Mann-Kendall's Z of each segment, by comparing all pairs of its values; `kept` has room for the longest."""
    for i in range(len(starts)):
        n = 0
        s = ties = 0
        for row in range(starts[i], ends[i] + 1):
            if known[row]:
                value = x[row]
                equal = 0
                for k in range(n):
                    s += int(value > kept[k]) - int(value < kept[k])
                    equal += value == kept[k]
                ties += _tied(equal)
                kept[n] = value
                n += 1
        values[i], there[i] = _score(s, ties, n)


@kernel
def fill_trends(
    x: Floats,
    rows: Ints,
    series: Ints,
    least: int,
    sums: Ints,
    shorter: Ints,
    equal: Ints,
    ties: Ints,
    scores: Floats,
    there: Bools,
) -> None:
    """Mann-Kendall's Z of all segments of `least` values or more, up to the width of `scores`, each in one step.

    With S(i, j) over the values i to j: S(i, j) = S(i, j-1) + S(i+1, j) - S(i+1, j-1) + sign(x[j] - x[i]), length by
    length. `series[k]` is the end of the series of the k-th value; the arrays of work begin as zeros.
    """
    n = len(rows)
    width = scores.shape[1]
    for length in range(2, least + width):
        for i in range(n - length + 1):
            j = i + length - 1
            if j >= series[i]:
                continue
            difference = x[rows[j]] - x[rows[i]]
            step = int(difference > 0) - int(difference < 0)
            # sums[i] is still S(i, j-1), sums[i+1] is S(i+1, j), shorter[i+1] is S(i+1, j-1).
            total = sums[i] + sums[i + 1] - shorter[i + 1] + step
            shorter[i] = sums[i]
            sums[i] = total
            # equal[i+1] counts the values equal to x[j] in i+1 to j-1.
            equal[i] = equal[i + 1] + int(difference == 0)
            ties[i] += _tied(equal[i])
            if length >= least:
                scores[i, length - least], there[i, length - least] = _score(total, ties[i], length)


@kernel
def count_steps(x: Floats, rows: Ints, series: Ints, steps: Ints) -> None:
    """Rising less falling steps from the first known value of the series to each one."""
    for k in range(len(rows)):
        steps[k] = 0
        if k > 0 and series[k - 1] == series[k]:
            difference = x[rows[k]] - x[rows[k - 1]]
            steps[k] = steps[k - 1] + int(difference > 0) - int(difference < 0)


@kernel
def score_outliers(x: Floats, known: Bools, offsets: Ints, length: int, values: Floats, there: Bools) -> None:
    """How many standard deviations each row lies above the mean of the `length` rows that end there.

    Sums run along with the rows, relative to a value nearby, and start anew now and then, so that they keep their
    digits.
    """
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        unknown = 0
        equal = 0  # how many rows up to here have the same value
        total = squares = middle = 0.0
        for row in range(low, high):
            unknown += not known[row]
            equal = equal + 1 if row > low and x[row] == x[row - 1] else 1
            if row - length >= low:
                unknown -= not known[row - length]
            values[row], there[row] = 0.0, False
            first = row - length + 1
            if (row - low) % _RENEW == 0:
                middle = x[row]
                total = squares = 0.0
                for k in range(max(first, low), row):
                    total += x[k] - middle
                    squares += (x[k] - middle) * (x[k] - middle)
            elif row - length >= low:
                gone = x[row - length] - middle
                total -= gone
                squares -= gone * gone
            here = x[row] - middle
            total += here
            squares += here * here
            if first < low or unknown > 0 or length < 2 or equal >= length:
                continue
            spread = (squares - total * total / length) / (length - 1)
            if spread > 1e-9 * squares:
                values[row] = (here - total / length) / math.sqrt(spread)
            else:
                values[row] = _score_alone(x, row, length)
            there[row] = True


@inner
def _score_alone(x: Floats, row: int, length: int) -> float:
    """As above, from the rows themselves: where sums have lost their digits."""
    mean = 0.0
    for k in range(row - length + 1, row + 1):
        mean += x[k] - x[row]
    mean /= length
    spread = 0.0
    for k in range(row - length + 1, row + 1):
        spread += (x[k] - x[row] - mean) * (x[k] - x[row] - mean)
    return -mean / math.sqrt(spread / (length - 1))


@kernel
def search_extremes(keys: Ints, known: Bools, greatest: bool, starts: Ints, ends: Ints, rows: Ints) -> None:
    """The row of each segment that holds its least (or greatest) known key; -1 if there is none."""
    for i in range(len(starts)):
        found = -1
        for row in range(starts[i], ends[i] + 1):
            if known[row] and (found < 0 or (keys[row] > keys[found] if greatest else keys[row] < keys[found])):
                found = row
        rows[i] = found


@kernel
def find_extremes(keys: Ints, greatest: bool, table: Ints, starts: Ints, ends: Ints, rows: Ints) -> None:
    """As `search_extremes`, from a table: `table[k, row]` is the row of the extreme in the 2**k rows from `row` on."""
    for i in range(len(starts)):
        length = ends[i] - starts[i] + 1
        level = 0
        while (2 << level) <= length:
            level += 1
        a = table[level, starts[i]]
        b = table[level, ends[i] + 1 - (1 << level)]
        if a < 0 or b < 0:
            rows[i] = max(a, b)
        elif greatest:
            rows[i] = b if keys[b] > keys[a] else a
        else:
            rows[i] = b if keys[b] < keys[a] else a


def extreme_table(keys: Ints, known: Bools, greatest: bool, longest: int) -> Ints:
    """The table that `find_extremes` reads, for segments of up to `longest` rows."""
    rows = len(keys)
    table = [np.where(known, np.arange(rows, dtype=np.int64), -1)]
    while (2 << (len(table) - 1)) <= longest:
        step = 1 << (len(table) - 1)
        a = table[-1]
        b = np.append(a[step:], np.full(min(step, rows), -1, np.int64))
        better = keys[b] > keys[a] if greatest else keys[b] < keys[a]
        table.append(np.where(a < 0, b, np.where(b < 0, a, np.where(better, b, a))))
    return np.ascontiguousarray(np.stack(table))
