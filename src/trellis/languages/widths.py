"""The width of WITHIN: a constant, and more than nothing."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from trellis.algebra.expression import Expression, Literal, Operator, Parameter
from trellis.errors import BindingError
from trellis.languages.literals import INTERVAL_UNITS

__all__ = ["check_within"]

# Enough to tell the sign of a sum, and no more: a month is not always 30 days.
_SECONDS = {
    "YEAR": Decimal(360 * 86400),
    "MONTH": Decimal(30 * 86400),
    "WEEK": Decimal(7 * 86400),
    "DAY": Decimal(86400),
    "HOUR": Decimal(3600),
    "MINUTE": Decimal(60),
    "SECOND": Decimal(1),
    "MILLISECOND": Decimal("1e-3"),
    "MICROSECOND": Decimal("1e-6"),
    "NANOSECOND": Decimal("1e-9"),
}
_CURE = "Give a width such as INTERVAL '2' HOUR, or a number of units of the order column."
_AMOUNT = re.compile(r"([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]+)")
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")


def check_within(width: Expression) -> None:
    """Raise a `BindingError` unless the width is a parameter or a positive constant."""
    match width:
        case Parameter():
            return
        case Operator("NEG", (Literal(),)):
            raise BindingError("The width of WITHIN is negative.", cure=_CURE, span=width.span)
        case Literal(text) if text == "NULL":
            raise BindingError("The width of WITHIN is NULL.", cure=_CURE, span=width.span)
        case Literal(text) if text.startswith("INTERVAL "):
            seconds = _interval_seconds(text.removeprefix("INTERVAL "))
        case Literal(text) if text[0].isdigit() or text[0] == ".":
            seconds = _number(re.sub(r"(?i)(bd|[lsydf])$", "", text))
        case _:
            raise BindingError("The width of WITHIN must be a constant.", cure=_CURE, span=width.span)
    if seconds is None:
        raise BindingError("The width of WITHIN is neither a number nor an interval.", cure=_CURE, span=width.span)
    if seconds <= 0:
        problem = "The width of WITHIN is zero." if seconds == 0 else "The width of WITHIN is negative."
        raise BindingError(problem, cure=_CURE, span=width.span)


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _interval_seconds(text: str) -> Decimal | None:
    """About how long an interval is, None where it cannot be read.

    `'1 day 2 hours'` and `1 DAY '2' HOURS` are amounts with units; `'1 02:03' DAY TO MINUTE` is a list of numbers
    below one sign.
    """
    span = re.fullmatch(r"(?:'(.*)'|\"(.*)\") ([A-Z]+) TO ([A-Z]+)", text, re.DOTALL)
    if span:
        value = (span.group(1) or span.group(2) or "").strip()
        units = list(_SECONDS)[: list(_SECONDS).index("MILLISECOND")]
        start = span.group(3).removesuffix("S")
        if start not in units:
            return None
        units = [unit for unit in units[units.index(start) :] if unit != "WEEK"]
        numbers = [Decimal(number) for number in _NUMBER.findall(value)]
        total = sum((number * _SECONDS[unit] for number, unit in zip(numbers, units, strict=False)), Decimal(0))
        return (-total if value.startswith("-") else total) if numbers else None
    bare = re.sub(r"['\"]", " ", text).strip()
    bare = re.sub(r"(?i)^interval\s", "", bare)
    amounts = _AMOUNT.findall(bare)
    if not amounts or _AMOUNT.sub("", bare).strip():
        return None
    total = Decimal(0)
    for sign, number, unit in amounts:
        if unit.upper() not in INTERVAL_UNITS:
            return None
        amount = Decimal(number) * _SECONDS[unit.upper().removesuffix("S")]
        total += -amount if sign == "-" else amount
    return total
