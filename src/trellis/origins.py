"""Where the rows of a result come from, so that they can be drawn without being told: the query, and its input."""

from __future__ import annotations

import re
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame
from pyspark.sql.types import DateType, NumericType, StringType, StructType, TimestampNTZType, TimestampType

from trellis.algebra import expression as e
from trellis.algebra.query import Query, RowsPerMatch

__all__ = ["Origin", "origin_of", "remember", "remember_as"]

_known: WeakKeyDictionary[DataFrame, tuple[Query, DataFrame]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Origin:
    """The rows that a query ran on, and what to draw of them; `places` are measures of `x` in the result."""

    series: DataFrame
    x: str
    y: str
    by: tuple[str, ...]
    places: tuple[str, ...]


def remember(result: DataFrame, query: Query, series: DataFrame) -> DataFrame:
    """The same result, for as long as it lives known to be that of a query on these rows."""
    if query.events is None and query.rows_per_match is RowsPerMatch.ONE:
        _known[result] = (query, series)
    return result


def remember_as(result: DataFrame, matches: DataFrame) -> DataFrame:
    """The same result, which shows what these matches are."""
    if matches in _known:
        _known[result] = _known[matches]
    return result


def origin_of(result: DataFrame) -> Origin | None:
    """Where a result comes from; None if that is not known, or its matches have no place on an axis."""
    if result not in _known:
        return None
    query, series = _known[result]
    schema, there = series.schema, {name.lower(): name for name in result.columns}
    x = _column(query.order_by[0].expression, schema) if query.order_by else None
    keys = [_column(key, schema) for key in query.partition_by]
    by = [there.get(key.lower(), "") for key in keys if key is not None]
    if x is None or not _has_axis(x, schema) or "" in by or len(by) < len(keys) or set(by) - set(schema.names):
        return None
    places = [one.name for one in query.measures if one.name.lower() in there and _is_place(one.expression, x)]
    y = _drawn(query, schema, {x, *by})
    if y is None or not places:
        return None
    return Origin(series, x, y, tuple(by), tuple(there[name.lower()] for name in places))


def _column(expression: e.Expression, schema: StructType) -> str | None:
    """The column that an expression is, as the schema writes it."""
    if not isinstance(expression, e.Name):
        return None
    wanted = expression.parts[-1].text.lower()
    return next((name for name in schema.names if name.lower() == wanted), None)


def _has_axis(column: str, schema: StructType) -> bool:
    return isinstance(schema[column].dataType, NumericType | DateType | TimestampType | TimestampNTZType)


def _is_place(expression: e.Expression, x: str) -> bool:
    """Whether a measure is the `x` of a row of the match."""
    if isinstance(expression, e.Navigation) and expression.function in ("FIRST", "LAST"):
        expression = expression.argument
    return isinstance(expression, e.Name) and expression.parts[-1].text.lower() == x.lower()


def _drawn(query: Query, schema: StructType, others: set[str]) -> str | None:
    """The column of numbers or words that conditions speak of most; of numbers first."""
    text = "\n".join(str(one.condition) for one in query.definitions)
    found = [
        (len(re.findall(rf"(?<!\w){re.escape(field.name)}(?!\w)", text, re.IGNORECASE)), field)
        for field in schema
        if field.name not in others and isinstance(field.dataType, NumericType | StringType)
    ]
    ranked = [(count, isinstance(field.dataType, NumericType), field.name) for count, field in found]
    best = max(ranked, key=lambda one: one[:2], default=None)
    return best[2] if best is not None and (best[0] or best[1]) else None
