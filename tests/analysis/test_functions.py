"""Which calls are aggregates is asked, not known. A stand-in answers for Spark."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trellis.algebra.expression import Aggregate, Expression, walk
from trellis.algebra.functions import FunctionKind
from trellis.algebra.query import Query
from trellis.analysis.functions import settle_functions
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.errors import BindingError, UnsupportedError
from trellis.languages.match_recognize import parse_clause_text

_KINDS = {
    "bit_or": FunctionKind.AGGREGATE,
    "pandas_mean": FunctionKind.AGGREGATE,
    "explode": FunctionKind.GENERATOR,
    "lead": FunctionKind.WINDOW,
    "odd": FunctionKind.REFUSED,
}


class _Spark:
    """Answers by the outermost function of each text, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.typed: list[str] = []

    def kinds_of(self, expressions: Sequence[Expression]) -> list[FunctionKind]:
        self.asked.append([str(expression) for expression in expressions])
        return [self._kind(str(expression)) for expression in expressions]

    def _kind(self, text: str) -> FunctionKind:
        if text.startswith("pandas_mean") and "FILTER" in text:
            return FunctionKind.REFUSED
        return _KINDS.get(text.split("(")[0], FunctionKind.SCALAR)

    def types_of(self, expressions: Sequence[Expression]) -> list[str]:
        self.typed += map(str, expressions)
        return ["bigint" for _ in expressions]


def _settled(measure: str, spark: _Spark, define: str = "A AS x > 0") -> Query:
    clause = f"ORDER BY id MEASURES {measure} AS m PATTERN (A B+) SUBSET U = (A, B) DEFINE {define}"
    schema = Schema((("id", "int"), ("x", "int")))
    source = Source(schema, spark.types_of, kinds_of=spark.kinds_of)
    return settle_functions(parse_clause_text(clause), source, ("zscore",))


def _aggregates(query: Query) -> dict[str, Aggregate]:
    return {node.function: node for node in walk(query.measures[0].expression) if isinstance(node, Aggregate)}


def test_known_functions_are_not_asked_about() -> None:
    spark = _Spark()
    _settled("round(sum(A.x) / count(*), 2) + abs(LAST(B.x)) + zscore(x, 3)", spark)
    assert spark.asked == []


def test_scalar_functions_cost_one_question() -> None:
    spark = _Spark()
    query = _settled("my_udf(A.x, PREV(B.id)) + other(sum(x), CLASSIFIER(), MATCH_NUMBER())", spark)
    assert spark.asked == [["my_udf(`x`, `id`)", "other(CAST(NULL AS bigint), '', 1L)"]]
    assert set(_aggregates(query)) == {"sum"}


def test_aggregates_are_found_wherever_they_stand() -> None:
    query = _settled("my_udf(1 + bit_or(U.x)) + CAST(bit_or(x) AS INT)", _Spark(), "A AS bit_or(A.x) > 1")
    assert set(_aggregates(query)) == {"bit_or"}
    assert isinstance(next(iter(walk(query.definitions[0].condition))).operands[0], Aggregate)  # type: ignore[union-attr]
    assert not _aggregates(query)["bit_or"].alone


def test_functions_in_python_stand_alone() -> None:
    assert _aggregates(_settled("pandas_mean(x)", _Spark()))["pandas_mean"].alone


@pytest.mark.parametrize(
    ("measure", "kind", "problem"),
    [
        ("explode(x)", UnsupportedError, "explode makes rows of its own"),
        ("1 + lead(x)", UnsupportedError, "lead is a window function"),
        ("lead(x) IGNORE NULLS", UnsupportedError, "lead is a window function"),
        ("RUNNING my_udf(x)", BindingError, "my_udf is not an aggregate"),
        ("odd(DISTINCT x)", BindingError, "odd is not an aggregate"),
        ("my_udf(y)", BindingError, "There is no column y"),
    ],
)
def test_what_cannot_stand_there(measure: str, kind: type[Exception], problem: str) -> None:
    with pytest.raises(kind, match=problem) as caught:
        _settled(measure, _Spark())
    assert caught.value.span is not None  # type: ignore[attr-defined]


def test_what_spark_refuses_is_asked_for_with_its_types() -> None:
    spark = _Spark()
    assert _aggregates(_settled("odd(x)", spark)) == {}
    assert spark.typed == ["odd(`x`)"]
