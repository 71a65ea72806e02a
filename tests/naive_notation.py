"""A short notation for the queries of the oracle, and what its tests read of the results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from naive import Budget, Expr, NaiveQuery, Pattern, Row, Search, paths, run

EMPTY: Pattern = ("empty",)
A, B, C, Y = (("var", name) for name in "ABCY")  # their condition is that the row holds that letter
U, V, W = (("var", name) for name in "UVW")  # without a condition
ID: Expr = ("col", None, "id")
X: Expr = ("col", None, "x")
N: Expr = ("col", None, "n")


def cat(*parts: Pattern) -> Pattern:
    return ("cat", parts)


def alt(*parts: Pattern) -> Pattern:
    return ("alt", parts)


def perm(*parts: Pattern) -> Pattern:
    return ("perm", parts)


def rep(body: Pattern, lo: int, hi: int | None = None, greedy: bool = True) -> Pattern:
    return ("rep", body, lo, hi, greedy)


def star(body: Pattern) -> Pattern:
    return rep(body, 0)


def plus(body: Pattern) -> Pattern:
    return rep(body, 1)


def opt(body: Pattern) -> Pattern:
    return rep(body, 0, 1)


def lit(value: object) -> Expr:
    return ("lit", value)


def col(var: str, name: str) -> Expr:
    return ("col", var, name)


def op(symbol: str, *args: Expr) -> Expr:
    return ("op", symbol, args)


def nav(kind: str, expr: Expr, offset: int | None = None, mode: str | None = None) -> Expr:
    return ("nav", kind, expr, offset, mode)


def agg(fn: str, *args: Expr, star: str | None = None, distinct: bool = False, mode: str | None = None) -> Expr:
    return ("agg", fn, args, star, distinct, mode)


LETTERS = tuple((name, op("=", X, lit(name))) for name in "ABCY")
LABELS = (("labels", agg("array_agg", ("classifier", None), mode="FINAL")),)
IDS = (("ids", agg("array_agg", ID, mode="FINAL")),)


def letter_rows(text: str) -> list[Row]:
    return [{"id": i, "x": letter} for i, letter in enumerate(text)]


def number_rows(*numbers: float | None) -> list[Row]:
    return [{"id": i, "n": number} for i, number in enumerate(numbers)]


def by_id(pattern: Pattern, **more: Any) -> NaiveQuery:
    return NaiveQuery(pattern, order_by=(("id", False, True),), **more)


def matches(text: str, pattern: Pattern, **more: Any) -> list[str]:
    """The labels of each match in a string of letters; an empty match is an empty string."""
    output = run(letter_rows(text), ["id", "x"], by_id(pattern, define=LETTERS, measures=LABELS, **more))
    return ["".join(row["labels"]) for row in output]


def candidates(rows: int, pattern: Pattern) -> list[str]:
    """All candidates of a pattern of unconditional variables over so many rows, most preferred first."""
    search = Search(NaiveQuery(pattern), letter_rows("-" * rows), 0, 1, Budget(None))
    return ["".join(label for label, _ in path) for path in paths(pattern, (), search)]


def measured(rows: list[Row], query: NaiveQuery, *measures: Expr) -> list[tuple[Any, ...]]:
    """The measures of each output row."""
    names = [f"m{i}" for i in range(len(measures))]
    output = run(rows, list(rows[0]), replace(query, measures=tuple(zip(names, measures, strict=True))))
    return [tuple(row[name] for name in names) for row in output]
