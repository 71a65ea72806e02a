"""Conditions of segments, for arrays of segments at once.

The values that a condition reads of each segment are laid out like the columns of rows; then the same programs that
test rows test segments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trellis.algebra.segments import Function, Read, SegmentCondition, SegmentRow, SegmentValue
from trellis.errors import DataError
from trellis.execution.segments.functions import Environment, UserFunction, evaluate_function
from trellis.execution.segments.rows import Rows
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Aggregates, Array, Bools, Ints, Places, Program, Slots, Track
from trellis.kernels.expressions import evaluate_rows
from trellis.kernels.room import new_track, new_work
from trellis.kernels.vectors import evaluate_columns
from trellis.kernels.wide import has_wide

__all__ = ["SegmentTester", "read_value", "row_of"]

# Every value is read from the column of its segment: the "current row" of the program.
_PLACES = Places(
    np.array([o.CURRENT_ROW], np.int32),
    np.zeros(1, np.bool_),
    np.zeros(1, np.int32),
    np.zeros(1, np.int32),
    np.zeros(1, np.bool_),
)
_NO_AGGREGATES = Aggregates(
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros((0, 1), np.int32),
    np.zeros((0, 1), np.int32),
    np.zeros(0, np.int32),
    np.zeros(0, np.bool_),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    False,
)


@dataclass(slots=True)
class SegmentTester:
    """The conditions of a plan over the rows of a chunk."""

    rows: Rows
    conditions: Sequence[SegmentCondition]
    program: Program
    depth: int
    users: Mapping[str, UserFunction]
    _track: Track = field(init=False)

    def __post_init__(self) -> None:
        self._track = new_track(np.zeros((0, 1), np.bool_), 0, 0, False)

    def hold(self, numbers: Sequence[int], environment: Environment, index: bool, lengths: tuple[int, int]) -> Bools:
        """For which segments all conditions hold; later ones are asked only about those that passed the earlier."""
        starts, _ = environment[""]
        passed = np.ones(len(starts), np.bool_)
        for place, number in enumerate(numbers):
            if place == 0:
                passed = self._holds(number, environment, index, lengths)
                continue
            left = np.flatnonzero(passed)
            some = {name: (s[left], e[left]) for name, (s, e) in environment.items()}
            passed[left] = self._holds(number, some, index, lengths)
        return passed

    def _holds(self, number: int, environment: Environment, index: bool, lengths: tuple[int, int]) -> Bools:
        condition = self.conditions[number]
        count = len(environment[""][0])
        if count == 0:
            return np.zeros(0, np.bool_)
        ints = np.empty((max(len(condition.values), 1), count), np.int64)
        slots = Slots(ints, ints.view(np.float64), np.ones(ints.shape, np.bool_), _NO_INTS, _NO_FLOATS, _NO_BOOLS)
        for place, value in enumerate(condition.values):
            found, known = read_value(self.rows, value, environment, index, lengths, self.users)
            (slots.floats if condition.floats[place] else ints)[place] = found
            slots.known[place] = known
        offsets = np.array([0, count], np.int64)
        quickly = evaluate_columns(condition.begin, condition.end, self.program, slots, _PLACES, offsets)
        held = self._by_rows(condition, slots, offsets, environment) if quickly is None else np.array(quickly)
        if condition.owner:
            # Nothing is asked of a variable that has no segment in this match.
            held |= environment[condition.owner][0] < 0
        return held

    def _by_rows(self, condition: SegmentCondition, slots: Slots, offsets: Ints, environment: Environment) -> Bools:
        bits, status = np.empty(int(offsets[1]), np.bool_), np.zeros(3, np.int64)
        evaluate_rows(
            condition.begin,
            condition.end,
            self.program,
            slots,
            _PLACES,
            _NO_AGGREGATES,
            offsets,
            offsets[:-1],
            offsets[1:],
            self._track,
            new_work(1, 1, 1, self.depth, True, False, has_wide(self.program.code)),
            bits,
            status,
        )
        if status[0] != o.DONE:
            where = self.rows.where(int(environment[""][0][int(status[1])]))
            raise DataError(
                f"A number is too large for its type in a segment that starts at {where}.",
                cure="Cast to a wider type, or to DOUBLE.",
            )
        return bits


_NO_INTS, _NO_FLOATS, _NO_BOOLS = np.zeros(1, np.int64), np.zeros(1, np.float64), np.zeros(1, np.bool_)


def read_value(
    rows: Rows,
    value: SegmentValue,
    environment: Environment,
    index: bool,
    lengths: tuple[int, int],
    users: Mapping[str, UserFunction],
) -> tuple[Array, Bools]:
    """A value of each segment, and where there is one."""
    match value:
        case Function():
            return evaluate_function(rows, value, environment, index, lengths, users)
        case SegmentRow(variable=variable, from_first=from_first, offset=offset, shift=shift):
            found = row_of(rows, environment[variable], from_first, offset, shift)
            return (found >= 0).astype(np.int64), np.ones(len(found), np.bool_)
        case Read(slot=slot, variable=variable, from_first=from_first, offset=offset, shift=shift):
            starts, ends = environment[variable]
            source: Array = (rows.slots.ints if rows.whole[slot] else rows.slots.floats)[slot]
            known = rows.slots.known[slot]
            if offset == 0 and shift == 0:
                found = starts if from_first else ends
                if (starts >= 0).all():
                    return source[found], known[found]
            found = row_of(rows, (starts, ends), from_first, offset, shift)
            return source[found], known[found] & (found >= 0)


def row_of(rows: Rows, extent: tuple[Ints, Ints], from_first: bool, offset: int, shift: int) -> Ints:
    """The row that a value is read from, -1 where there is none."""
    starts, ends = extent
    found = starts + offset if from_first else ends - offset
    there = (starts >= 0) & (found >= starts) & (found <= ends)
    if shift:
        anchor = np.where(there, found, 0)
        found = found + shift
        there &= (found >= rows.first[anchor]) & (found < rows.stop[anchor])
    return np.where(there, found, -1)
