"""Rows that are equal in ORDER BY, on Spark: no drift, one order in every plan and every run, and they are counted."""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import trellis
from some import some
from trellis.errors import TrellisWarning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
connect = pytest.mark.connect
connect_thorough = pytest.mark.connect(thorough=True)

_COUNTED = "AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE B AS x {} PREV(x)"


@pytest.fixture(scope="module")
def tied(spark: SparkSession) -> DataFrame:
    """Three series; up to four rows have one time."""
    drawn = random.Random(3)
    rows = [("abc"[n % 3], n // 12, drawn.randrange(100), drawn.choice([None, "u", "v"])) for n in range(3_000)]
    return spark.createDataFrame(rows, "k string, t int, x int, s string")


def run(frame: DataFrame, clause: str, **hints: Any) -> list[tuple[Any, ...]]:
    text = f"SELECT * FROM {{f}} MATCH_RECOGNIZE ({clause})"
    return sorted((tuple(row) for row in trellis.sql(text, f=frame, hints=hints).collect()), key=repr)


@pytest.mark.parametrize("values", [100, 2])
@connect_thorough
def test_ties_do_not_drift(spark: SparkSession, values: int) -> None:
    """Nothing rises or falls in these rows. Sorted by value, most rows would be followed by a greater one."""
    drawn = random.Random(5)
    rows = [(n // 10, drawn.randrange(values)) for n in range(5_000)]
    frame = spark.createDataFrame(rows, "t int, x int")
    found = {sign: len(run(frame, f"ORDER BY t MEASURES A.x AS a {_COUNTED.format(sign)}")) for sign in "<>"}
    # With two values equal rows stand together: between 500 groups of ten there are fewer steps.
    assert 0.85 < found[">"] / found["<"] < 1 / 0.85
    assert sum(found.values()) > 500


_PLANS: list[dict[str, Any]] = [
    {},
    {"off": ["hoist_slots", "prefilter", "eliminate_rows", "slices"]},
    {"off": ["eliminate_rows"], "prefilter": "joins", "slices": 2},
    {"search": "backtrack", "chunk_rows": 7},
]
_CLAUSES = [
    "MEASURES A.x AS a, B.x AS b, B.t AS t PATTERN (A Z* B) WITHIN 3 DEFINE A AS x < 20, B AS x > A.x + 70",
    "MEASURES A.x AS a, B.x AS b PATTERN (A Z*? B) DEFINE A AS x < PREV(x) - 60, B AS upper(s) = 'U' AND x > A.x",
    "MEASURES A.x AS a, B.x AS b PATTERN (A B) DEFINE B AS upper(B.s) > upper(A.s) AND A.x < B.x",
    "MEASURES MATCH_NUMBER() AS n, FIRST(x) AS f ALL ROWS PER MATCH PATTERN (A B+) DEFINE B AS x > PREV(x)",
    # A function of two rows: Spark numbers the rows.
    "MEASURES A.t AS t, A.x AS a, B.x AS b PATTERN (A B) DEFINE B AS levenshtein(string(A.x), string(B.x)) = 1",
]


@pytest.mark.parametrize("clause", some(_CLAUSES))
def test_every_plan_has_the_same_order(tied: DataFrame, clause: str) -> None:
    """The order of ties as a further key, by its definition, gives the same rows as no further key."""
    found = run(tied, f"PARTITION BY k ORDER BY t {clause}")
    assert len(found) > 20
    for hints in _PLANS:
        assert run(tied.repartition(3), f"PARTITION BY k ORDER BY t {clause}", **hints) == found
    read = ["k", "t", "x", *(["s"] if "s)" in clause or "B.s" in clause or "ALL ROWS" in clause else [])]
    written = tied.selectExpr("*", f"xxhash64({', '.join(read)}) AS h")
    if "ALL ROWS" in clause:
        # The further key is a column of the result, too.
        found = [(*row[:2], 0, *row[2:]) for row in found]
        again = [(*row[:2], 0, *row[3:]) for row in run(written, f"PARTITION BY k ORDER BY t, h {clause}")]
        assert sorted(again, key=repr) == sorted(found, key=repr)
    else:
        assert run(written, f"PARTITION BY k ORDER BY t, h {clause}") == found


def test_segments_and_row_patterns_have_the_same_order(tied: DataFrame) -> None:
    clause = "PARTITION BY k ORDER BY t MEASURES A.x AS a, last(B.x) AS b PATTERN (A B{2}) DEFINE B AS x > PREV(x)"
    assert run(tied, clause, rewrite="always") == run(tied, clause)
    segment = "PATTERN (S) DEFINE SEGMENT S AS window(3, 3) AND last(x) - first(x) > 90"
    measures = "MEASURES first(t) AS a, first(x) AS b, last(x) AS c"
    found = run(tied, f"PARTITION BY k ORDER BY t {measures} {segment}")
    assert found
    written = tied.selectExpr("*", "xxhash64(k, t, x) AS h")
    assert run(written, f"PARTITION BY k ORDER BY t, h {measures} {segment}") == found


@connect_thorough
def test_columns_that_cannot_be_hashed_or_ordered(spark: SparkSession) -> None:
    frame = spark.range(12).selectExpr(
        "id DIV 4 AS t",
        "CAST(id * 7 % 12 AS INT) AS x",
        "map('a', id) AS m",
        "named_struct('m', map('a', id), 'y', id) AS s",
        "parse_json(concat('{\"a\": ', id, '}')) AS v",
        "make_interval(0, 0, 0, CAST(id AS INT)) AS i",
        "CAST(id AS INT) * INTERVAL '1' MONTH AS y",
    )
    clause = """ORDER BY t MEASURES count(*) AS n PATTERN (A+) DEFINE A AS
        m['a'] >= 0 AND s.y >= 0 AND variant_get(v, '$.a', 'int') >= 0 AND i IS NOT NULL AND y >= INTERVAL '0' MONTH"""
    assert run(frame, clause) == [(12,)]
    ordered = run(frame.select("t", "x", "m", "s"), "ORDER BY t MEASURES array_agg(x) AS xs PATTERN (A+)")
    assert run(
        frame.select("t", "x", "m", "s").repartition(5), "ORDER BY t MEASURES array_agg(x) AS xs PATTERN (A+)"
    ) == (ordered)
    clause = "ORDER BY t MEASURES array_agg(x) AS xs ALL ROWS PER MATCH PATTERN (A+)"
    assert len(run(frame.select("t", "x", "m", "s"), clause)) == 12
    pairs = "ORDER BY t MEASURES A.x AS a PATTERN (A B) DEFINE B AS levenshtein(string(A.x), string(B.x)) >= 0"
    assert len(run(frame, pairs)) == 6


# ---- counts and warnings ----


def counted(frame: DataFrame, clause: str, **hints: Any) -> dict[str, int]:
    explained = trellis.explain(f"SELECT * FROM {{f}} MATCH_RECOGNIZE ({clause})", f=frame, analyze=True, hints=hints)
    lines = explained.split("== Counts ==\n")[1].splitlines()
    return {line[:14].strip(): int(line[14:].replace(",", "")) for line in lines}


@connect_thorough
def test_tied_rows_are_counted(spark: SparkSession) -> None:
    rows = [("a", 1, 5), ("a", 1, 5), ("a", 2, 6), ("b", 1, 7), ("b", 3, 8), ("b", 3, 9), ("b", 3, 9), (None, None, 1)]
    frame = spark.createDataFrame([*rows, (None, None, 2)], "k string, t int, x int")
    measured = "MEASURES A.x AS a PATTERN (A B) DEFINE B AS x > PREV(x)"
    segment = "MEASURES first(x) AS a PATTERN (S) DEFINE SEGMENT S AS window(2, 2) AND last(x) > first(x)"
    pairs = "MEASURES A.x AS a PATTERN (A B) DEFINE B AS levenshtein(string(A.x), string(B.x)) = 1"
    for clause in (measured, segment, pairs):
        assert counted(frame, f"PARTITION BY k ORDER BY t {clause}")["tied rows"] == 7
    assert counted(frame, f"PARTITION BY k ORDER BY t, x {measured}")["tied rows"] == 4
    assert counted(frame, f"PARTITION BY k ORDER BY t + x DESC {measured}")["tied rows"] == 6
    assert counted(frame, f"ORDER BY x {measured}")["tied rows"] == 4
    kept = frame.withColumn("t", frame["x"]).where("x IS NOT NULL")
    assert counted(kept.dropDuplicates(["x"]), f"ORDER BY t {measured}")["tied rows"] == 0
    assert list(counted(frame, f"ORDER BY t {measured}")) == ["rows in", "tied rows", "matches", "rows out"]


def test_slices_do_not_count_tied_rows_twice(tied: DataFrame) -> None:
    clause = f"PARTITION BY k ORDER BY t {_CLAUSES[0]}"
    assert counted(tied, clause, slices=2, off=["prefilter", "eliminate_rows"])["tied rows"] == 3_000


@connect(thorough=True)
def test_without_order_by(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(10,), (8,), (9,)], "price int")
    rises = "MEASURES A.price AS a PATTERN (A UP) DEFINE UP AS price > PREV(price)"
    segment = "PATTERN (S) DEFINE SEGMENT S AS window(2, 3) AND last(price) > first(price)"
    for clause in (
        rises,
        "PATTERN (A B) DEFINE B AS A.price < price",
        segment,
        "PATTERN (A+) DEFINE A AS sum(price) < 9",
    ):
        with pytest.warns(TrellisWarning, match="no ORDER BY") as caught:
            run(frame, clause)
        assert caught[0].filename == __file__
    with pytest.warns(TrellisWarning, match="no ORDER BY") as caught:
        frame.transform(trellis.pattern("A B").define(B="price > prev(price)").match).collect()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(frame, "MEASURES count(*) AS n, sum(price) AS s PATTERN (A+) DEFINE A AS price > 1") == [(3, 27)]
        assert len(run(frame, "MEASURES A.price AS a PATTERN (A) DEFINE A AS price > 8")) == 2
        run(frame, f"ORDER BY price {rises}")
