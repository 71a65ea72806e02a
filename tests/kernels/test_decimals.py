"""Arithmetic of decimals with two words against Python's integers, by Spark's rules."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.kernels import decimals
from trellis.kernels import opcodes as o

# What only kernels call has no way in from Python.


@numba.njit
def calculate(*arguments):  # type: ignore[no-untyped-def]
    return decimals.calculate(*arguments)


@numba.njit
def rescale(*arguments):  # type: ignore[no-untyped-def]
    return decimals.rescale(*arguments)


@numba.njit
def to_float(*arguments):  # type: ignore[no-untyped-def]
    return decimals.to_float(*arguments)


@numba.njit
def sum_words(*arguments):  # type: ignore[no-untyped-def]
    return decimals.sum_words(*arguments)


@numba.njit
def compare_words(*arguments):  # type: ignore[no-untyped-def]
    return decimals.compare_words(*arguments)


@numba.njit
def negate_words(*arguments):  # type: ignore[no-untyped-def]
    return decimals.negate_words(*arguments)


_MOST = 10**38 - 1

digits = st.one_of(
    st.integers(-_MOST, _MOST),
    st.integers(0, 38).flatmap(lambda count: st.integers(-(10**count) + 1, 10**count - 1 if count else 0)),
    st.sampled_from([0, 1, -1, _MOST, -_MOST, 2**63, -(2**63), 2**64, 2**64 - 1, -(2**64), 10**19, 5 * 10**37]),
)
scales = st.integers(0, 38)
room = np.zeros((4, decimals.LIMBS), np.int64)


def words(value: int) -> tuple[np.int64, np.int64]:
    """High and low, as kernels hold them."""
    low = value & (2**64 - 1)
    return np.int64(value >> 64), np.int64(low - 2**64 if low >= 2**63 else low)


def number(high: int, low: int) -> int:
    return (int(high) << 64) + (int(low) & (2**64 - 1))


def half_up(value: Fraction) -> int:
    """The nearest integer; of two, the one farther from zero."""
    size = (abs(value) * 2 + 1) // 2
    return int(size) if value >= 0 else -int(size)


def expected(symbol: str, left: int, right: int, scale: tuple[int, int], result: tuple[int, int]) -> int | str:
    """The digits of the value of the type (digits, digits behind the point), or what goes wrong."""
    a, b = Fraction(left, 10 ** scale[0]), Fraction(right, 10 ** scale[1])
    if symbol in "/%" and b == 0:
        return "zero"
    match symbol:
        case "+":
            exact = a + b
        case "-":
            exact = a - b
        case "*":
            exact = a * b
        case "/":
            # To 39 digits behind the point first.
            exact = Fraction(half_up(a / b * 10**39), 10**39)
        case _:
            whole = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            exact = a - b * whole
    rounded = half_up(exact * 10 ** result[1])
    return "overflow" if abs(rounded) >= 10 ** result[0] else rounded


def actual(symbol: str, left: int, right: int, scale: tuple[int, int], result: tuple[int, int]) -> int | str:
    op = {"+": o.ADD_INT, "-": o.SUBTRACT_INT, "*": o.MULTIPLY_INT, "/": o.DIVIDE_INT, "%": o.MODULO_INT}[symbol]
    up = {"*": (0, 0), "/": (39 - scale[0] + scale[1], 0)}.get(symbol, (max(scale) - scale[0], max(scale) - scale[1]))
    have = {"*": sum(scale), "/": 39}.get(symbol, max(scale))
    found = np.zeros(2, np.int64)
    status = calculate(op, *words(left), *words(right), *up, have - result[1], result[0], room, found)
    if status == o.DONE:
        return number(*found)
    return "zero" if status == o.DIVISION_BY_ZERO else "overflow"


@given(st.sampled_from("+-*/%"), digits, digits, scales, scales, st.data())
def test_operations(symbol: str, left: int, right: int, scale: int, other: int, data: st.DataObject) -> None:
    exact = {"*": scale + other, "/": 38}.get(symbol, max(scale, other))
    precision = data.draw(st.integers(1, 38))
    result = precision, data.draw(st.integers(0, min(exact, precision)))
    arguments = symbol, left, right, (scale, other), result
    assert actual(*arguments) == expected(*arguments)


@given(digits, digits)
@example(_MOST, 1)
@example(-_MOST, -1)
@example(_MOST, _MOST)
@example(-_MOST, -_MOST)
def test_sums_and_comparisons(left: int, right: int) -> None:
    high, low, fits = sum_words(*words(left), *words(right))
    assert fits == (abs(left + right) <= _MOST)
    assert not fits or number(high, low) == left + right
    assert compare_words(*words(left), *words(right)) == (left > right) - (left < right)
    assert number(*negate_words(*words(left))) == -left


@given(digits, scales, scales, st.integers(1, 38))
def test_other_types(value: int, have: int, wanted: int, precision: int) -> None:
    found = np.zeros(2, np.int64)
    up, down = max(0, wanted - have), max(0, have - wanted)
    status = rescale(*words(value), up, down, precision, room, found)
    rounded = half_up(Fraction(value, 10**have) * 10**wanted)
    assert status == (o.DONE if abs(rounded) < 10**precision else o.OVERFLOW)
    assert status != o.DONE or number(*found) == rounded


@given(digits, scales)
@example(2**53 + 1, 0)
@example(9007199254740993 * 10**3, 3)
@example(2**54 + 2, 0)
@example(99999999999999999999999999999999999999, 38)
def test_floats_are_the_nearest(value: int, scale: int) -> None:
    assert to_float(*words(value), scale, room) == value / 10**scale
