"""Short ways to write SQL-TS queries for the oracle, and to show what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from naive_sqlts import (
    Expr,
    Match,
    Query,
    Row,
    SortKey,
    matches,
    op,
    pattern,
    term,
)

DATE = (SortKey("date"),)
RISES = op("X.price", ">", "X.previous.price")


def series(prices: Sequence[Any], name: str = "IBM") -> list[Row]:
    """Quotes of one stock on the dates 0, 1, 2 and so on: the index of a row is its date."""
    return [{"name": name, "date": date, "price": price} for date, price in enumerate(prices)]


def query(elements: str, *conditions: Expr, **options: Any) -> Query:
    """A query on quotes, unless `options` say otherwise."""
    options.setdefault("cluster_by", ("name",))
    options.setdefault("sequence_by", DATE)
    return Query(pattern(elements), conditions, **options)


def select(*words: Any) -> tuple[Expr, ...]:
    """The columns of SELECT."""
    return tuple(map(term, words))


def shown(found: list[Match]) -> list[str]:
    """Matches as "X=0,1 Y=2"."""
    return [" ".join(f"{name}={','.join(map(str, rows))}" for name, rows in match.elements) for match in found]


def on(asked: Query, prices: Sequence[Any]) -> list[str]:
    """The matches in the prices of one stock."""
    return shown(matches(asked, series(prices)))


def everywhere(asked: Query) -> Query:
    """The query with SELECT ALL."""
    return replace(asked, overlapping=True)


def either(left: Expr, right: Expr) -> Expr:
    """OR of two conditions."""
    return ("op", "OR", (left, right))


def times(factor: float, name: str) -> Expr:
    """A factor times a value."""
    return op(factor, "*", name)
