"""Sets of segments as lists of (start, end), sorted: for long windows with few segments.

Where a list is joined by its starts, `begins[row]` is the place of the first segment that starts at `row` or later.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels.arrays import Bools, Ints, Words
from trellis.kernels.compile import inlined, kernel

__all__ = [
    "chain_pairs",
    "concat_pairs",
    "fill_pairs",
    "join_pairs",
    "merge_pairs",
    "pad_pairs",
    "reach_rows",
    "skip_matches",
]

_ONE = np.uint64(1)


@kernel
def fill_pairs(sums: Ints, anchors: Ints, low: Ints, first: int, fixed: Ints, moving: Ints) -> None:
    """The pairs number `first` and following of many ranges: `moving` runs from `low[i]` on, `fixed` is `anchors[i]`.

    `sums[i]` is the number of pairs in the ranges before range `i`.
    """
    i = int(np.searchsorted(sums, first, side="right")) - 1
    for k in range(len(fixed)):
        while first + k >= sums[i + 1]:
            i += 1
        fixed[k] = anchors[i]
        moving[k] = low[i] + (first + k - sums[i])


@kernel
def merge_pairs(
    left_starts: Ints,
    left_ends: Ints,
    right_starts: Ints,
    right_ends: Ints,
    keep_left: bool,
    keep_both: bool,
    keep_right: bool,
    starts: Ints,
    ends: Ints,
) -> int:
    """Merge two sorted sets; what is only left, in both, or only right is kept as asked. How many were kept."""
    i = j = count = 0
    n, m = len(left_starts), len(right_starts)
    while i < n or j < m:
        if i >= n and not keep_right:
            break
        if j >= m and not keep_left:
            break
        if j >= m:
            order = -1
        elif i >= n:
            order = 1
        elif left_starts[i] != right_starts[j]:
            order = -1 if left_starts[i] < right_starts[j] else 1
        elif left_ends[i] != right_ends[j]:
            order = -1 if left_ends[i] < right_ends[j] else 1
        else:
            order = 0
        if order <= 0:
            start, end = left_starts[i], left_ends[i]
            i += 1
            j += order == 0
            keep = keep_left if order < 0 else keep_both
        else:
            start, end = right_starts[j], right_ends[j]
            j += 1
            keep = keep_right
        if keep:
            starts[count] = start
            ends[count] = end
            count += 1
    return count


@inlined
def _mark(marks: Words, length: int) -> None:
    marks[length >> 6] |= _ONE << np.uint64(length & 63)


@inlined
def _emit(marks: Words, start: int, least: int, most: int, starts: Ints, ends: Ints, count: int) -> int:
    """Write the marked lengths as segments, and clear the marks. The new count, or -1 if there may not be room."""
    fits = count + (most - least + 1) <= len(starts)
    for w in range(least >> 6, (most >> 6) + 1):
        word = marks[w]
        marks[w] = 0
        length = w * 64
        while fits and word != 0:
            if word & _ONE != 0:
                starts[count] = start
                ends[count] = start + length
                count += 1
            word >>= _ONE
            length += 1
    return count if fits else -1


@kernel
def concat_pairs(
    left_starts: Ints,
    left_ends: Ints,
    begins: Ints,
    right_ends: Ints,
    gap: int,
    low: Ints,
    high: Ints,
    marks: Words,
    starts: Ints,
    ends: Ints,
    progress: Ints,
) -> bool:
    """Concatenation of two sorted lists; each result once, in order.

    `low` and `high` bound the ends for each start row. Goes on at `progress[0]` (place in the left list) with
    `progress[1]` results; `progress[2]` counts steps. False if there was no room for all.
    """
    i = progress[0]
    count = progress[1]
    n = len(left_starts)
    rows = len(begins) - 1
    while i < n:
        start = left_starts[i]
        least, most = len(marks) * 64, -1
        j = i
        while j < n and left_starts[j] == start:
            row = left_ends[j] + gap
            j += 1
            if row >= rows:
                continue
            progress[2] += begins[row + 1] - begins[row] + 1
            for k in range(begins[row], begins[row + 1]):
                end = right_ends[k]
                if end > high[start]:
                    break
                if end >= low[start]:
                    _mark(marks, end - start)
                    least = min(least, end - start)
                    most = max(most, end - start)
        if most >= 0:
            filled = _emit(marks, start, least, most, starts, ends, count)
            if filled < 0:
                progress[0], progress[1] = i, count
                return False
            count = filled
        i = j
    progress[0], progress[1] = i, count
    return True


@kernel
def pad_pairs(
    left_starts: Ints,
    left_ends: Ints,
    begins: Ints,
    right_ends: Ints,
    shortest: int,
    low: Ints,
    high: Ints,
    marks: Words,
    starts: Ints,
    ends: Ints,
    progress: Ints,
) -> bool:
    """As `concat_pairs`, with any segment of at least `shortest` rows between the two sides."""
    i = progress[0]
    count = progress[1]
    n = len(left_starts)
    rows = len(begins) - 1
    while i < n:
        start = left_starts[i]
        # The lists are sorted: the first segment of a start ends first, and the others reach nothing that it does not.
        row = left_ends[i] + shortest - 1
        j = i
        while j < n and left_starts[j] == start:
            j += 1
        least, most = len(marks) * 64, -1
        if row < rows:
            last = min(high[start] + 1, rows)
            if last > row:
                progress[2] += begins[last] - begins[row] + 1
                for k in range(begins[row], begins[last]):
                    end = right_ends[k]
                    if low[start] <= end <= high[start]:
                        _mark(marks, end - start)
                        least = min(least, end - start)
                        most = max(most, end - start)
        if most >= 0:
            filled = _emit(marks, start, least, most, starts, ends, count)
            if filled < 0:
                progress[0], progress[1] = i, count
                return False
            count = filled
        i = j
    progress[0], progress[1] = i, count
    return True


@kernel
def chain_pairs(
    first_starts: Ints,
    first_ends: Ints,
    begins: Ints,
    body_ends: Ints,
    gap: int,
    low: Ints,
    high: Ints,
    marks: Words,
    starts: Ints,
    ends: Ints,
    progress: Ints,
) -> bool:
    """One segment of the first list, then any number of the body's, one after the other; as `concat_pairs`."""
    i = progress[0]
    count = progress[1]
    n = len(first_starts)
    rows = len(begins) - 1
    while i < n:
        start = first_starts[i]
        least, most = len(marks) * 64, -1
        j = i
        while j < n and first_starts[j] == start:
            if first_ends[j] <= high[start]:
                _mark(marks, first_ends[j] - start)
                least = min(least, first_ends[j] - start)
                most = max(most, first_ends[j] - start)
            j += 1
        length = least
        while length <= most:
            if marks[length >> 6] == 0:
                length = ((length >> 6) + 1) << 6
                continue
            row = start + length + gap
            if (marks[length >> 6] >> np.uint64(length & 63)) & _ONE != 0 and row < rows:
                progress[2] += begins[row + 1] - begins[row] + 1
                for k in range(begins[row], begins[row + 1]):
                    end = body_ends[k]
                    if end > high[start]:
                        break
                    _mark(marks, end - start)
                    most = max(most, end - start)
            length += 1
        if most >= 0:
            filled = _emit(marks, start, least, most, starts, ends, count)
            if filled < 0:
                progress[0], progress[1] = i, count
                return False
            # Chains may pass through ends that are too near to be results.
            kept = count
            for k in range(count, filled):
                if ends[k] >= low[start]:
                    starts[kept] = starts[k]
                    ends[kept] = ends[k]
                    kept += 1
            count = kept
        i = j
    progress[0], progress[1] = i, count
    return True


@kernel
def join_pairs(
    left_starts: Ints,
    left_rows: Ints,
    until: Ints,
    begins: Ints,
    right_ends: Ints,
    low: Ints,
    high: Ints,
    left: Ints,
    right: Ints,
    progress: Ints,
) -> bool:
    """All pairs of a left and a right segment that follow each other, by their places in the two lists.

    The right segment starts at `left_rows[i]` to `until[i]`. Goes on at `progress`: place in the left list, place in
    the right list, number of results.
    """
    i, k, count = progress[0], progress[1], progress[2]
    rows = len(begins) - 1
    while i < len(left_starts):
        start, row = left_starts[i], left_rows[i]
        if 0 <= row < rows and until[i] >= row:
            last = begins[min(until[i], rows - 1) + 1]
            if k < begins[row]:
                k = begins[row]
            while k < last:
                if low[start] <= right_ends[k] <= high[start]:
                    if count == len(left):
                        progress[0], progress[1], progress[2] = i, k, count
                        return False
                    left[count] = i
                    right[count] = k
                    count += 1
                k += 1
        i += 1
        k = 0
    progress[0], progress[1], progress[2] = i, 0, count
    return True


@kernel
def reach_rows(
    keys: Ints, known: Bools, offsets: Ints, least: int, most: int, first: Ints, last: Ints, monotone: Ints
) -> None:
    """For each row the first and the last row whose key lies `least` to `most` above its own, in the same series.

    `monotone[0]` becomes 0 where keys fall or are unknown: then there are no such ranges.
    """
    for series in range(len(offsets) - 1):
        low, high = offsets[series], offsets[series + 1]
        for row in range(low, high):
            if not known[row] or (row > low and keys[row] < keys[row - 1]):
                monotone[0] = 0
                return
        i = j = low
        for row in range(low, high):
            i = max(i, row)
            while i < high and keys[i] - keys[row] < least:
                i += 1
            j = max(j, row)
            while j < high and keys[j] - keys[row] <= most:
                j += 1
            first[row] = i
            last[row] = j - 1


@kernel
def skip_matches(
    series: Ints, starts: Ints, ends: Ints, targets: Ints, past_end: bool, to_target: bool, kept: Bools
) -> int:
    """Which matches are left after skipping. They come in order of series, start, and the longest first.

    `targets` is the row to skip to; the place of a match whose target is missing or its own first row, else -1.
    """
    last = -1
    free = 0
    for i in range(len(starts)):
        if series[i] != last:
            last = series[i]
            free = 0
        kept[i] = starts[i] >= free
        if not kept[i]:
            continue
        if to_target:
            if targets[i] <= starts[i]:
                return i
            free = targets[i]
        else:
            free = (ends[i] if past_end else starts[i]) + 1
    return -1
