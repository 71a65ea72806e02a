"""Keys and order of a scan: what Spark groups and sorts by, and what it can hand to Python."""

from __future__ import annotations

import re

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.query import SortKey
from trellis.errors import BindingError, UnsupportedError
from trellis.planning.expressions.columns import Columns

__all__ = ["check_arrow", "check_order", "comparable_key", "pair_order", "sort_by", "tie_breaker"]


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
    words = bound.query.words
    for what, keys, grouped in ((words.keys, bound.partition_by, True), (words.order, bound.order_by, False)):
        for _, expression in keys:
            type_ = columns.type_text(expression)
            unfit = ("map", "variant", "interval month", "calendar")
            collated = grouped and type_.startswith("string collate")
            nested = grouped and type_.startswith(("array", "struct"))
            if type_ == "interval" or type_.startswith(unfit) or "map<" in type_ or nested or collated:
                raise BindingError(
                    f"{what} cannot use the type {type_}.",
                    cure="Use lower(x) COLLATE UTF8_BINARY." if collated else "Use a part of it, or cast it to STRING.",
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


def tie_breaker(bound: BoundQuery, columns: Columns) -> Expression | None:
    """A hash of what the query reads, by which rows of one series and equal order are sorted; None if there is no need.

    1. Rows that are equal in all columns which the query reads are interchangeable. So a sort by these columns is
       repeatable, however the rows came; but sorted by value, a price is more often followed by a greater one.
    2. Sorted by a hash they are in no order that means anything, and it is repeatable as well. Keys and order are part
       of it, so that two values that meet often do not always meet in the same order.
    3. It is a hash of columns of the input, whatever a plan computes of them: all plans of a query order ties alike.
    """
    names = _columns_read(bound)
    read = [e.Column((name,)) for name in bound.columns if name in names]
    columns.learn(read)
    hashed = tuple(column for column in read if not re.search("map<|variant", columns.type_text(column)))
    keys = {expression for _, expression in (*bound.partition_by, *bound.order_by)}
    if keys.issuperset(hashed):
        return None
    tie = e.Call("xxhash64", hashed)
    columns.types[tie] = "bigint"
    return tie


def _columns_read(bound: BoundQuery) -> set[str]:
    if bound.all_rows:
        return set(bound.columns)
    named = (*bound.partition_by, *bound.order_by, *bound.measures, *bound.conditions)
    pending = [expression for _, expression in named]
    pending += [window.column for _, window in bound.windows if window.column is not None]
    read: set[str] = set()
    while pending:
        for node in e.walk(pending.pop()):
            if isinstance(node, e.Column):
                read.add(node.path[0])
            elif isinstance(node, e.SegmentCall):
                pending.extend(node.arguments)
    return read


def pair_order(bound: BoundQuery, columns: Columns) -> tuple[tuple[Expression, bool, bool], ...]:
    """The order of rows that are numbered in Spark: as `sort_by` has it, within a series, of columns of the input."""
    asked = zip(bound.order_by, bound.query.order_by, strict=True)
    order = [(expression, key.descending, key.nulls_first) for (_, expression), key in asked]
    tie = tie_breaker(bound, columns)
    if isinstance(tie, e.Call):
        others = (column for column in tie.arguments if _can_be_ordered(columns.type_text(column)))
        order += [(expression, False, True) for expression in (tie, *others)]
    return tuple(order)


def sort_by(
    order_by: tuple[SortKey, ...] | None,
    keys: tuple[str, ...],
    order: list[str],
    columns: Columns,
    tie: Expression | None,
) -> tuple[tuple[str, bool, bool], ...]:
    """The sort: keys, the order asked for, the hash that breaks ties, then every other column that can be ordered.

    The last are for rows that differ and have one hash. Columns of the input come first, as in every plan.
    """
    sorted_by = [(name, False, True) for name in keys]
    if order_by is None:
        # The rows are numbered already.
        return (*sorted_by, *((name, False, True) for name in order))
    for name, key in zip(order, order_by, strict=True):
        sorted_by.append((name, key.descending, key.nulls_first))
    if tie is not None:
        sorted_by.append((columns.project(tie), False, True))
    used = {name for name, _, _ in sorted_by}
    others = sorted(columns.names.items(), key=lambda item: not isinstance(item[0], e.Column))
    for expression, name in others:
        if name not in used and _can_be_ordered(columns.type_text(expression)):
            sorted_by.append((name, False, True))
    return tuple(sorted_by)


def _can_be_ordered(type_: str) -> bool:
    return "map<" not in type_ and "variant" not in type_ and type_ != "interval"
