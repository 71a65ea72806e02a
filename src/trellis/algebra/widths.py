"""The width of WITHIN: a constant, and more than nothing."""

from __future__ import annotations

from decimal import Decimal

from trellis.algebra.expression import Expression, Literal, Operator, Parameter
from trellis.algebra.literals import MICROSECONDS, read_interval, read_number
from trellis.errors import BindingError

__all__ = ["check_within"]

# Enough to tell the sign of a sum, and no more: a month is not always 30 days.
_MONTH = 30 * MICROSECONDS["DAY"]
_CURE = "Give a width such as INTERVAL '2' HOUR, or a number of units of the order column."


def check_within(width: Expression, cure: str = _CURE) -> None:
    """Raise a `BindingError`, with the cure, unless the width is a parameter or a positive constant."""
    size: int | float | Decimal | None
    match width:
        case Parameter():
            return
        case Operator("NEG", (Literal(),)):
            raise BindingError("The width of WITHIN is negative.", cure=cure, span=width.span)
        case Literal(text) if text == "NULL":
            raise BindingError("The width of WITHIN is NULL.", cure=cure, span=width.span)
        case Literal(text) if text.startswith("INTERVAL "):
            interval = read_interval(text)
            size = None if interval is None else interval.months * _MONTH + interval.micros
        case Literal(text) if text[0].isdigit() or text[0] == ".":
            size = read_number(text)
        case _:
            raise BindingError("The width of WITHIN must be a constant.", cure=cure, span=width.span)
    if size is None:
        raise BindingError("The width of WITHIN is neither a number nor an interval.", cure=cure, span=width.span)
    if size <= 0:
        problem = "The width of WITHIN is zero." if size == 0 else "The width of WITHIN is negative."
        raise BindingError(problem, cure=cure, span=width.span)
