"""Decimals as Spark defines them: types, rounding, overflow. Exact fractions, no cleverness.

A type is (digits, digits behind the point). A value is a `Fraction` or None.
"""

from __future__ import annotations

from fractions import Fraction

Type = tuple[int, int]
Typed = tuple[Type, Fraction | None]

MOST = 38


class Overflow(Exception):
    """A value has more digits than its type; without ANSI mode it is NULL."""


class DivisionByZero(Exception):
    """Without ANSI mode the quotient is NULL."""


def result_type(symbol: str, left: Type, right: Type) -> Type:
    """The type of an operation. Of more than 38 digits, those before the point are kept, and six behind it."""
    (p1, s1), (p2, s2) = left, right
    scale = max(s1, s2)
    if symbol == "*":
        return _adjusted(p1 + p2 + 1, s1 + s2)
    if symbol == "/":
        scale = max(6, s1 + p2 + 1)
        return _adjusted(p1 - s1 + s2 + scale, scale)
    if symbol == "%":
        return _adjusted(min(p1 - s1, p2 - s2) + scale, scale)
    return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)


def common_type(left: Type, right: Type) -> Type:
    """The type in which two decimals are compared. Of more than 38 digits, those before the point are kept."""
    scale = max(left[1], right[1])
    digits = max(left[0] - left[1], right[0] - right[1]) + scale
    return (digits, scale) if digits <= MOST else (MOST, max(0, scale - (digits - MOST)))


def sum_type(type_: Type) -> Type:
    return min(MOST, type_[0] + 10), type_[1]


def mean_type(type_: Type) -> Type:
    return min(MOST, type_[0] + 4), min(MOST, type_[1] + 4)


def fit(value: Fraction | None, type_: Type, ansi: bool = True) -> Fraction | None:
    """The value rounded half up to a type."""
    if value is None:
        return None
    rounded = _half_up(value * 10 ** type_[1])
    if abs(rounded) >= 10 ** type_[0]:
        if ansi:
            raise Overflow
        return None
    return Fraction(rounded, 10 ** type_[1])


def operate(symbol: str, left: Typed, right: Typed, ansi: bool = True) -> Typed:
    type_ = result_type(symbol, left[0], right[0])
    a, b = left[1], right[1]
    if a is None or b is None:
        return type_, None
    if symbol in "/%" and b == 0:
        if ansi:
            raise DivisionByZero
        return type_, None
    if symbol == "+":
        exact = a + b
    elif symbol == "-":
        exact = a - b
    elif symbol == "*":
        exact = a * b
    elif symbol == "/":
        exact = _cut(a / b)
    else:
        exact = a - b * (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)
    return type_, fit(exact, type_, ansi)


def compare(symbol: str, left: Typed, right: Typed, ansi: bool = True) -> bool | None:
    type_ = common_type(left[0], right[0])
    a, b = fit(left[1], type_, ansi), fit(right[1], type_, ansi)
    if a is None or b is None:
        return None
    return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[symbol]


def total(type_: Type, values: list[Fraction | None], ansi: bool = True) -> Typed:
    """SUM: NULLs are left out; once it overflows it stays so."""
    known = [value for value in values if value is not None]
    result: Fraction | None = Fraction(0) if known else None
    for value in known:
        if result is not None:
            result = fit(result + value, sum_type(type_), ansi)
    return sum_type(type_), result


def mean(type_: Type, values: list[Fraction | None], ansi: bool = True) -> Typed:
    """AVG: the sum, divided as by `/`."""
    summed = total(type_, values, ansi)[1]
    count = len([value for value in values if value is not None])
    if summed is None:
        return mean_type(type_), None
    return mean_type(type_), fit(_cut(summed / count), mean_type(type_), ansi)


def _adjusted(digits: int, scale: int) -> Type:
    if digits <= MOST:
        return digits, scale
    return MOST, max(MOST - (digits - scale), min(scale, 6))


def _cut(value: Fraction) -> Fraction:
    """A quotient as Spark's `Decimal` has it before it is rounded: 39 digits behind the point, the rest cut off."""
    return Fraction(int(value * 10**39), 10**39)


def _half_up(value: Fraction) -> int:
    """The nearest integer; of two, the one farther from zero."""
    size = (abs(value) * 2 + 1) // 2
    return int(size) if value >= 0 else -int(size)
