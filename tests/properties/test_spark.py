"""The whole way through Spark against the oracle: fewer cases, every layer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from pyspark.sql import SparkSession

import naive
import trellis
from naive import NaiveQuery
from properties.render import render_clause
from properties.strategies import SCHEMA, cases, unordered_measures
from properties.test_matcher import assert_same

Case = tuple[list[dict[str, Any]], list[str], NaiveQuery]


def _key(row: dict[str, Any], columns: tuple[str, ...]) -> tuple[tuple[bool, Any], ...]:
    return tuple((row[name] is not None, row[name]) for name in columns)


@pytest.mark.spark
@settings(
    max_examples=max(10, settings().max_examples // 8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=cases())
def test_spark_is_naive(spark: SparkSession, case: Case) -> None:
    rows, columns, query = case
    try:
        expected = naive.run(rows, columns, query, limit=20_000)
    except (naive.TooManyCandidates, naive.SkipError):
        assume(False)
    frame = spark.createDataFrame([tuple(row[name] for name in columns) for row in rows], SCHEMA)
    text = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({render_clause(query)})"
    actual = [row.asDict() for row in trellis.sql(text, rows=frame).collect()]
    # Spark gives the partitions in any order, and the rows of each in theirs.
    actual.sort(key=lambda row: _key(row, query.partition_by))
    assert_same(actual, expected, unordered_measures(query))
