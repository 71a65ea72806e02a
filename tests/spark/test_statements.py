"""MATCH_RECOGNIZE inside SQL, on Spark: the statement around it, its inputs, parameters, types and aggregates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import trellis
from trellis.errors import BindingError, TrellisError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
connect = pytest.mark.connect
connect_thorough = pytest.mark.connect(thorough=True)

# acme falls to 7 and rises to 11; ibm falls to 4 and rises to 6, twice.
_TICKS = [
    *(("acme", n, price) for n, price in enumerate([10, 8, 7, 9, 11], start=1)),
    *(("ibm", n, price) for n, price in enumerate([5, 4, 6, 5, 4, 6], start=1)),
]
_V = """MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY ts
    MEASURES FIRST(A.ts) AS start_ts, LAST(UP.ts) AS end_ts, MIN(DOWN.price) AS low
    PATTERN (A DOWN+ UP+)
    DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""
_FOUND = [("acme", 1, 5, 7), ("ibm", 1, 3, 4), ("ibm", 4, 6, 4)]


@pytest.fixture(scope="module")
def ticks(spark: SparkSession) -> Iterator[DataFrame]:
    frame = spark.createDataFrame(_TICKS, "symbol string, ts int, price int")
    frame.createOrReplaceTempView("ticks")
    yield frame
    spark.catalog.dropTempView("ticks")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.collect()]


def one(frame: DataFrame) -> Any:
    """The only value of the only row."""
    (row,) = frame.collect()
    (value,) = tuple(row)
    return value


def measure(expression: str, frame: DataFrame, order: str = "id", pattern: str = "A+", **options: Any) -> Any:
    text = f"SELECT * FROM {{frame}} MATCH_RECOGNIZE (ORDER BY {order} MEASURES {expression} AS m PATTERN ({pattern}))"
    return one(trellis.sql(text, frame=frame, **options))


# ------------------------------------------------------------------------------------------ where the rows come from


@connect
@pytest.mark.parametrize(
    "source",
    [
        "ticks",
        "ticks AS t",
        "(SELECT * FROM ticks)",
        "(SELECT * FROM ticks WHERE price > 0) AS s",
        "{ticks}",
        "{ticks} AS f",
        "(SELECT symbol, ts, price FROM {ticks})",
    ],
)
def test_inputs(spark: SparkSession, ticks: DataFrame, source: str) -> None:
    frames = {"ticks": ticks} if "{" in source else {}
    found = trellis.sql(f"SELECT * FROM {source} {_V} ORDER BY symbol, start_ts", spark=spark, **frames)
    assert found.columns == ["symbol", "start_ts", "end_ts", "low"]
    assert rows(found) == _FOUND


@connect_thorough
def test_inline_values(spark: SparkSession) -> None:
    text = """SELECT * FROM VALUES (1, 5), (2, 3), (3, 4) AS v(t, x) MATCH_RECOGNIZE (
        ORDER BY t MEASURES A.x AS a, LAST(UP.x) AS u PATTERN (A DOWN UP)
        DEFINE DOWN AS x < PREV(x), UP AS x > PREV(x))"""
    assert rows(trellis.sql(text, spark=spark)) == [(5, 4)]


def test_a_table(spark: SparkSession, ticks: DataFrame) -> None:
    ticks.write.saveAsTable("trellis_ticks", mode="overwrite")
    try:
        found = trellis.sql(f"SELECT * FROM default.trellis_ticks {_V} ORDER BY 1, 2", spark=spark)
        assert rows(found) == _FOUND
    finally:
        spark.sql("DROP TABLE trellis_ticks")


@connect
def test_ctes(spark: SparkSession, ticks: DataFrame) -> None:
    text = f"""WITH t AS (SELECT * FROM ticks WHERE symbol = 'ibm'),
        m AS (SELECT * FROM t {_V}),
        n(s, c) AS (SELECT symbol, count(*) FROM m GROUP BY symbol)
        SELECT n.c, m.start_ts FROM m JOIN n ON n.s = m.symbol ORDER BY 2"""
    assert rows(trellis.sql(text, spark=spark)) == [(2, 1), (2, 4)]


@connect_thorough
def test_a_clause_in_the_input_of_another(spark: SparkSession, ticks: DataFrame) -> None:
    """The V shapes of ibm follow each other; acme has one only."""
    text = f"""SELECT * FROM (SELECT * FROM ticks {_V}) MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY start_ts MEASURES count(*) AS n, FIRST(start_ts) AS lo, LAST(end_ts) AS hi
        PATTERN (V W+) DEFINE W AS start_ts = PREV(end_ts) + 1)"""
    assert rows(trellis.sql(text, spark=spark)) == [("ibm", 2, 1, 6)]


@connect
def test_several_clauses_joins_and_grouping(spark: SparkSession, ticks: DataFrame) -> None:
    text = f"""SELECT v.symbol, count(*) AS n, max(r.hi) AS hi
        FROM ticks {_V} AS v
        JOIN ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES max(price) AS hi PATTERN (^ A+ $)) AS r
          ON v.symbol = r.symbol
        WHERE v.low < 100 GROUP BY v.symbol HAVING count(*) > 0 ORDER BY n DESC"""
    assert rows(trellis.sql(text, spark=spark)) == [("ibm", 2, 6), ("acme", 1, 11)]


@connect_thorough
def test_union_and_subquery_around(spark: SparkSession, ticks: DataFrame) -> None:
    text = f"""SELECT symbol, low FROM (SELECT * FROM ticks {_V}) WHERE low = (SELECT min(low) FROM ticks {_V})
        UNION ALL SELECT 'x', 0 ORDER BY symbol"""
    assert rows(trellis.sql(text, spark=spark)) == [("ibm", 4), ("ibm", 4), ("x", 0)]


def test_statement_without_the_clause(spark: SparkSession) -> None:
    assert rows(trellis.sql("SELECT 1 AS a, '{x} MATCH_RECOGNIZE (' AS b", spark=spark)) == [
        (1, "{x} MATCH_RECOGNIZE (")
    ]


# ------------------------------------------------------------------------------------------------------- parameters


@connect
def test_parameters_everywhere(spark: SparkSession, ticks: DataFrame) -> None:
    text = """SELECT *, :tag AS tag FROM ticks MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY ts
        MEASURES FIRST(ts) AS lo, A.price + :plus AS p, LAST(price, :back) AS b
        PATTERN (A DOWN+ UP+) WITHIN :width
        DEFINE DOWN AS price < PREV(price, :one), UP AS UP.price > DOWN.price AND UP.price < :limit)
        WHERE symbol = :symbol ORDER BY lo"""
    args = {"tag": "t", "plus": 100, "back": 1, "width": 2, "one": 1, "limit": 50, "symbol": "ibm"}
    assert rows(trellis.sql(text, spark=spark, args=args)) == [("ibm", 1, 105, 4, "t"), ("ibm", 4, 105, 4, "t")]


@connect_thorough
@pytest.mark.parametrize("value", [0, -1, None, "x"])
def test_a_parameter_that_is_no_width(spark: SparkSession, ticks: DataFrame, value: object) -> None:
    """Zero, negative and NULL widths are refused, also when they come as a parameter."""
    text = "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A+) WITHIN :width)"
    with pytest.raises(TrellisError):
        trellis.sql(text, spark=spark, args={"width": value}).collect()


@pytest.mark.parametrize("value", [-1, 1.5, None, "x", True])
def test_a_parameter_that_is_no_offset(spark: SparkSession, ticks: DataFrame, value: object) -> None:
    text = "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(ts, :n) AS m PATTERN (A+))"
    with pytest.raises(TrellisError):
        trellis.sql(text, spark=spark, args={"n": value})


def test_a_parameter_without_a_value(spark: SparkSession, ticks: DataFrame) -> None:
    with pytest.raises(TrellisError, match="limit"):
        trellis.sql("SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS price > :limit)", spark=spark)


# ------------------------------------------------------------------------------------------- expressions of one row


@connect
def test_subqueries(spark: SparkSession, ticks: DataFrame) -> None:
    text = """WITH lim AS (SELECT 6 AS v)
        SELECT * FROM ticks MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY ts
        MEASURES count(*) AS n, (SELECT max(price) FROM ticks) AS most, (SELECT v FROM lim) + FIRST(A.price) AS p
        PATTERN (A+)
        DEFINE A AS price > (SELECT v FROM lim) AND symbol IN (SELECT symbol FROM ticks WHERE price > 9))"""
    assert rows(trellis.sql(text, spark=spark)) == [("acme", 5, 11, 16)]


@connect_thorough
def test_spark_functions_on_a_row(spark: SparkSession, ticks: DataFrame) -> None:
    text = """SELECT * FROM ticks MATCH_RECOGNIZE (
        PARTITION BY upper(symbol) ORDER BY pmod(ts, 100)
        MEASURES concat_ws('-', collect_list(lpad(price, 2, '0'))) AS p, reverse(FIRST(symbol)) AS r,
            transform(array_agg(price), v -> v + 1) AS t
        PATTERN (^ A+ $) DEFINE A AS symbol LIKE 'a%' AND price RLIKE '^[0-9]+$' AND length(PREV(symbol, 0)) = 4)"""
    assert [row[1:] for row in rows(trellis.sql(text, spark=spark))] == [("10-08-07-09-11", "emca", [11, 9, 8, 10, 12])]


@connect
def test_python_udfs(spark: SparkSession, ticks: DataFrame) -> None:
    from pyspark.sql.functions import pandas_udf

    def twice(values: pd.Series) -> pd.Series:
        return values * 2

    spark.udf.register("odd_", lambda value: value is not None and value % 2 == 1, "boolean")
    spark.udf.register("twice_", pandas_udf(twice, "int"))
    text = """SELECT * FROM ticks MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY ts
        MEASURES array_agg(price) AS p, twice_(LAST(price)) AS d, sum(twice_(price)) AS s
        PATTERN (E O) DEFINE E AS NOT odd_(price), O AS odd_(price) AND twice_(O.price) < 2 * E.price)
        ORDER BY symbol, p"""
    # acme: 8 7. ibm: 6 5.
    assert rows(trellis.sql(text, spark=spark)) == [("acme", [8, 7], 14, 30), ("ibm", [6, 5], 10, 22)]


@connect
def test_hoisted_expressions_are_not_evaluated_where_no_match_asks(spark: SparkSession) -> None:
    """Rows that are never an A hold what A's expressions cannot digest; in ANSI mode these would end the job."""
    frame = spark.createDataFrame([(1, 5, "7"), (2, 0, "x"), (3, 9, "y")], "id int, x int, s string")
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (
        ORDER BY id MEASURES A.id AS a, B.id AS b PATTERN (A B)
        DEFINE A AS x > 0 AND id = 1, B AS B.id * 20 > 100 / A.x)"""
    assert rows(trellis.sql(text, f=frame)) == [(1, 2)]
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (
        ORDER BY id MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A AS id = 1, B AS try_cast(A.s AS INT) > B.id)"""
    assert rows(trellis.sql(text, f=frame)) == [(1, 2)]


@connect_thorough
def test_aggregated_expressions_are_not_evaluated_outside_their_rows(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 5, "7"), (2, 0, "x")], "id int, x int, s string")
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (
        ORDER BY id MEASURES sum(10 / A.x) AS q, sum(CAST(A.s AS INT)) AS s, max(CAST(A.s AS INT)) AS m PATTERN (A B)
        DEFINE A AS x > 0)"""
    assert rows(trellis.sql(text, f=frame)) == [(2.0, 7, 7)]


# ----------------------------------------------------------------------------------------------------- keys and order


@connect
def test_a_placeholder_without_a_frame_and_a_stream_without_a_watermark_are_refused(spark: SparkSession) -> None:
    text = "SELECT * FROM {ticks} MATCH_RECOGNIZE (PATTERN (A))"
    with pytest.raises(BindingError, match="ticks=df"):
        trellis.sql(text, spark=spark)
    with pytest.raises(BindingError, match="withWatermark"):
        trellis.sql(text, ticks=spark.readStream.format("rate").load())


@connect_thorough
def test_a_query_that_reads_no_column_still_sees_the_rows(spark: SparkSession) -> None:
    text = "SELECT * FROM VALUES (1), (2), (3) AS v(x) MATCH_RECOGNIZE (MEASURES count(*) AS n PATTERN (A B*))"
    assert rows(trellis.sql(text, spark=spark)) == [(3,)]


@connect_thorough
def test_order(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(3.0,), (None,), (float("nan"),), (1.0,), (-0.0,)], "x double")

    def order(by: str) -> list[str]:
        text = f"""SELECT * FROM {{f}} MATCH_RECOGNIZE (
            ORDER BY {by} MEASURES array_agg(string(x)) AS m, count(*) AS n PATTERN (A+))"""
        ((values, count),) = rows(trellis.sql(text, f=frame))
        assert count == 5
        return list(values)

    assert order("x") == ["-0.0", "1.0", "3.0", "NaN"]
    assert order("x DESC") == ["NaN", "3.0", "1.0", "-0.0"]
    assert order("x IS NULL DESC, x NULLS LAST") == ["-0.0", "1.0", "3.0", "NaN"]
    nulls = """SELECT * FROM {f} MATCH_RECOGNIZE (
        ORDER BY x %s MEASURES FIRST(x) IS NULL AS a, LAST(x) IS NULL AS b PATTERN (A+))"""
    for by, expected in {
        "": (True, False),
        "NULLS LAST": (False, True),
        "DESC": (False, True),
        "DESC NULLS FIRST": (True, False),
    }.items():
        assert rows(trellis.sql(nulls % by, f=frame)) == [expected]


@connect_thorough
def test_partitions_of_floats_and_nulls(spark: SparkSession) -> None:
    nan = float("nan")
    values = [(0.0, 1), (-0.0, 2), (nan, 1), (nan, 2), (None, 1), (None, 2)]
    frame = spark.createDataFrame(values, "k double, id int")
    text = "SELECT n FROM {f} MATCH_RECOGNIZE (PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN (A+))"
    assert rows(trellis.sql(text, f=frame)) == [(2,), (2,), (2,)]


def test_partitions_of_collated_strings(spark: SparkSession) -> None:
    """Workers cannot tell which strings a collation takes for equal: refused, with a cure that works."""
    text = """SELECT n FROM (SELECT s COLLATE UTF8_LCASE AS s, id FROM VALUES ('a', 1), ('A', 2), ('a', 3) AS v(s, id))
        MATCH_RECOGNIZE (PARTITION BY %s ORDER BY id MEASURES count(*) AS n PATTERN (A+))"""
    with pytest.raises(BindingError, match="collate"):
        trellis.sql(text % "s", spark=spark)
    assert rows(trellis.sql(text % "lower(s) COLLATE UTF8_BINARY", spark=spark)) == [(3,)]


@connect_thorough
def test_ties_are_the_same_in_every_run(spark: SparkSession) -> None:
    frame = spark.range(2000).selectExpr("id % 5 AS k", "id % 3 AS t", "(id * 7919) % 1009 AS x").repartition(7)
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS n, array_agg(x) AS xs
        PATTERN (A UP+) DEFINE UP AS x > PREV(x)) ORDER BY k, n"""
    first = rows(trellis.sql(text, f=frame))
    assert first
    assert rows(trellis.sql(text, f=frame.repartition(3))) == first


@pytest.mark.parametrize("type_", ["map(1, 2)", "map('a', array(1))", "array(map(1, 2))"])
def test_keys_that_cannot_be_ordered(spark: SparkSession, type_: str) -> None:
    for clause in ("ORDER BY k", "PARTITION BY k"):
        with pytest.raises(BindingError):
            trellis.sql(f"SELECT * FROM (SELECT {type_} AS k) MATCH_RECOGNIZE ({clause} PATTERN (A))", spark=spark)


# -------------------------------------------------------------------------------------------------------- aggregates


_AGGREGATES = [
    "count(*)",
    "count(x)",
    "count(DISTINCT x)",
    "count(DISTINCT x, s)",
    "count(x, s)",
    "count_if(x > 1)",
    "sum(x)",
    "sum(DISTINCT x)",
    "sum(d)",
    "sum(y)",
    "sum(iv)",
    "avg(x)",
    "avg(d)",
    "avg(iv)",
    "mean(y)",
    "min(x)",
    "max(s)",
    "min(d)",
    "max(t)",
    "min(w)",
    "max(arr)",
    "stddev(x)",
    "stddev_pop(d)",
    "var_samp(y)",
    "variance(x)",
    "var_pop(x)",
    "bool_and(x > 0)",
    "every(x > 1)",
    "bool_or(x > 2)",
    "max_by(s, id)",
    "min_by(s, x)",
    "min_by(arr, id)",
    "array_agg(x)",
    "collect_list(s)",
    "listagg(s)",
    "listagg(s, ', ')",
    "string_agg(s, '-')",
    "listagg(DISTINCT s, '/')",
    "median(x)",
    "median(d)",
    "percentile(x, 0.25)",
    "percentile(y, 0.9)",
    "approx_count_distinct(x)",
    "sum(x) FILTER (WHERE id > 2)",
    "count(*) FILTER (WHERE s = 'b')",
    "array_agg(x) FILTER (WHERE id > 2)",
    "median(x) FILTER (WHERE id > 2)",
    "listagg(s, ',') FILTER (WHERE id < 3)",
    "any_value(s) FILTER (WHERE id = 3)",
    "sort_array(array_agg(DISTINCT x))",
    "sort_array(collect_set(s))",
    "sum(x + id * 2)",
    "max(upper(s))",
    "first(s)",
]


@connect_thorough
@pytest.mark.parametrize("where", ["TRUE", "FALSE"])
def test_aggregates_are_sparks(spark: SparkSession, where: str) -> None:
    """Over the rows of one match an aggregate is what Spark's own is over these rows, type included; also over none."""
    source = """SELECT *, CAST(x * 1.25 AS DECIMAL(8, 3)) AS d, CAST(x AS DECIMAL(30, 2)) AS w, x / 4.0D AS y,
        make_dt_interval(x) AS iv, DATE '2024-01-01' + id AS t, array(x) AS arr
        FROM VALUES (1, 3, 'b'), (2, 1, 'a'), (3, CAST(NULL AS INT), 'b'), (4, 3, NULL), (5, 2, 'c') AS v(id, x, s)"""
    frame = spark.sql(source).coalesce(1)
    measures = ", ".join(f"{_of(aggregate)} AS m{number}" for number, aggregate in enumerate(_AGGREGATES))
    text = f"""SELECT * FROM {{f}} MATCH_RECOGNIZE (ORDER BY id MEASURES {measures} PATTERN (^ B? A* B*)
        DEFINE A AS {where}, B AS NOT {where})"""
    expected = frame.where(where).selectExpr(*(f"{text} AS m{number}" for number, text in enumerate(_AGGREGATES)))
    found = trellis.sql(text, f=frame)
    types, wanted_types = ([field.dataType.simpleString() for field in one.schema] for one in (found, expected))
    assert dict(zip(_AGGREGATES, types, strict=True)) == dict(zip(_AGGREGATES, wanted_types, strict=True))
    (values,), (wanted,) = found.collect(), expected.collect()
    for aggregate, value, want in zip(_AGGREGATES, values, wanted, strict=True):
        assert value == (pytest.approx(want) if isinstance(want, float) else want), aggregate


def _of(aggregate: str) -> str:
    """The aggregate over the rows of A."""
    return re.sub(r"\b(x|s|d|w|y|iv|t|arr|id)\b(?!')(?!\()", r"A.\1", aggregate).replace("(*)", "(A.*)")


@connect_thorough
def test_running_aggregates_of_all_rows(spark: SparkSession, ticks: DataFrame) -> None:
    text = """SELECT ts, lows, n, total FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
        MEASURES listagg(DOWN.price, ',') AS lows, count(UP.*) AS n, FINAL sum(price) AS total
        ALL ROWS PER MATCH PATTERN (A DOWN+ UP+) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))
        WHERE symbol = 'acme' ORDER BY ts"""
    expected = [(1, None, 0, 45), (2, "8", 0, 45), (3, "8,7", 0, 45), (4, "8,7", 1, 45), (5, "8,7", 2, 45)]
    assert rows(trellis.sql(text, spark=spark)) == expected


# ----------------------------------------------------------------------------------------------------------- manners


def test_nothing_runs_before_an_action(spark: SparkSession, ticks: DataFrame) -> None:
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup(None))
    frame = trellis.sql(f"SELECT * FROM ticks {_V}", spark=spark)
    assert frame.columns == ["symbol", "start_ts", "end_ts", "low"]
    assert set(tracker.getJobIdsForGroup(None)) == before
    frame.collect()
    assert set(tracker.getJobIdsForGroup(None)) > before


@connect
def test_nothing_is_left_behind(spark: SparkSession, ticks: DataFrame) -> None:
    def state() -> tuple[set[str], dict[str, str]]:
        return {table.name for table in spark.catalog.listTables()}, dict(spark.conf.getAll)

    before = state()
    text = f"WITH w AS (SELECT * FROM {{ticks}}) SELECT * FROM (SELECT * FROM w {_V}) JOIN ticks USING (symbol)"
    found = trellis.sql(text, ticks=ticks)
    found.collect()
    assert state() == before
    assert not found.is_cached
    assert not ticks.is_cached


@connect
def test_frames_see_no_change_of_names_afterwards(spark: SparkSession, ticks: DataFrame) -> None:
    found = trellis.sql(f"SELECT * FROM {{t}} {_V} ORDER BY 1, 2", t=ticks)
    other = trellis.sql(f"SELECT * FROM {{t}} {_V} ORDER BY 1, 2", t=ticks.where("symbol = 'acme'"))
    assert rows(found) == _FOUND
    assert rows(other) == _FOUND[:1]


@connect
def test_errors_of_the_data_reach_the_user(spark: SparkSession, ticks: DataFrame) -> None:
    """An error in a worker keeps its message: what, where, and the cure."""
    text = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts AFTER MATCH SKIP TO FIRST B
        PATTERN (A B?) DEFINE B AS price > 100)"""
    with pytest.raises(Exception, match="SKIP") as caught:
        trellis.sql(text, spark=spark).collect()
    assert "row 1" in str(caught.value)
    assert "acme" in str(caught.value) or "ibm" in str(caught.value)


def test_without_ansi_mode(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 4), (2, 0), (3, 2)], "id int, x int")
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a, B.x / A.x AS q PATTERN (A B)
        DEFINE B AS A.x / B.x IS NULL OR B.x / A.x > 0)"""
    before = spark.conf.get("spark.sql.ansi.enabled")
    try:
        spark.conf.set("spark.sql.ansi.enabled", "false")
        # 4 / 0 is NULL, so rows 1 and 2 match; then only row 3 is left.
        assert rows(trellis.sql(text, f=frame)) == [(1, 0.0)]
        spark.conf.set("spark.sql.ansi.enabled", "true")
        with pytest.raises(Exception, match="zero"):
            trellis.sql(text, f=frame).collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


@connect_thorough
@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM nowhere MATCH_RECOGNIZE (PATTERN (A))",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS nothing > 1)",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS ticks.price > 1)",
        "SELECT nothing FROM ticks MATCH_RECOGNIZE (PATTERN (A))",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A)",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS nofunction(price))",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS price)",
        "SELECT * FROM ticks MATCH_RECOGNIZE (MEASURES sum(symbol, 1) AS m PATTERN (A))",
        "SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A)) WHERE >",
        "SELECT * FROM {nothing} MATCH_RECOGNIZE (PATTERN (A))",
        "SELEKT * FROM ticks MATCH_RECOGNIZE (PATTERN (A))",
        """SELECT sum(price) OVER w FROM ticks WINDOW w AS (
            ORDER BY ts MEASURES A.ts AS m ROWS BETWEEN CURRENT ROW AND 5 FOLLOWING PATTERN (A B))""",
    ],
)
def test_bad_statements_are_refused_before_any_job(spark: SparkSession, ticks: DataFrame, text: str) -> None:
    with pytest.raises(TrellisError):
        trellis.sql(text, spark=spark)
