"""Labels, numbers of matches and wide decimals in expressions, through Spark."""

from __future__ import annotations

import random
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest
from pyspark.sql import SparkSession

import naive_decimals as naive
import trellis
from naive_decimals import Type
from trellis.errors import BindingError

pytestmark = pytest.mark.spark

_ROWS = [(number, number % 3, "ab"[number % 2]) for number in range(6)]


def run(spark: SparkSession, clause: str) -> list[tuple[Any, ...]]:
    frame = spark.createDataFrame(_ROWS, "id int, x int, s string")
    text = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE (ORDER BY id {clause})"
    return sorted(tuple(row) for row in trellis.sql(text, rows=frame).collect())


@pytest.mark.connect(thorough=True)
def test_functions_of_labels_and_numbers_in_conditions(spark: SparkSession) -> None:
    """Spark's functions, computed while the query is planned, for each label and row, and for pairs."""
    conditions = [
        "PREV(CLASSIFIER()) LIKE '%A' AND upper(CLASSIFIER(U)) RLIKE '^[AB]$'",
        "lpad(CLASSIFIER(A), 3, s) = 'bbA'",
        "FIRST(concat_ws('-', s, CLASSIFIER(), x)) = 'a-A-0' AND hash(MATCH_NUMBER()) IS NOT NULL",
        "sum(x + MATCH_NUMBER()) < 5 AND count(DISTINCT CLASSIFIER()) = 2",
        "format_string('%s%d', A.s, MATCH_NUMBER()) = 'a1'",
    ]
    found = []
    for condition in conditions:
        clause = f"MEASURES array_agg(id) AS ids PATTERN (A B+) SUBSET U = (A, B) DEFINE B AS {condition}"
        found.append([ids for (ids,) in run(spark, clause)])
    assert found == [
        [[0, 1], [2, 3], [4, 5]],
        [[0, 1], [2, 3], [4, 5]],
        [[0, 1, 2, 3, 4, 5]],
        [[0, 1]],
        [[0, 1, 2, 3, 4, 5]],
    ]


def test_a_user_function_of_a_label(spark: SparkSession) -> None:
    """It sees each label once, and fails for NULL: nobody asks for that here."""
    spark.udf.register("second_letter", lambda label: label[1], "string")
    clause = """MEASURES count(*) AS n PATTERN (X1 X2+) DEFINE X2 AS second_letter(PREV(CLASSIFIER())) IN ('1', '2')"""
    assert run(spark, clause) == [(6,)]


def test_aggregates_of_labels_and_numbers_in_measures(spark: SparkSession) -> None:
    measures = [
        "sum(CASE WHEN CLASSIFIER() = 'A' THEN x END)",
        "max(x + MATCH_NUMBER())",
        "count_if(x < MATCH_NUMBER())",
        "max_by(s, x * MATCH_NUMBER())",
        "listagg(s || CLASSIFIER() || MATCH_NUMBER(), ',')",
        "stddev_pop(x * MATCH_NUMBER())",
        "avg(MATCH_NUMBER())",
        "any_value(x + MATCH_NUMBER())",
        "sum(x) FILTER (WHERE x < MATCH_NUMBER())",
        "FIRST(s || CLASSIFIER() || MATCH_NUMBER(), 1)",
    ]
    named = ", ".join(f"{measure} AS m{number}" for number, measure in enumerate(measures))
    assert run(spark, f"MEASURES {named} PATTERN (A B)") == [
        (0, 2, 1, "b", "aA1,bB1", 0.5, 1.0, 1, 0, "bB1"),
        (1, 5, 2, "b", "aA3,bB3", 1.5, 3.0, 4, 3, "bB3"),
        (2, 4, 1, "a", "aA2,bB2", 2.0, 2.0, 4, 0, "bB2"),
    ]


def test_labels_of_other_rows_in_one_navigation(spark: SparkSession) -> None:
    with pytest.raises(BindingError) as caught:
        run(spark, "MEASURES FIRST(A.s || CLASSIFIER()) AS m PATTERN (A B)")
    assert caught.value.cure == "Write CLASSIFIER(A)."


_TYPES = [(38, 0), (38, 18), (38, 38), (20, 2), (18, 2), (10, 5), (5, 0), (38, 10), (25, 20), (30, 6)]
_FUNCTIONS = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide"}


def test_the_definition_of_decimals_is_that_of_spark(spark: SparkSession) -> None:
    """All pairs of some types, random values, one job: types, rounding, overflow, comparison."""
    source = random.Random(11)
    pairs = [(left, right) for left in _TYPES for right in _TYPES]
    trials = [[(_random(source, left), _random(source, right)) for left, right in pairs] for _ in range(12)]
    names = [f"{side}{number} string" for number in range(len(pairs)) for side in "ab"]
    texts = [[_text(value) for pair in trial for value in pair] for trial in trials]
    columns, checks = [], []
    for number, (left, right) in enumerate(pairs):
        a, b = (
            f"CAST({name}{number} AS DECIMAL({digits}, {scale}))"
            for name, (digits, scale) in (("a", left), ("b", right))
        )
        for symbol, function in _FUNCTIONS.items():
            columns.append(f"{function}({a}, {b})")
            checks.append((number, symbol))
        # Spark fails where the quotient of a remainder has more than 38 digits.
        small = f"abs(CAST({a} AS DOUBLE)) < abs(CAST({b} AS DOUBLE)) * 1e30D AND {b} <> 0"
        columns.append(f"CASE WHEN {small} THEN {a} % {b} END")
        checks.append((number, "%"))
        columns += [f"{a} < {b}", f"{a} = {b}"]
        checks += [(number, "<"), (number, "=")]
    frame = spark.createDataFrame(texts, ", ".join(names)).selectExpr(
        *(f"{column} AS c{number}" for number, column in enumerate(columns))
    )
    for (number, symbol), field in zip(checks, frame.schema, strict=True):
        if symbol in "+-*/%":
            digits, scale = naive.result_type(symbol, *pairs[number])
            assert field.dataType.simpleString() == f"decimal({digits},{scale})", (symbol, pairs[number])
    for trial, row in zip(trials, frame.collect(), strict=True):
        for (number, symbol), value in zip(checks, row, strict=True):
            left, right = zip(pairs[number], trial[number], strict=True)
            if symbol in "<=":
                assert value == naive.compare(symbol, left, right, ansi=False), (symbol, left, right)
            elif symbol != "%" or value is not None:
                expected = naive.operate(symbol, left, right, ansi=False)[1]
                assert (None if value is None else Fraction(value)) == expected, (symbol, left, right, value)


def _random(source: random.Random, type_: Type) -> Fraction:
    digits = source.choice([type_[0], source.randint(1, type_[0])])
    number = source.choice([source.randrange(10**digits), 10**digits - 1, 5 * 10 ** (digits - 1), 1, 0])
    return Fraction(source.choice([1, -1]) * number, 10 ** type_[1])


def _text(value: Fraction) -> str:
    return f"{Decimal(int(value * 10**38)).scaleb(-38, Context(prec=80)):f}"


def test_wide_decimals_between_rows(spark: SparkSession) -> None:
    values = ["10000000000000000000000000.000000000001", "10000000000000000000000000", "-1", None, "0.000000000001"]
    rows = [(number, None if value is None else Decimal(value)) for number, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "id int, v decimal(38,12)")
    conditions = [
        "A.v - B.v = E.v",
        "sum(v) = 19999999999999999999999999.000000000002",
        "A.v * C.v < 0 AND A.v / B.v = 1 AND A.v % B.v = E.v",
        "max(v) = A.v AND count(DISTINCT v) = 4 AND any_value(v) = A.v",
        "round(A.v * 2, 2) = round(B.v * 2, 2)",
        "A.v > 1e24D AND E.v = 1e-12D",
    ]
    alternatives = " AND ".join(f"({condition})" for condition in conditions)
    clause = f"MEASURES count(*) AS n PATTERN (A B C D E) DEFINE E AS {alternatives}"
    query = trellis.sql(f"SELECT * FROM {{rows}} MATCH_RECOGNIZE (ORDER BY id {clause})", rows=frame)
    assert [row.n for row in query.collect()] == [5]
