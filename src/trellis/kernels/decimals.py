"""Arithmetic of decimals of up to 38 digits, as Spark does it: exactly, then rounded half up to the type of the result.

A decimal is a whole number (its digits without the point) of 128 bits in two words: `high` with the sign, and `low`,
whose 64 bits count without one. Between two words and the result there may be 115 digits: such a number is an array of
*limbs* of nine digits, the least first, without a sign.
"""

from __future__ import annotations

import math

import numpy as np

from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Ints
from trellis.kernels.compile import inlined, inner

__all__ = [
    "LIMBS",
    "SUM_OVERFLOWED",
    "add_words",
    "calculate",
    "compare_words",
    "negate_words",
    "rescale",
    "sum_words",
    "to_float",
]

LIMBS = 16
"""How many limbs a number has room for: a dividend has 115 digits at most, 13 limbs."""

SUM_OVERFLOWED = -(2**63)
"""The second word of a sum that was too large once: no decimal has it."""

_BASE = 1_000_000_000
_WORD = 1 << 32
_MASK = (1 << 32) - 1
_LEAST = -(2**63)
_MOST = 2**63 - 1
# 10 ** 38: one more than the greatest decimal.
_LIMIT_HIGH = 10**38 >> 64
_LIMIT_LOW = (10**38 & (2**64 - 1)) - (2**64 if (10**38 >> 63) & 1 else 0)


@inlined
def compare_words(left_high: int, left_low: int, right_high: int, right_low: int) -> int:
    """-1, 0 or 1."""
    if left_high != right_high:
        return -1 if left_high < right_high else 1
    # With the first bit turned, words without a sign compare as those with one.
    left, right = left_low ^ _LEAST, right_low ^ _LEAST
    return int(left > right) - int(left < right)


@inlined
def negate_words(high: int, low: int) -> tuple[int, int]:
    """The number with the other sign."""
    if low == 0:
        return -high, 0
    return ~high, -low if low != _LEAST else low


@inlined
def add_words(left_high: int, left_low: int, right_high: int, right_low: int) -> tuple[int, int]:
    """The sum of two numbers; it must fit."""
    # Words without a sign may wrap.
    low = int(np.int64(np.uint64(left_low) + np.uint64(right_low)))
    carry = int((low ^ _LEAST) < (left_low ^ _LEAST))
    return left_high + right_high + carry, low


@inlined
def sum_words(left_high: int, left_low: int, right_high: int, right_low: int) -> tuple[int, int, bool]:
    """The sum of two decimals, and whether it has 38 digits at most."""
    if left_high >= 0 and right_high >= 0 and left_high >= _MOST - right_high:
        return 0, 0, False
    if left_high < 0 and right_high < 0 and left_high < _LEAST - right_high:
        return 0, 0, False
    high, low = add_words(left_high, left_low, right_high, right_low)
    size_high, size_low = (high, low) if high >= 0 else negate_words(high, low)
    return high, low, compare_words(size_high, size_low, _LIMIT_HIGH, _LIMIT_LOW) < 0


@inner
def calculate(
    symbol: int,
    left_high: int,
    left_low: int,
    right_high: int,
    right_low: int,
    left_up: int,
    right_up: int,
    down: int,
    precision: int,
    limbs: Ints,
    result: Ints,
) -> int:
    """An operation on two decimals; the words of its value are left in `result`: high, low. DONE, or what went wrong.

    The operands are first scaled up by so many digits, the value down again, half up.
    """
    left, right, value, rest = limbs[0], limbs[1], limbs[2], limbs[3]
    left_negative = _split(left_high, left_low, left)
    right_negative = _split(right_high, right_low, right)
    _scale_up(left, left_up)
    _scale_up(right, right_up)
    negative = left_negative
    if symbol == o.ADD_INT or symbol == o.SUBTRACT_INT:
        if symbol == o.SUBTRACT_INT:
            right_negative = not right_negative
        if left_negative == right_negative:
            _add(left, right, value)
        elif _compare(left, right) >= 0:
            _subtract(left, right, value)
        else:
            _subtract(right, left, value)
            negative = right_negative
    elif symbol == o.MULTIPLY_INT:
        _multiply(left, right, value)
        negative = left_negative != right_negative
    else:
        if _is_zero(right):
            return o.DIVISION_BY_ZERO
        _divide(left, right, value, rest)
        if symbol == o.MODULO_INT:
            for k in range(LIMBS):
                value[k] = rest[k]
        else:
            # Digits beyond those are cut off, as Spark does; only the last step rounds.
            negative = left_negative != right_negative
    _scale_down(value, down)
    if _digits(value) > precision:
        return o.OVERFLOW
    _join(value, negative, result)
    return o.DONE


@inner
def rescale(high: int, low: int, up: int, down: int, precision: int, limbs: Ints, result: Ints) -> int:
    """A decimal as another type of decimal, rounded half up; its words are left in `result`. DONE or OVERFLOW."""
    value = limbs[0]
    negative = _split(high, low, value)
    _scale_up(value, up)
    _scale_down(value, down)
    if _digits(value) > precision:
        return o.OVERFLOW
    _join(value, negative, result)
    return o.DONE


@inner
def to_float(high: int, low: int, scale: int, limbs: Ints) -> float:
    """The nearest float of a decimal, the even one of two.

    1. The value times a power of two is cut to a whole number of 54 to 57 bits, and whether anything was cut is kept.
    2. That is rounded to 53 bits, and the power of two is taken back.
    """
    value = limbs[0]
    negative = _split(high, low, value)
    if _is_zero(value):
        return 0.0
    about = 0.0
    for k in range(LIMBS - 1, -1, -1):
        about = about * 1e9 + value[k]
    power = 55 - math.frexp(about / 10.0**scale)[1]
    cut = False
    left = power
    while left > 0:
        step = min(left, 29)
        _times(value, 1 << step)
        left -= step
    while left < 0:
        step = min(-left, 29)
        cut |= _over(value, 1 << step) != 0
        left += step
    left = scale
    while left > 0:
        step = min(left, 9)
        cut |= _over(value, _power(step)) != 0
        left -= step
    whole = (value[2] * _BASE + value[1]) * _BASE + value[0]
    drop = 0
    while whole >> drop >= 1 << 53:
        drop += 1
    kept = whole >> drop
    half = 1 << drop >> 1
    dropped = whole - (kept << drop)
    if drop > 0 and (dropped > half or (dropped == half and (cut or kept & 1))):
        kept += 1
    found = math.ldexp(float(kept), drop - power)
    return -found if negative else found


@inlined
def _power(digits: int) -> int:
    """10 to the power of up to 9."""
    power = 1
    for _ in range(digits):
        power *= 10
    return power


@inlined
def _clear(limbs: Ints) -> None:
    for k in range(LIMBS):
        limbs[k] = 0


@inlined
def _split(high: int, low: int, limbs: Ints) -> bool:
    """Two words as limbs; whether the number is negative."""
    negative = high < 0
    if negative:
        high, low = negate_words(high, low)
    d, c = (high >> 32) & _MASK, high & _MASK
    b, a = (low >> 32) & _MASK, low & _MASK
    _clear(limbs)
    for k in range(5):
        d, rest = d // _BASE, d % _BASE
        c += rest * _WORD
        c, rest = c // _BASE, c % _BASE
        b += rest * _WORD
        b, rest = b // _BASE, b % _BASE
        a += rest * _WORD
        a, rest = a // _BASE, a % _BASE
        limbs[k] = rest
    return bool(negative)


@inlined
def _join(limbs: Ints, negative: bool, result: Ints) -> None:
    """Limbs of 38 digits at most as two words."""
    a, b, c, d = 0, 0, 0, 0
    for k in range(4, -1, -1):
        a = a * _BASE + limbs[k]
        b = b * _BASE + (a >> 32)
        c = c * _BASE + (b >> 32)
        d = d * _BASE + (c >> 32)
        a, b, c = a & _MASK, b & _MASK, c & _MASK
    high, low = (d << 32) | c, (b << 32) | a
    if negative:
        high, low = negate_words(high, low)
    result[0], result[1] = high, low


@inlined
def _is_zero(limbs: Ints) -> bool:
    return _digits(limbs) == 0


@inlined
def _compare(left: Ints, right: Ints) -> int:
    for k in range(LIMBS - 1, -1, -1):
        if left[k] != right[k]:
            return -1 if left[k] < right[k] else 1
    return 0


@inlined
def _digits(limbs: Ints) -> int:
    for k in range(LIMBS - 1, -1, -1):
        if limbs[k] != 0:
            count, rest = 9 * k, limbs[k]
            while rest > 0:
                rest //= 10
                count += 1
            return count
    return 0


@inlined
def _times(limbs: Ints, factor: int) -> None:
    """Multiply by a number of up to 30 bits."""
    carry = 0
    for k in range(LIMBS):
        carry += limbs[k] * factor
        limbs[k] = carry % _BASE
        carry //= _BASE


@inlined
def _over(limbs: Ints, divisor: int) -> int:
    """Divide by a number of up to 30 bits; what remains."""
    rest = 0
    for k in range(LIMBS - 1, -1, -1):
        rest = rest * _BASE + limbs[k]
        limbs[k] = rest // divisor
        rest %= divisor
    return rest


@inlined
def _increment(limbs: Ints) -> None:
    k = 0
    while limbs[k] == _BASE - 1:
        limbs[k] = 0
        k += 1
    limbs[k] += 1


@inner
def _scale_up(limbs: Ints, digits: int) -> None:
    while digits > 0:
        step = min(digits, 9)
        _times(limbs, _power(step))
        digits -= step


@inner
def _scale_down(limbs: Ints, digits: int) -> None:
    """Drop digits; the last one decides about rounding."""
    if digits == 0:
        return
    left = digits - 1
    while left > 0:
        step = min(left, 9)
        _over(limbs, _power(step))
        left -= step
    if _over(limbs, 10) >= 5:
        _increment(limbs)


@inlined
def _add(left: Ints, right: Ints, value: Ints) -> None:
    carry = 0
    for k in range(LIMBS):
        carry += left[k] + right[k]
        value[k] = carry % _BASE
        carry //= _BASE


@inlined
def _subtract(left: Ints, right: Ints, value: Ints) -> None:
    """The first must not be the smaller one."""
    borrow = 0
    for k in range(LIMBS):
        digit = left[k] - right[k] - borrow
        borrow = int(digit < 0)
        value[k] = digit + borrow * _BASE


@inlined
def _multiply(left: Ints, right: Ints, value: Ints) -> None:
    _clear(value)
    for i in range(9):
        carry = 0
        for k in range(LIMBS - i):
            carry += value[i + k] + left[i] * right[k]
            value[i + k] = carry % _BASE
            carry //= _BASE


@inner
def _divide(left: Ints, right: Ints, value: Ints, rest: Ints) -> None:
    """Limb by limb from the greatest: how often the divisor goes into what remains, found by halving."""
    _clear(rest)
    for k in range(LIMBS - 1, -1, -1):
        for i in range(LIMBS - 1, 0, -1):
            rest[i] = rest[i - 1]
        rest[0] = left[k]
        least, most = 0, _BASE - 1
        while least < most:
            middle = (least + most + 1) // 2
            if _goes(right, middle, rest):
                least = middle
            else:
                most = middle - 1
        value[k] = least
        borrow, carry = 0, 0
        for i in range(LIMBS):
            carry += right[i] * least
            digit = rest[i] - carry % _BASE - borrow
            carry //= _BASE
            borrow = int(digit < 0)
            rest[i] = digit + borrow * _BASE


@inlined
def _goes(divisor: Ints, times: int, into: Ints) -> bool:
    """Whether so many times the divisor is not more than a number."""
    carry, order = 0, 0
    for k in range(LIMBS):
        carry += divisor[k] * times
        digit = carry % _BASE
        carry //= _BASE
        if digit != into[k]:
            order = -1 if digit < into[k] else 1
    return bool(carry == 0 and order <= 0)
