"""Keys and order of a scan: what Spark groups and sorts by, and what it can hand to Python."""

from __future__ import annotations

import re

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.query import SortKey
from trellis.errors import BindingError, UnsupportedError
from trellis.planning.expressions.columns import Columns

__all__ = ["check_arrow", "check_order", "comparable_key", "sort_by"]


def comparable_key(expression: Expression, columns: Columns) -> Expression:
    """A partition key as Spark groups it: zeros of both signs are one value, and so are all NaNs."""
    type_ = columns.type_text(expression)
    if type_ not in ("float", "double"):
        return expression
    value = e.Raw(("CASE WHEN isnan(", expression, f") THEN CAST('NaN' AS {type_}) ELSE ", expression, " + 0 END"))
    key = e.Raw(("CAST(", value, f" AS {type_})"))
    columns.types[key] = type_
    return key


def check_order(bound: BoundQuery, columns: Columns) -> None:
    """Keys must be of types that Spark can group and sort."""
    for what, keys in (("PARTITION BY", bound.partition_by), ("ORDER BY", bound.order_by)):
        for _, expression in keys:
            type_ = columns.type_text(expression)
            unfit = ("map", "variant", "interval month", "calendar")
            collated = what == "PARTITION BY" and type_.startswith("string collate")
            nested = what == "PARTITION BY" and type_.startswith(("array", "struct"))
            if type_ == "interval" or type_.startswith(unfit) or "map<" in type_ or nested or collated:
                raise BindingError(
                    f"{what} cannot use the type {type_}.",
                    cure="Use lower(x) COLLATE UTF8_BINARY."
                    if collated
                    else "Name a field of it, or cast it to STRING.",
                    span=expression.span,
                )


def check_arrow(columns: Columns) -> None:
    """Spark must be able to hand every column to Python."""
    for expression, name in columns.names.items():
        type_ = columns.type_text(expression)
        if name in columns.shipped and re.search(r"interval (year|month)|^interval$", type_):
            raise UnsupportedError(
                f"Spark cannot hand the type {type_} of {expression} to Python.",
                cure="Cast it to STRING, or leave it out in a subquery.",
                span=expression.span,
            )


def sort_by(
    order_by: tuple[SortKey, ...] | None, keys: tuple[str, ...], order: list[str], columns: Columns
) -> tuple[tuple[str, bool, bool], ...]:
    """The sort: keys, the order asked for, then every other column that can be ordered.

    The last make ties come out the same in every run: rows that are equal in all columns which the matcher reads are
    interchangeable.
    """
    sorted_by = [(name, False, True) for name in keys]
    if order_by is None:
        # The rows are numbered already.
        return (*sorted_by, *((name, False, True) for name in order))
    for name, key in zip(order, order_by, strict=True):
        sorted_by.append((name, key.descending, key.nulls_first))
    used = {name for name, _, _ in sorted_by}
    for expression, name in columns.names.items():
        type_ = columns.type_text(expression)
        if name not in used and "map<" not in type_ and "variant" not in type_ and type_ != "interval":
            sorted_by.append((name, False, True))
    return tuple(sorted_by)
