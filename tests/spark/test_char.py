"""Texts of a fixed length (CHAR): two rows are compared as Spark compares the columns of two tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import trellis as tr

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONDITIONS = [
    "A.code = B.short",
    "A.short = B.code",
    "A.code <> B.short",
    "A.code < B.short",
    "A.short <= B.code",
    "A.code = B.code",
    "A.code = B.s",
    "A.code <=> B.short",
    "A.code = 'ab'",
    "A.code IN ('ab', 'x') AND B.ts > 1",
    "A.short = 'abcd' OR B.ts = 3",
    "A.s = 'ab' AND B.short = A.code",
]


@pytest.fixture(scope="module")
def codes(spark: SparkSession) -> Iterator[DataFrame]:
    spark.sql("CREATE TABLE trellis_codes (ts INT, code CHAR(5), short CHAR(3), s STRING) USING parquet")
    rows = ["(1, 'ab', 'ab', 'ab')", "(2, 'ab', 'ab', 'ab   ')", "(3, 'cd', 'cd', 'cd')", "(4, 'a', 'cd', 'ab')"]
    spark.sql(f"INSERT INTO trellis_codes VALUES {', '.join(rows)}, (5, NULL, 'a', NULL), (6, 'abcd', NULL, 'x')")
    yield spark.table("trellis_codes")
    spark.sql("DROP TABLE trellis_codes")


@pytest.mark.parametrize("options", [{}, {"off": "hoist_slots"}], ids=["", "without slots of functions"])
def test_rows_are_compared_as_tables_are(spark: SparkSession, codes: DataFrame, options: dict[str, str]) -> None:
    measures = ", ".join(f"{one} AS m{number}" for number, one in enumerate(CONDITIONS))
    joined = f"SELECT A.ts, {measures} FROM trellis_codes A JOIN trellis_codes B ON B.ts = A.ts + 1"
    expected = {row.ts: tuple(row)[1:] for row in spark.sql(joined).collect()}
    clause = f"ORDER BY ts MEASURES A.ts AS ts, {measures} AFTER MATCH SKIP TO NEXT ROW PATTERN (A B)"
    found = tr.sql(f"SELECT * FROM {{c}} MATCH_RECOGNIZE ({clause})", c=codes, hints=options).collect()
    assert {row.ts: tuple(row)[1:] for row in found} == expected
    for number, condition in list(enumerate(CONDITIONS))[:: 1 if not options else 4][:4]:
        pairs = tr.pattern("A B").define(B=condition).measures(ts="A.ts").after_match("next row")
        starts = sorted(row.ts for row in pairs.match(codes, order_by="ts", hints=options).collect())
        assert starts == [ts for ts, values in sorted(expected.items()) if values[number]], condition


def test_types_of_events(codes: DataFrame) -> None:
    events = codes.selectExpr("code AS type", "ts AS time", "short", "s")
    text = "PATTERN SEQ(ab a, cd b) WHERE skip_till_any_match { b.time = 3 } WITHIN 5"
    assert sorted(row.start_time for row in tr.sase(text, events=events).collect()) == [1, 2]
    found = tr.match_all(["PATTERN SEQ(ab a, cd b) WHERE { b.time = 3 } WITHIN 5"], events)
    assert sorted((row.start, row.end) for row in found.collect()) == [(1, 3), (2, 3)]


def test_sequences(spark: SparkSession, codes: DataFrame) -> None:
    text = "SELECT X.ts FROM trellis_codes SEQUENCE BY ts AS (X, Y) WHERE Y.code = X.short"
    assert [row.ts for row in tr.sqlts(text, spark=spark).collect()] == [1]
