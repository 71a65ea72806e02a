"""Decimals between rows against their definition: random types, values and expressions, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import local
import naive_decimals as naive
from naive_decimals import DivisionByZero, Overflow, Type, Typed
from trellis.errors import DataError

# An expression: its text in the condition of the last variable, and its value for the rows of a match.
Value = Callable[[list[Fraction | None], bool], Typed]
Expression = tuple[str, Value]


@st.composite
def cases(draw: DrawFn) -> tuple[Type, list[Fraction | None], str, Callable[[list[Fraction | None], bool], Any]]:
    """A type, its values in two to four rows, and a comparison between them."""
    type_ = draw(types())
    rows = [draw(values(type_)) for _ in range(draw(st.integers(2, 4)))]
    depth = draw(st.sampled_from((0, 1, 1, 2)))
    left, right = (draw_value(draw, type_, len(rows), depth) for _ in range(2))
    symbol = draw(st.sampled_from(("=", "<>", "<", "<=", ">", ">=")))

    def holds(rows: list[Fraction | None], ansi: bool) -> Any:
        return naive.compare(symbol, left[1](rows, ansi), right[1](rows, ansi), ansi)

    return type_, rows, f"{left[0]} {symbol} {right[0]}", holds


@st.composite
def types(draw: DrawFn) -> Type:
    digits = draw(st.sampled_from((1, 5, 8, 10, 17, 18, 19, 20, 28, 37, 38, 38)))
    return digits, draw(st.sampled_from((0, 0, 2, 5, 18, digits))) % (digits + 1)


def values(type_: Type) -> st.SearchStrategy[Fraction | None]:
    most = 10 ** type_[0] - 1
    near = st.integers(-9, 9)
    whole = st.one_of(st.integers(-most, most), near, st.sampled_from((most, -most, most // 2 + 1, 0)))
    known = whole.map(lambda number: Fraction(max(-most, min(most, number)), 10 ** type_[1]))
    return st.one_of(known, known, known, known, st.none())


def draw_value(draw: DrawFn, type_: Type, rows: int, depth: int) -> Expression:
    if depth == 0:
        return draw_term(draw, type_, rows)
    choice = draw(st.sampled_from(("+", "-", "*", "/", "%", "+", "-", "least", "coalesce", "abs", "NEG", "case")))
    left = draw_value(draw, type_, rows, depth - 1)
    if not any(letter.isalpha() for letter in left[0]):
        # Functions of constants are Spark's, and the harness would compute them with floats.
        left = "A.v", lambda rows, ansi: (type_, rows[0])
    if choice in ("abs", "NEG"):
        text = f"abs({left[0]})" if choice == "abs" else f"(- {left[0]})"
        return text, lambda rows, ansi: _changed(left[1](rows, ansi), abs if choice == "abs" else lambda one: -one)
    right = draw_value(draw, type_, rows, depth - 1)
    if choice in ("least", "coalesce"):
        return f"{choice}({left[0]}, {right[0]})", lambda rows, ansi: _chosen(choice, left, right, rows, ansi)
    if choice == "case":
        text = f"CASE WHEN A.v > 0 THEN {left[0]} ELSE {right[0]} END"
        return text, lambda rows, ansi: _case(type_, left, right, rows, ansi)
    return f"({left[0]} {choice} {right[0]})", lambda rows, ansi: naive.operate(
        choice, left[1](rows, ansi), right[1](rows, ansi), ansi
    )


def draw_term(draw: DrawFn, type_: Type, rows: int) -> Expression:
    choice = draw(st.sampled_from(("row", "row", "row", "sum", "avg", "min", "max", "literal", "whole")))
    if choice == "row":
        at = draw(st.integers(0, rows - 1))
        return f"{'ABCD'[at]}.v", lambda rows, ansi: (type_, rows[at])
    if choice == "sum":
        return "sum(v)", lambda rows, ansi: naive.total(type_, rows, ansi)
    if choice == "avg":
        return "avg(v)", lambda rows, ansi: naive.mean(type_, rows, ansi)
    if choice in ("min", "max"):
        best = min if choice == "min" else max
        return f"{choice}(v)", lambda rows, ansi: (type_, best((v for v in rows if v is not None), default=None))
    if choice == "whole":
        return "count(*)", lambda rows, ansi: ((20, 0), Fraction(len(rows)))
    digits = draw(st.integers(1, 38))
    number, scale = draw(st.integers(10 ** (digits - 1), 10**digits - 1)), draw(st.integers(1, digits))
    text = f"{Decimal(number).scaleb(-scale, Context(prec=60)):f}"
    return text, lambda rows, ansi: ((digits, scale), Fraction(number, 10**scale))


def _changed(value: Typed, change: Callable[[Fraction], Fraction]) -> Typed:
    return value[0], None if value[1] is None else change(value[1])


def _chosen(how: str, left: Expression, right: Expression, rows: list[Fraction | None], ansi: bool) -> Typed:
    """LEAST and COALESCE, which compute the right side only where it counts; the types must agree before."""
    type_ = naive.common_type(_type(left, rows), _type(right, rows))
    one = naive.fit(left[1](rows, ansi)[1], type_, ansi)
    if how == "coalesce" and one is not None:
        return type_, one
    other = naive.fit(right[1](rows, ansi)[1], type_, ansi)
    known = [value for value in (one, other) if value is not None]
    return type_, min(known, default=None)


def _case(type_: Type, left: Expression, right: Expression, rows: list[Fraction | None], ansi: bool) -> Typed:
    """CASE, which computes the side that it takes."""
    positive = naive.compare(">", (type_, rows[0]), ((1, 0), Fraction(0)), ansi)
    common = naive.common_type(_type(left, rows), _type(right, rows))
    return common, naive.fit((left if positive else right)[1](rows, ansi)[1], common, ansi)


def _type(expression: Expression, rows: list[Fraction | None]) -> Type:
    return expression[1](rows, False)[0]


@settings(max_examples=settings().max_examples * 2, report_multiple_bugs=False)
@given(cases(), st.booleans())
def test_decimals_between_rows(case: Any, ansi: bool) -> None:
    type_, rows, condition, holds = case
    names = "ABCD"[: len(rows)]
    clause = f"ORDER BY id MEASURES count(*) AS n PATTERN (^ {' '.join(names)}) DEFINE {names[-1]} AS {condition}"
    schema = [("id", "int"), ("v", f"decimal({type_[0]},{type_[1]})")]
    table = [{"id": number, "v": None if row is None else as_decimal(row, type_)} for number, row in enumerate(rows)]
    # The harness would compute slots with Python's numbers.
    options = {"off": ["hoist_slots"], "lenient": not ansi}
    try:
        expected = holds(rows, ansi)
    except (Overflow, DivisionByZero):
        with pytest.raises(DataError):
            local.run(clause, table, schema, **options)
        return
    assert bool(local.run(clause, table, schema, **options)) == (expected is True), (clause, table)


def as_decimal(value: Fraction, type_: Type) -> Decimal:
    return Decimal(int(value * 10 ** type_[1])).scaleb(-type_[1], Context(prec=60))
