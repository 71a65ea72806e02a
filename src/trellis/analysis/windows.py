"""Windows of segments: of rows, `window(lo, hi)`, `window(n)`, `window()`; of time, `window(col, lo, hi, UNIT)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundWindow
from trellis.algebra.expression import Expression
from trellis.algebra.literals import MICROSECONDS, interval_micros, read_number
from trellis.algebra.query import SortKey
from trellis.errors import BindingError, UnsupportedError

__all__ = ["bind_window", "within_window"]

_FORMS = "The forms are window(), window(n), window(lo, hi), window(col, size, UNIT) and window(col, lo, hi, UNIT)."


def bind_window(call: e.Call, column: Callable[[e.Name], Expression], parameters: Mapping[str, object]) -> BoundWindow:
    """Read and check the arguments of a window."""
    arguments = call.arguments
    if arguments and isinstance(arguments[0], e.Name):
        if len(arguments) not in (3, 4):
            raise BindingError(
                "A window of time takes a column, one or two bounds, and a unit.", cure=_FORMS, span=call.span
            )
        unit = _unit(arguments[-1])
        bounds = [_bound(argument, parameters) for argument in arguments[1:-1]]
        micros = [None if bound is None else int((bound * unit).to_integral_value()) for bound in bounds]
        return _checked(call, micros, column(arguments[0]))
    if len(arguments) > 2:
        raise BindingError(f"A window takes at most two bounds, not {len(arguments)}.", cure=_FORMS, span=call.span)
    rows: list[int | None] = []
    for argument in arguments:
        bound = _bound(argument, parameters)
        if bound is not None and bound != bound.to_integral_value():
            raise BindingError("A window of rows has whole bounds.", cure=_FORMS, span=argument.span or call.span)
        rows.append(None if bound is None else int(bound))
    return _checked(call, rows, None)


def _checked(call: e.Call, bounds: list[int | None], column: Expression | None) -> BoundWindow:
    least, most = (None, None) if not bounds else (bounds[0], bounds[-1])
    if least is not None and most is not None and least > most:
        raise BindingError(
            "The lower bound of the window is above the upper one: nothing could match.",
            cure="Swap the bounds.",
            span=call.span,
        )
    if column is None and most == 0:
        raise BindingError(
            "A window of no rows matches nothing.", cure="A segment has at least one row.", span=call.span
        )
    return BoundWindow(least, most, column)


def _bound(argument: Expression, parameters: Mapping[str, object]) -> Decimal | None:
    """A bound of a window; None is without bound."""
    sign, inner = (-1, argument.operands[0]) if _is_negative(argument) else (1, argument)  # type: ignore[union-attr]
    value: object
    match inner:
        case e.Literal(text=text) if text.upper() == "NULL":
            return None
        case e.Literal(text=text):
            value = read_number(text)
        case e.Parameter(name=name) if name in parameters:
            value = parameters[name]
            if value is None:
                return None
        case e.Parameter(name=name):
            raise BindingError(
                f"The parameter :{name} has no value.", cure=f"Pass args={{{name!r}: ...}}.", span=argument.span
            )
        case _:
            raise BindingError(
                "The bounds of a window must be constants: numbers, parameters or NULL.",
                cure="Write a condition on count(*) or on last(x) - first(x) instead.",
                span=argument.span,
            )
    try:
        bound = sign * Decimal(str(value))
    except InvalidOperation:
        bound = Decimal("NaN")
    if isinstance(value, bool) or not bound.is_finite():
        raise BindingError("The bounds of a window must be numbers or NULL.", cure=_FORMS, span=argument.span)
    if bound < 0:
        raise BindingError("A bound of a window is negative.", cure="Bounds start at 0.", span=argument.span)
    return bound


def _is_negative(argument: Expression) -> bool:
    return isinstance(argument, e.Operator) and argument.symbol == "NEG"


def _unit(argument: Expression) -> int:
    name = ""
    match argument:
        case e.Name(parts=(identifier,)):
            name = identifier.text.upper()
        case e.Literal(text=text):
            name = text.strip("'").upper()
    for unit in (name, name.removesuffix("S")):
        if unit in MICROSECONDS:
            return MICROSECONDS[unit]
    months = name.removesuffix("S") in ("MONTH", "QUARTER", "YEAR")
    raise BindingError(
        f"{name or 'This'} is not a unit of a window.",
        cure="Months and years differ in length: use DAY." if months else f"The units are {', '.join(MICROSECONDS)}.",
        span=argument.span,
    )


def within_window(
    width: Expression,
    order_by: tuple[tuple[str, Expression], ...],
    keys: tuple[SortKey, ...],
    parameters: Mapping[str, object],
) -> BoundWindow:
    """WITHIN of a segment query: a window of time over the first order key."""
    if keys and keys[0].descending:
        raise UnsupportedError(
            "WITHIN of a segment query needs an ascending order key.",
            cure="Order by the time ascending, or bound the rows: `& WIN` with SEGMENT WIN AS window(1, 100).",
            span=width.span,
        )
    micros: int | None = None
    match width:
        case e.Parameter(name=name) if isinstance(parameters.get(name), timedelta):
            value = parameters[name]
            assert isinstance(value, timedelta)
            micros = value // timedelta(microseconds=1)
        case e.Literal(text=text):
            micros = interval_micros(text)
    if micros is None:
        raise UnsupportedError(
            f"WITHIN {width} cannot be used in a query with segments.",
            cure="Write INTERVAL 'n' and one unit; for numbers, `& WIN` with SEGMENT WIN AS last(x) - first(x) <= n.",
            span=width.span,
        )
    return BoundWindow(None, micros, order_by[0][1])
