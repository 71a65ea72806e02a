"""Conditions of rows in the words of `implication`: what is known of constants, and what is not."""

from __future__ import annotations

import pytest
from pyspark.sql.types import CharType, StringType, StructField, StructType

from trellis.algebra.expression import Column, Expression, Literal, Operator
from trellis.analysis.implication import Condition, excludes, implies
from trellis.analysis.row_tests import RowTests
from trellis.analysis.types import Type, type_from_spark
from trellis.spark.source import is_padded

TYPES = {"s": "string", "c": "string", "y": "double", "n": "int"}


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


def test_nothing_is_known_of_texts_of_a_fixed_length() -> None:
    """A CHAR(4) that equals 'ab' and a STRING: the STRING has four characters, and does not equal 'ab'."""
    both = Operator("AND", (equal("c", "s"), Operator("=", (Column(("c",)), Literal("'ab'")))))
    for padded, known in ((frozenset[str](), True), (frozenset({"c"}), False)):
        tests = RowTests(type_of, padded=padded)
        one, other = tests.of(both), tests.of(Operator("=", (Column(("s",)), Literal("'ab'"))))
        assert one is not None and other is not None
        assert implies(one, other) is known


def equal(left: str, right: str) -> Operator:
    return Operator("=", (Column((left,)), Column((right,))))


def test_spark_says_which_texts_have_a_fixed_length() -> None:
    def text(kind: str) -> StructField:
        return StructField("c", StringType(), metadata={"__CHAR_VARCHAR_TYPE_STRING": kind})

    assert is_padded(text("char(4)"))
    assert is_padded(StructField("c", CharType(4)))
    assert is_padded(StructField("s", StructType([text("char(4)")])))
    assert not is_padded(text("varchar(4)"))
    assert not is_padded(StructField("c", StringType()))
