"""Matches whose rows have others between them: places, aggregates and lists read the rows of the match alone."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Matched, Places, Slots
from trellis.kernels.measures import find_aggregates, find_places, label_rows, list_rows
from trellis.kernels.room import new_track

# One series of ten rows; a match of the rows 1, 4, 5, 8 with the variables A, B, A, B, and an empty one at row 9.
OFFSETS = np.array([0, 10], np.int64)
MATCHED = Matched(
    np.array([1, 9], np.int64),
    np.zeros(2, np.int64),
    np.array([0, 4, 4], np.int64),
    np.array([1, 4, 5, 8], np.int64),
    np.array([0, 1, 0, 1], np.int32),
    np.array([True, True, False, True]),
)
MEMBER = np.array([[True, False], [False, True], [True, True]])
VALUES = np.array([9, 3, 9, 9, 3, 7, 9, 9, 3, 9], np.int64)


def output_rows(mode: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    columns = tuple(np.empty(20, np.int64) for _ in range(4))
    count = label_rows(OFFSETS, MATCHED, mode, *columns)
    row, match, number, seen = (column[:count] for column in columns)
    return row, match, number, seen


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (o.ONE_ROW, [(1, 0, 1, 4), (9, 1, 2, 0)]),
        (o.ALL_ROWS, [(1, 0, 1, 1), (4, 0, 1, 2), (8, 0, 1, 4), (9, 1, 2, 0)]),
        (o.ALL_OMIT_EMPTY, [(1, 0, 1, 1), (4, 0, 1, 2), (8, 0, 1, 4)]),
    ],
)
def test_output_rows(mode: int, expected: list[tuple[int, ...]]) -> None:
    assert list(zip(*(column.tolist() for column in output_rows(mode)), strict=True)) == expected


def test_places() -> None:
    # LAST(A), FIRST(B), LAST(row), LAST(row, 1), NEXT(LAST(row)): the last is a row between those of the match.
    places = Places(
        np.array([0, 1, o.ANY_ROW, o.ANY_ROW, o.ANY_ROW], np.int32),
        np.array([False, True, False, False, False]),
        np.array([0, 0, 0, 1, 0], np.int32),
        np.array([0, 0, 0, 0, 1], np.int32),
        np.zeros(5, np.bool_),
    )
    row, match, _, seen = output_rows(o.ALL_ROWS)
    index, label = np.empty((5, len(row)), np.int64), np.empty((5, len(row)), np.int32)
    rows, after = np.empty((3, 4), np.int64), np.zeros((3, 5), np.int64)
    find_places(OFFSETS, MATCHED, MEMBER, places, rows, after, match, seen, index, label)
    assert index.T.tolist() == [[1, -1, 1, -1, 2], [1, 4, 4, 1, 5], [5, 4, 8, 5, 9], [-1] * 5]
    assert label.T.tolist() == [[0, -1, 0, -1, -1], [0, 1, 1, 0, 0], [0, 1, 1, 0, -1], [-1] * 5]


def test_aggregates_and_lists() -> None:
    ints = np.stack([VALUES, np.full(10, -1)])
    for later in range(10):
        earlier = [row for row in range(later) if VALUES[row] == VALUES[later]]
        ints[1, later] = earlier[-1] if earlier else -1
    none = np.zeros(1, np.int64)
    slots = Slots(ints, ints.view(np.float64), np.ones((2, 10), np.bool_), none, none.view(np.float64), none > 0)
    # sum, count(DISTINCT), max over all rows of the match; the nines lie between them.
    specs = Aggregates(
        np.array([o.SUM_INT, o.COUNT, o.MAX_INT], np.int32),
        np.array([2, 2, 2], np.int32),
        np.zeros((3, 2), np.int32),
        np.full((3, 2), -1, np.int32),
        np.array([-1, 1, -1], np.int32),
        np.zeros(3, np.bool_),
        np.zeros(3, np.int64),
        np.zeros(3, np.int64),
        False,
    )
    _, match, _, seen = output_rows(o.ONE_ROW)
    whole, real, known = np.zeros((3, 2), np.int64), np.zeros((3, 2)), np.zeros((3, 2), np.bool_)
    track, after = new_track(MEMBER, 3, 8, True), np.zeros((3, 9), np.int64)
    final = np.ones(3, np.bool_)
    find_aggregates(MATCHED, track, after, specs, final, slots, match, seen, whole, real, known, np.zeros(3, np.int64))
    assert whole[:, 0].tolist() == [16, 2, 5] and real[2, 0] == 0.0
    assert known.tolist() == [[True, False], [True, True], [True, False]]
    offsets, rows, labels = np.empty(3, np.int64), np.empty(4, np.int64), np.empty(4, np.int64)
    assert list_rows(MATCHED, np.array([False, True]), True, match, seen, offsets, rows, labels) == 2
    assert rows[:2].tolist() == [4, 8] and offsets.tolist() == [0, 2, 2]
