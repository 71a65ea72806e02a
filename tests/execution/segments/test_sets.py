"""Sets of segments as bits and as pairs, against Python's sets."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from trellis.kernels import bands, pairs, scans
from trellis.kernels.arrays import Ints, Words

Set = set[tuple[int, int]]


def arrays(segments: Set) -> tuple[Ints, Ints]:
    listed = np.array(sorted(segments), np.int64).reshape(-1, 2)
    return np.ascontiguousarray(listed[:, 0]), np.ascontiguousarray(listed[:, 1])


def band_of(segments: Set, rows: int) -> Words:
    band = np.zeros((rows, (rows + 63) // 64), np.uint64)
    bands.set_bits(*arrays(segments), band)
    return band


def set_of(band: Words) -> Set:
    count = bands.count_bits(band)
    starts, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    assert bands.list_bits(band, starts, ends) == count
    return set(zip(starts.tolist(), ends.tolist(), strict=True))


def chained(first: Set, body: Set, gap: int) -> Set:
    """Every chain that begins with one of `first`, by a fixpoint."""
    found = set(first)
    while True:
        more = found | {(s, e) for s, k in found for k2, e in body if k2 == k + gap}
        if more == found:
            return found
        found = more


def cases() -> Iterator[tuple[int, Set, Set]]:
    source = random.Random(7)
    for rows in (1, 5, 20, 70):
        for share in (0.02, 0.2):
            every = [(s, e) for s in range(rows) for e in range(s, rows)]
            yield rows, *({pair for pair in every if source.random() < share} for _ in range(2))


@pytest.mark.parametrize(("rows", "left", "right"), list(cases()))
@pytest.mark.parametrize("gap", [0, 1])
def test_bands(rows: int, left: Set, right: Set, gap: int) -> None:
    series = np.full(rows, rows, np.int64)
    one, other = band_of(left, rows), band_of(right, rows)
    assert set_of(one) == left
    out = np.zeros_like(one)
    bands.concat_bands(one, other, gap, out)
    assert set_of(out) == {(s, e) for s, k in left for k2, e in right if k2 == k + gap}
    out = one.copy()
    bands.close_band(other, gap, out)
    assert set_of(out) == chained(left, right, gap)
    bands.pad_before(one, series, out)
    assert set_of(out) == {(s, e) for k, e in left for s in range(k + 1)}
    for shortest in (1, 3):
        bands.fill_after(one, series, shortest, out)
        assert set_of(out) == {(s, e) for s, k in left for e in range(k + shortest - 1, rows)}
    low, high = np.arange(rows, dtype=np.int64) % 3, np.arange(rows, dtype=np.int64) % 5
    bands.mask_band(low, high, out)
    assert set_of(out) == {(s, s + n) for s in range(rows) for n in range(s % 3, s % 5 + 1)}


@pytest.mark.parametrize(("rows", "left", "right"), list(cases()))
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("room", [2, 10_000])
def test_links(rows: int, left: Set, right: Set, number: int, room: int) -> None:
    starts, ends = arrays(left)
    right_starts, right_ends = arrays(right)
    begins = np.empty(rows + 1, np.int64)
    scans.count_begins(right_starts, begins)
    low, high = np.arange(rows, dtype=np.int64) + 1, np.minimum(np.arange(rows, dtype=np.int64) + 40, rows - 1)
    expected = {
        pairs.concat_pairs: {(s, e) for s, k in left for k2, e in right if k2 == k + number},
        pairs.pad_pairs: {(s, e) for s, k in left for k2, e in right if k2 >= k + number},
        pairs.chain_pairs: chained(left, right, number),
    }
    for kernel, found in expected.items():
        marks = np.zeros(rows // 64 + 2, np.uint64)
        out = np.empty(room, np.int64), np.empty(room, np.int64)
        progress = np.zeros(3, np.int64)
        argument = number + 1 if kernel is pairs.pad_pairs else number
        while not kernel(starts, ends, begins, right_ends, argument, low, high, marks, *out, progress):
            out = tuple(np.append(array, np.empty(len(array) + 64, np.int64)) for array in out)  # type: ignore[assignment]
        result = list(zip(*(array[: progress[1]].tolist() for array in out), strict=True))
        within = {(s, e) for s, e in found if low[s] <= e <= high[s]}
        if kernel is pairs.chain_pairs:  # a chain may not pass beyond the limit on its way
            within = {(s, e) for s, e in chained_within(left, right, number, high.tolist()) if low[s] <= e}
        assert result == sorted(within)


def chained_within(first: Set, body: Set, gap: int, high: list[int]) -> Set:
    found = {(s, e) for s, e in first if e <= high[s]}
    while True:
        more = found | {(s, e) for s, k in found for k2, e in body if k2 == k + gap and e <= high[s]}
        if more == found:
            return found
        found = more


@pytest.mark.parametrize(("rows", "left", "right"), list(cases()))
def test_merges(rows: int, left: Set, right: Set) -> None:
    for keep, expected in (
        ((True, True, True), left | right),
        ((False, True, False), left & right),
        ((True, False, False), left - right),
        ((False, False, True), right - left),
    ):
        out = np.empty(len(left) + len(right), np.int64), np.empty(len(left) + len(right), np.int64)
        count = pairs.merge_pairs(*arrays(left), *arrays(right), *keep, *out)
        assert list(zip(*(array[:count].tolist() for array in out), strict=True)) == sorted(expected)
    doubled = sorted([*left, *left])
    starts, ends = (np.array([pair[side] for pair in doubled], np.int64) for side in (0, 1))
    out = np.empty(len(doubled), np.int64), np.empty(len(doubled), np.int64)
    count = scans.keep_ends(starts, ends, np.full(rows, -1, np.int64), *out)
    assert set(zip(*(array[:count].tolist() for array in out), strict=True)) == left
    assert count == len(left)


@pytest.mark.parametrize("room", [1, 1000])
def test_joined_places(room: int) -> None:
    left, right = {(0, 1), (0, 2), (3, 3)}, {(1, 4), (2, 2), (3, 5), (4, 4)}
    (starts, ends), (right_starts, right_ends) = arrays(left), arrays(right)
    begins = np.empty(7, np.int64)
    scans.count_begins(right_starts, begins)
    low, high = np.zeros(6, np.int64), np.full(6, 5, np.int64)
    for wild in (False, True):
        until = np.full(len(starts), 5, np.int64) if wild else ends
        one, other = np.empty(room, np.int64), np.empty(room, np.int64)
        progress = np.zeros(3, np.int64)
        while not pairs.join_pairs(starts, ends, until, begins, right_ends, low, high, one, other, progress):
            one, other = (np.append(array, np.empty(len(array), np.int64)) for array in (one, other))
        found = {(int(i), int(k)) for i, k in zip(one[: progress[2]], other[: progress[2]], strict=True)}
        follows = (lambda a, b: b >= a) if wild else (lambda a, b: b == a)
        assert found == {
            (i, k) for i in range(len(starts)) for k in range(len(right_starts)) if follows(ends[i], right_starts[k])
        }


def test_ranges() -> None:
    anchors, low, high = (np.array(values, np.int64) for values in ([0, 2, 5], [0, 2, 5], [3, 2, 6]))
    sums = np.array([0, 4, 5, 7], np.int64)
    fixed, moving = np.empty(4, np.int64), np.empty(4, np.int64)
    pairs.fill_pairs(sums, anchors, low, 3, fixed, moving)
    assert list(zip(fixed.tolist(), moving.tolist(), strict=True)) == [(0, 3), (2, 2), (5, 5), (5, 6)]
    none = np.zeros(0, np.int64)
    out = [np.empty(3, np.int64) for _ in range(3)]
    assert scans.clip_ranges(anchors, low, high, False, 2, 3, none, none, *out) == 2
    assert [array[:2].tolist() for array in out] == [[0, 5], [1, 6], [2, 6]]
    first, last = np.zeros(7, np.int64), np.full(7, 4, np.int64)
    assert scans.clip_ranges(anchors, low - 2, anchors, True, 1, 2, first, last, *out) == 3
    assert [array.tolist() for array in out] == [[0, 2, 5], [0, 1, 4], [0, 2, 4]]
    nearest, furthest = np.full(7, 9, np.int64), np.full(7, -1, np.int64)
    scans.spread_reach(np.array([1, 1, 3], np.int64), anchors, high, nearest, furthest)
    assert (nearest.tolist(), furthest.tolist()) == ([9, 0, 9, 5, 9, 9, 9], [-1, 3, -1, 6, -1, -1, -1])


def test_reach_in_time() -> None:
    keys, offsets = np.array([0, 3, 4, 9, 1, 2], np.int64), np.array([0, 4, 6], np.int64)
    first, last, monotone = np.empty(6, np.int64), np.empty(6, np.int64), np.ones(1, np.int64)
    pairs.reach_rows(keys, np.ones(6, np.bool_), offsets, 1, 4, first, last, monotone)
    assert (first.tolist(), last.tolist(), monotone[0]) == ([1, 2, 3, 4, 5, 6], [2, 2, 2, 3, 5, 5], 1)
    for known, values in ((np.arange(6) != 2, keys), (np.ones(6, np.bool_), keys[::-1].copy())):
        monotone[0] = 1
        pairs.reach_rows(values, known, offsets, 1, 4, first, last, monotone)
        assert monotone[0] == 0


def test_skips() -> None:
    series, starts, ends = (np.array(values, np.int64) for values in ([0, 0, 0, 1], [0, 1, 3, 8], [2, 5, 4, 9]))
    kept = np.zeros(4, np.bool_)
    assert pairs.skip_matches(series, starts, ends, starts, True, False, kept) == -1
    assert kept.tolist() == [True, False, True, True]
    assert pairs.skip_matches(series, starts, ends, starts, False, False, kept) == -1
    assert kept.all()
    assert pairs.skip_matches(series, starts, ends, ends, False, True, kept) == -1
    assert kept.tolist() == [True, False, True, True]
    assert pairs.skip_matches(series, starts, ends, starts, False, True, kept) == 0
