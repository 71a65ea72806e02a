"""Programs over whole columns: for conditions that look only at a row and its physical neighbours.

Instruction by instruction over all rows of a chunk, with NumPy: nothing to compile, and the cost of an instruction is
shared by many rows. Only programs that cannot fail are run this way, since both sides of AND and OR are computed.
"""

from __future__ import annotations

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Array, Bools, Ints, Places, Program, Slots

__all__ = ["evaluate_columns"]

# Unknown values are carried as None where there are none.
_Value = tuple[Array, Bools | None]

_COMPARE = {
    o.EQUAL: np.equal,
    o.UNEQUAL: np.not_equal,
    o.LESS: np.less,
    o.LESS_EQUAL: np.less_equal,
    o.GREATER: np.greater,
    o.GREATER_EQUAL: np.greater_equal,
}
_FLOAT = {o.ADD_FLOAT: np.add, o.SUBTRACT_FLOAT: np.subtract, o.MULTIPLY_FLOAT: np.multiply}
_FARTHEST = 64


def evaluate_columns(
    begin: int, end: int, program: Program, slots: Slots, places: Places, offsets: Ints
) -> Bools | None:
    """The rows in which a condition is true, or None if its program does not fit this way."""
    rows = int(offsets[-1])
    stack: list[_Value] = []
    for op, a, b in program.code[begin:end].tolist():
        if op in (o.LOAD_INT, o.LOAD_FLOAT):
            shift = int(places.shift[b])
            values = (slots.floats if op == o.LOAD_FLOAT else slots.ints)[a]
            if abs(shift) > _FARTHEST or (op == o.LOAD_FLOAT and np.isnan(values).any()):
                return None  # NaN equals NaN in SQL, not in NumPy
            known = None if slots.known[a].all() else slots.known[a]
            stack.append(_shifted(values, known, shift, offsets))
        elif op == o.CONST_INT:
            stack.append((program.ints[a : a + 1], None))
        elif op == o.CONST_FLOAT:
            stack.append((program.floats[a : a + 1], None))
        elif op in (o.COMPARE_INT, o.COMPARE_FLOAT):
            (right, right_known), (left, left_known) = stack.pop(), stack.pop()
            stack.append((_COMPARE[a](left, right), _both(left_known, right_known)))
        elif op in _FLOAT:
            (right, right_known), (left, left_known) = stack.pop(), stack.pop()
            result = _FLOAT[op](left, right)
            if not np.isfinite(result).all():
                return None
            stack.append((result, _both(left_known, right_known)))
        elif op == o.DIVIDE_FLOAT and program.lenient:
            (right, right_known), (left, left_known) = stack.pop(), stack.pop()
            divides = right != 0
            result = left / np.where(divides, right, 1.0)
            if not np.isfinite(result).all():
                return None
            both = _both(left_known, right_known)
            stack.append((result, both if divides.all() else _both(both, divides)))
        elif (
            op == o.NEGATE_INT and len(stack[-1][0]) == 1 and stack[-1][0][0] > -(2**62)
        ) or op == o.NEGATE_FLOAT:  # a constant
            values, known = stack.pop()
            stack.append((-values, known))
        elif op == o.ABS_FLOAT:
            values, known = stack.pop()
            stack.append((np.abs(values), known))
        elif op == o.TO_FLOAT:
            values, known = stack.pop()
            stack.append((values.astype(np.float64), known))
        elif op in (o.AND, o.OR):
            right_value, left_value = stack.pop(), stack.pop()
            stack.append(_combine(op, left_value, right_value))
        elif op == o.NOT:
            values, known = stack.pop()
            stack.append((values == 0, known))
        elif op not in (o.GO_IF_FALSE, o.GO_IF_TRUE):  # which only save work
            return None
    values, known = stack.pop()
    true = values.astype(np.bool_, copy=False) if known is None else (values != 0) & known
    return np.broadcast_to(true, rows)


def _shifted(values: Array, known: Bools | None, shift: int, offsets: Ints) -> _Value:
    """The values of the rows `shift` rows on, unknown where that leaves the series."""
    if shift == 0:
        return values, known
    moved = np.roll(values, -shift)
    there = np.ones(len(values), np.bool_) if known is None else np.roll(known, -shift)
    for step in range(abs(shift)):
        outside = offsets[:-1] + step if shift < 0 else offsets[1:] - 1 - step
        there[outside[(outside >= 0) & (outside < len(values))]] = False
    return moved, there


def _both(left: Bools | None, right: Bools | None) -> Bools | None:
    if left is None:
        return right
    return left if right is None else left & right


def _combine(op: int, left: _Value, right: _Value) -> _Value:
    """AND and OR with three values: a side that decides makes the other one unimportant."""
    (a, a_known), (b, b_known) = left, right
    a, b = a != 0, b != 0
    values = a & b if op == o.AND else a | b
    if a_known is None and b_known is None:
        return values, None
    known_a = np.ones(1, np.bool_) if a_known is None else a_known
    known_b = np.ones(1, np.bool_) if b_known is None else b_known
    # FALSE decides AND, TRUE decides OR, whatever stands on the other side.
    decided = (known_a & ~a) | (known_b & ~b) if op == o.AND else (known_a & a) | (known_b & b)
    return (~decided if op == o.AND else decided), decided | (known_a & known_b)
