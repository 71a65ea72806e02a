"""The picture that belongs to a query, without being asked for: what to draw it over, and what else to measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, DateType, NumericType, StringType, StructType, TimestampNTZType, TimestampType

from trellis.algebra import expression as e
from trellis.algebra.pattern import And, Concat, Pattern, Repeat, Var
from trellis.algebra.query import Measure, Query, RowsPerMatch
from trellis.errors import TrellisError
from trellis.languages.expressions import parse_expression_text
from trellis.plots import plot

__all__ = ["Sketch", "sketch_of"]

MOST_MATCHES = 20_000
FIRST, LAST, NUMBER, VARIABLE = "first row", "last row", "match number", "variable"
_MOST_PARTS = 3


@dataclass(frozen=True, slots=True)
class Sketch:
    """How the matches of rows or segments are drawn.

    `query` is the query with the measures that the picture needs; they are columns `hidden` of its result. `others` are
    columns that could be drawn instead of `y`.
    """

    query: Query
    x: str
    y: str
    by: tuple[str, ...]
    hidden: tuple[str, ...]
    parts: dict[str, tuple[str, str]]
    others: tuple[str, ...]
    zoom: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """What the picture reads of the rows."""
        return (*self.by, self.x, self.y)

    def draw(self, matches: DataFrame, series: Any) -> dict[str, Any]:
        """The picture as a Vega-Lite specification; `series` is a DataFrame of Spark or pandas."""
        one = self.query.rows_per_match is RowsPerMatch.ONE
        found = matches.limit(MOST_MATCHES).toPandas() if one else matches
        how: dict[str, Any] = {"start": FIRST, "end": LAST, "inner": self.parts or None}
        if not one:
            how = {"match": NUMBER, "label": VARIABLE if VARIABLE in self.hidden else None}
        elif self.parts:
            hidden = [name for pair in self.parts.values() for name in pair]
            how["outer"] = "match"
            assert set(hidden) <= set(found.columns)
        return plot(found, series, x=self.x, y=self.y, by=list(self.by), zoom=self.zoom, **how).spec


def sketch_of(query: Query, schema: StructType, y: str, zoom: bool = False) -> Sketch | str:
    """How to draw the matches of a query on rows of a schema; or why they are not drawn."""
    names = {field.name.lower(): field for field in schema}
    keys = [_column(key, names) for key in query.partition_by]
    if not query.order_by:
        return "There is no ORDER BY, so there is nothing to draw the rows over."
    x = _column(query.order_by[0].expression, names)
    if x is None or not _has_axis(names[x.lower()].dataType):
        return f"The rows are in the order of {query.order_by[0].expression}, which is no column of times or numbers."
    if None in keys:
        return "Rows are partitioned by an expression. Partition by columns to see a picture."
    by = [key for key in keys if key is not None]
    columns = [
        field.name
        for field in schema
        if isinstance(field.dataType, NumericType | StringType) and field.name not in by and field.name != x
    ]
    if not columns:
        return "There is no other column of numbers or words to draw."
    # What conditions speak of most; then numbers before words.
    drawn = y if y in columns else max(columns, key=lambda name: (_mentions(query, name), _is_number(names, name)))
    hidden, parts = _measures(query, x)
    return Sketch(
        replace(query, measures=(*query.measures, *hidden)),
        x,
        drawn,
        tuple(by),
        tuple(measure.name for measure in hidden),
        parts,
        tuple(columns),
        zoom,
    )


def _column(expression: e.Expression, names: dict[str, Any]) -> str | None:
    """The column that a key is, as the schema writes it."""
    if not isinstance(expression, e.Name):
        return None
    field = names.get(expression.parts[-1].text.lower())
    return None if field is None else str(field.name)


def _is_number(names: dict[str, Any], name: str) -> bool:
    return isinstance(names[name.lower()].dataType, NumericType)


def _has_axis(kind: DataType) -> bool:
    return isinstance(kind, NumericType | DateType | TimestampType | TimestampNTZType)


def _mentions(query: Query, name: str) -> int:
    text = "\n".join(str(one.condition) for one in query.definitions)
    return len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE))


def _measures(query: Query, x: str) -> tuple[list[Measure], dict[str, tuple[str, str]]]:
    """What the picture needs to know of each match, and the columns of the parts that get colours of their own."""
    column = "`" + x.replace("`", "``") + "`"

    def measure(name: str, text: str) -> Measure:
        return Measure(name, parse_expression_text(text))

    if query.rows_per_match is not RowsPerMatch.ONE:
        # Segments have no CLASSIFIER of rows.
        classifier = [] if query.segments else [measure(VARIABLE, "CLASSIFIER()")]
        return [measure(NUMBER, "MATCH_NUMBER()"), *classifier], {}
    found = [measure(FIRST, f"FIRST({column})"), measure(LAST, f"LAST({column})")]
    parts: dict[str, tuple[str, str]] = {}
    for variable in _parts(query):
        pair = (f"{variable}: first", f"{variable}: last")
        name = str(Var(variable))
        found += [measure(pair[0], f"FIRST({name}.{column})"), measure(pair[1], f"LAST({name}.{column})")]
        parts[variable] = pair
    return found, parts


def _parts(query: Query) -> Sequence[str]:
    """Variables with a condition that stand in a match once, one after the other: each is a stretch of its own."""
    conditions = {one.variable: str(one.condition).upper() for one in query.definitions}
    names = [name for name in _in_sequence(query.pattern) if conditions.get(name, "TRUE") != "TRUE"]
    return names if len(names) <= _MOST_PARTS and len(set(names)) == len(names) else ()


def _in_sequence(pattern: Pattern) -> list[str]:
    match pattern:
        case Concat():
            names = [_alone(part) for part in pattern.parts]
            return [name for name in names if name] if all(name is not None for name in names) else []
        case And():
            return [name for part in pattern.parts for name in _in_sequence(part)]
        case _:
            return []


def _alone(part: Pattern) -> str | None:
    """The variable of a part that is a variable, perhaps repeated; nothing for what takes no row; else None."""
    match part:
        case Var(name):
            return name
        case Repeat(Var(name)):
            return name
        case _:
            return None


def reason(error: TrellisError) -> str:
    """Why there is no picture, in the words of an error."""
    return " ".join(part for part in (error.problem, error.cure) if part)
