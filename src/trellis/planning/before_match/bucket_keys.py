"""Order keys as whole numbers: what buckets and slices are cut from."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import ROUND_CEILING, Decimal

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.literals import interval_micros, read_number
from trellis.algebra.prefilter import Buckets, Scale
from trellis.analysis.source import Constant
from trellis.analysis.types import Kind, Type
from trellis.planning.expressions.columns import Columns

__all__ = ["bucket_key", "fixed_width", "time_buckets", "width_of"]

_DAY = 86_400_000_000
# Adding days to a time with a zone keeps the clock's hour: the time that passes differs by less than this.
_CLOCK_CHANGES = 26 * 3_600_000_000
# Buckets beyond this could leave int64 on the way to their neighbours.
_WIDEST = 1 << 62


def bucket_key(key: Expression, columns: Columns) -> tuple[Expression, Scale] | None:
    """The order key as Spark can cut it, None if it is no time and no exact number."""
    type_ = columns.type_of(key)
    match type_:
        case Type(kind=Kind.INTEGER):
            return e.Raw(("CAST(", key, " AS BIGINT)")), Scale.NUMBER
        case Type(kind=Kind.DECIMAL, scale=scale):
            return e.Raw(("CAST(", key, f" * 1{'0' * scale} AS BIGINT)")), Scale.NUMBER
        case Type(kind=Kind.DATE):
            return e.Raw(("CAST(", key, " AS TIMESTAMP_NTZ)")), Scale.TIMESTAMP_NTZ
        case Type(kind=Kind.TIMESTAMP):
            return key, Scale.TIMESTAMP
        case Type(kind=Kind.TIMESTAMP_NTZ):
            return key, Scale.TIMESTAMP_NTZ
        case _:
            return None


def width_of(width: Expression, type_: Type, columns: Columns, constant: Constant) -> int | None:
    """A width in the units of `bucket_key`, rounded up; None if it has no fixed length (months)."""
    text = columns.type_text(width)
    if "month" in text or "year" in text or text == "interval":
        return None
    match _written(width) if isinstance(width, e.Literal) else constant(width):
        case timedelta() as length:
            return length // timedelta(microseconds=1)
        case bool() | None:
            return None
        case int() | float() | Decimal() as number:
            if isinstance(number, float) and not math.isfinite(number):
                return None
            scaled = Decimal(number).scaleb(type_.scale if type_.kind is Kind.DECIMAL else 0)
            return int(scaled.to_integral_value(ROUND_CEILING))
        case _:
            return None


def fixed_width(within: Expression, type_: Type, columns: Columns, constant: Constant) -> int | None:
    """The width of a window as a distance between keys in the units that kernels hold; None if there is none.

    Numbers are floored, as keys are whole; a day of a clock with a time zone has no fixed length.
    """
    width = width_of(within, type_, columns, constant)
    if width is None or not 0 < width <= _WIDEST:
        return None
    match type_.kind:
        case Kind.TIMESTAMP_NTZ | Kind.DATE:
            return width
        case Kind.TIMESTAMP if width < _DAY:
            return width
        case Kind.INTEGER if columns.type_text(within) in ("tinyint", "smallint", "int", "bigint"):
            return width
        case _:
            return None


def _written(literal: e.Literal) -> object:
    """The value of a literal that is an interval or a number."""
    micros = interval_micros(literal.text)
    return read_number(literal.text) if micros is None else timedelta(microseconds=micros)


def time_buckets(bound: BoundQuery, columns: Columns, constant: Constant) -> Buckets | None:
    """Buckets of one window of the query; None if it has no window that can be cut."""
    within = bound.query.within
    if within is None:
        return None
    key = bound.order_by[0][1]
    cut = bucket_key(key, columns)
    type_ = columns.type_of(key)
    if cut is None or type_ is None:
        return None
    width = width_of(within, type_, columns, constant)
    if width is None:
        return None
    if type_.kind is Kind.TIMESTAMP and width >= _DAY:
        width += _CLOCK_CHANGES
    if width > _WIDEST:
        return None
    # Keys that are divided by two at least stay far from the ends of int64.
    return Buckets(cut[0], cut[1], max(2, width), bound.query.order_by[0].descending)
