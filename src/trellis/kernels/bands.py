"""Sets of segments as bands of bits: bit `l` of row `s` says that the segment from `s` to `s + l` is in the set.

Within a window a band is small (a word of 64 lengths for each row), and the operators of a pattern become operators on
words: intersection, union and complement are NumPy's own, concatenation is a shift and an OR for each segment of the
left side. A row has no bits beyond the end of its series, so nothing runs from one series into the next.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels.arrays import Ints, Words
from trellis.kernels.compile import inlined, kernel

__all__ = [
    "close_band",
    "concat_bands",
    "count_bits",
    "fill_after",
    "list_bits",
    "mask_band",
    "pad_before",
    "set_bits",
]

_ONE = np.uint64(1)
_ALL = np.uint64(2**64 - 1)
_NONE = np.uint64(0)
# Where the lowest bit of a word stands, by the well-known product with a de Bruijn number.
_PLACES = np.zeros(64, np.int64)
_BRUIJN = 0x03F79D71B4CB0A89
for _bit in range(64):
    _PLACES[((_BRUIJN << _bit) & (2**64 - 1)) >> 58] = _bit
_FACTOR = np.uint64(_BRUIJN)
_TOP = np.uint64(58)


@inlined
def _lowest(word: np.uint64) -> int:
    """The place of the lowest bit of a word that is not zero."""
    alone = word & (~word + _ONE)
    place: int = _PLACES[np.int64((alone * _FACTOR) >> _TOP)]
    return place


@inlined
def _shift_or(out: Words, row: int, source: Words, other: int, by: int) -> None:
    """`out[row] |= source[other] << by`; what leaves the band is lost."""
    width = out.shape[1]
    words = by >> 6
    bits = by & 63
    up = np.uint64(bits)
    down = np.uint64(64 - bits)
    for w in range(width - words):
        word = source[other, w]
        if word != 0:
            out[row, w + words] |= word << up
            if bits > 0 and w + words + 1 < width:
                out[row, w + words + 1] |= word >> down


@inlined
def _bits_between(first: int, last: int) -> np.uint64:
    """A word with the bits `first` to `last`, as far as these lie in it."""
    if last < 0 or first > 63 or last < first:
        return _NONE
    word = _ALL
    if first > 0:
        word &= _ALL << np.uint64(first)
    if last < 63:
        word &= _ALL >> np.uint64(63 - last)
    return word


@kernel
def mask_band(low: Ints, high: Ints, out: Words) -> None:
    """Set the bits `low[row]` to `high[row]` of each row, both inclusive, and clear the others."""
    rows, width = out.shape
    for row in range(rows):
        for w in range(width):
            out[row, w] = _bits_between(low[row] - w * 64, high[row] - w * 64)


@kernel
def set_bits(starts: Ints, ends: Ints, out: Words) -> None:
    """Add segments to a band."""
    for i in range(len(starts)):
        length = ends[i] - starts[i]
        out[starts[i], length >> 6] |= _ONE << np.uint64(length & 63)


@kernel
def count_bits(band: Words) -> int:
    """How many segments a band holds."""
    count = 0
    rows, width = band.shape
    for row in range(rows):
        for w in range(width):
            word = band[row, w]
            while word != 0:
                word &= word - _ONE
                count += 1
    return count


@kernel
def list_bits(band: Words, starts: Ints, ends: Ints) -> int:
    """Write the segments of a band, in order of start and end; how many there are."""
    count = 0
    rows, width = band.shape
    for row in range(rows):
        for w in range(width):
            word = band[row, w]
            while word != 0:
                starts[count] = row
                ends[count] = row + w * 64 + _lowest(word)
                word &= word - _ONE
                count += 1
    return count


@kernel
def concat_bands(left: Words, right: Words, gap: int, out: Words) -> int:
    """Concatenation: the right side starts `gap` rows after the end of the left one. How many words were shifted."""
    rows, width = left.shape
    work = 0
    for row in range(rows):
        for w in range(width):
            word = left[row, w]
            while word != 0:
                by = w * 64 + _lowest(word) + gap
                word &= word - _ONE
                if by < width * 64 and row + by < rows:
                    _shift_or(out, row, right, row + by, by)
                    work += 1
    return work


@kernel
def pad_before(band: Words, series: Ints, out: Words) -> None:
    """Any segment, then one of the band, with a shared row: `out[s]` is `band[s]` or `out[s + 1]` moved by one."""
    rows = band.shape[0]
    for row in range(rows - 1, -1, -1):
        for w in range(band.shape[1]):
            out[row, w] = band[row, w]
        if row + 1 < series[row]:
            _shift_or(out, row, out, row + 1, 1)


@kernel
def fill_after(band: Words, series: Ints, shortest: int, out: Words) -> None:
    """A segment of the band, then any segment of at least `shortest` rows, with a shared row."""
    rows, width = band.shape
    for row in range(rows):
        first = -1
        for w in range(width):
            if band[row, w] != 0:
                # All ends from the first one on are reached.
                first = w * 64 + _lowest(band[row, w]) + shortest - 1
                break
        last = series[row] - 1 - row
        for w in range(width):
            out[row, w] = _bits_between(first - w * 64, last - w * 64) if first >= 0 else _NONE


@kernel
def close_band(band: Words, gap: int, out: Words) -> int:
    """One segment of the band or several, one after the other. `out` starts as a copy of what the chain begins with."""
    rows, width = band.shape
    work = 0
    for row in range(rows):
        for length in range(width * 64):
            # Bits come up in order of their ends, and a step never leads back: each end is looked at once.
            word = out[row, length >> 6] >> np.uint64(length & 63)
            if word & _ONE == 0:
                continue
            by = length + gap
            if by < width * 64 and row + by < rows:
                _shift_or(out, row, band, row + by, by)
                work += 1
    return work
