"""WITHIN: a bound on the order key of the last row, given that of the first."""

from __future__ import annotations

from decimal import Decimal

from trellis.algebra import expression as e
from trellis.algebra.automaton import WithinSpec
from trellis.algebra.bound import BoundQuery
from trellis.algebra.literals import MICROSECONDS, read_interval
from trellis.analysis.source import Constant
from trellis.analysis.types import Kind
from trellis.errors import BindingError
from trellis.planning.before_match.bucket_keys import fixed_width
from trellis.planning.expressions.columns import Columns

__all__ = ["plan_within", "spell_width"]

_DAY, _SECOND = MICROSECONDS["DAY"], MICROSECONDS["SECOND"]


def spell_width(width: e.Expression | None) -> e.Expression | None:
    """A width of months and smaller units as Spark reads it: it has no literal that mixes them.

    Spark adds months first, then days by the clock, then the rest. In intervals without months 24 hours are a day; so
    they are here.
    """
    interval = read_interval(width.text) if isinstance(width, e.Literal) else None
    if width is None or interval is None or not interval.months or not interval.micros:
        return width
    days = abs(interval.micros) // _DAY * (1 if interval.micros > 0 else -1)
    seconds = Decimal(interval.micros - days * _DAY) / _SECOND
    parts = (0, interval.months, 0, days, 0, 0, seconds)
    return e.Raw((f"make_interval({', '.join(map(str, parts))})",), span=width.span)


def plan_within(bound: BoundQuery, columns: Columns, constant: Constant) -> WithinSpec | None:
    """The window of a query: the last key that a match from each row may reach.

    Where that is always the same distance away the worker adds it, otherwise Spark computes the key for each row.
    """
    within = bound.query.within
    if within is None:
        return None
    key = bound.order_by[0][1]
    descending = bound.query.order_by[0].descending
    type_ = columns.type_of(key)
    rows = bound.query.events is None
    named, written = ("the ORDER BY key", "INTERVAL '10' MINUTE") if rows else ("the time of the events", "10 minutes")
    if type_ is None or type_.kind not in (
        Kind.INTEGER,
        Kind.FLOAT,
        Kind.DECIMAL,
        Kind.DATE,
        Kind.TIMESTAMP,
        Kind.TIMESTAMP_NTZ,
        Kind.INTERVAL,
    ):
        found = columns.type_text(key)
        short = " of at most 18 digits" if found.startswith("decimal") else ""
        raise BindingError(
            f"WITHIN measures {named}, which must be a time or a number{short}, not {found}.",
            cure="Order by a time or a number, cast to one if need be." if rows else "Name another column: time=...",
            span=key.span or within.span,
        )
    timed = type_.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
    timed = timed or type_.kind is Kind.INTERVAL
    if timed != columns.type_text(within).startswith("interval"):
        raise BindingError(
            f"WITHIN {within} does not fit {named} of type {columns.type_text(key)}.",
            cure=f"Write WITHIN {written} for times, a number for numbers.",
            span=within.span,
        )
    if type_.kind is Kind.DATE:
        # A date has no hours: as a timestamp without zone it can be compared with any deadline.
        key = e.Raw(("CAST(", key, " AS TIMESTAMP_NTZ)"))
    width = fixed_width(within, type_, columns, constant)
    if width is not None:
        return WithinSpec(columns.ship(key), "", descending, width)
    sign = "-" if descending else "+"
    if type_.kind in (Kind.INTEGER, Kind.DECIMAL):
        # Keys have a fixed number of digits, and so has the last key allowed; decimals do not overflow on the way.
        scale, digits = type_.scale, 19 if type_.kind is Kind.INTEGER else 18
        fraction = f".{'9' * scale}" if scale else ""
        most = f"{10 ** (digits - scale) - 1}{fraction}BD" if type_.kind is Kind.DECIMAL else f"{2**63 - 1}BD"
        least = f"-{most}" if type_.kind is Kind.DECIMAL else f"-{2**63}BD"
        # With these digits the sum has 38 at most, and Spark rounds nothing.
        width_type = columns.type_text(within)
        digits_of_width = "30, 12" if width_type in ("double", "float") else "19, 0" if "int" in width_type else ""
        # Of a decimal width, digits finer than the key's decide nothing.
        cut = e.Raw(("floor(", within, f", {scale})"))
        wider = e.Raw(("CAST(", within, f" AS DECIMAL({digits_of_width}))")) if digits_of_width else cut
        held = 20 if type_.kind is Kind.INTEGER else 18
        wide = e.Operator(sign, (e.Raw(("CAST(", key, f" AS DECIMAL({held}, {scale}))")), wider))
        whole = e.Raw(("ceil(" if descending else "floor(", wide, f", {scale})"))
        bounded = e.Raw(("least(greatest(", whole, f", {least}), {most})"))
        target = "BIGINT" if type_.kind is Kind.INTEGER else f"DECIMAL(18, {scale})"
        deadline: e.Expression = e.Raw(("CAST(", bounded, f" AS {target})"))
    elif type_.kind is Kind.FLOAT:
        key = e.Raw(("CAST(", key, " AS DOUBLE)"))
        deadline = e.Raw(("CAST(", e.Operator(sign, (key, within)), " AS DOUBLE)"))
    else:
        deadline = e.Operator(sign, (key, within))
    return WithinSpec(columns.ship(key), columns.ship(deadline), descending)
