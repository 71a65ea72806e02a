"""Conditions of rows in the words of `implication`: what is known of constants, and what is not."""

from __future__ import annotations

import pytest

from trellis.algebra.expression import Column, Expression, Literal, Operator
from trellis.analysis.implication import Condition, excludes, implies
from trellis.analysis.row_tests import RowTests
from trellis.analysis.types import Type, type_from_spark

TYPES = {"s": "string", "y": "double", "n": "int"}


def type_of(expression: Expression) -> Type | None:
    return type_from_spark(TYPES[expression.path[0]]) if isinstance(expression, Column) else None


def condition(column: str, symbol: str, constant: str) -> Condition:
    found = RowTests(type_of).of(Operator(symbol, (Column((column,)), Literal(constant))))
    assert found is not None
    return found


def test_texts_are_in_order() -> None:
    assert excludes(condition("s", "=", "'a'"), condition("s", "=", "'a b'"))
    assert implies(condition("s", "<", "''"), condition("s", "<", "'a'"))


@pytest.mark.parametrize("text", ["'ab '", "' '", "'ab\t'"])
def test_texts_that_fill_up_differently_are_not(text: str) -> None:
    """A column of type CHAR(4) may be equal to 'ab' and 'ab ': Spark compares both with four characters."""
    for symbol in ("=", ">", "<"):
        for other in ("=", ">", "<"):
            assert not excludes(condition("s", symbol, "'ab'"), condition("s", other, text))
            assert not implies(condition("s", symbol, "'ab'"), condition("s", other, text))


@pytest.mark.parametrize("column", ["y", "n"])
@pytest.mark.parametrize("number", ["1" + "0" * 400, "0." + "0" * 400 + "1"])
def test_numbers_that_spark_cannot_read_are_left_to_it(column: str, number: str) -> None:
    assert not implies(condition(column, ">", number), condition(column, ">", "1"))
