"""Every aggregate of Spark in MEASURES.

Truth are the rows of each match as ALL ROWS PER MATCH shows them, aggregated by Spark. Many aggregates stand in one
query, since each query is a few jobs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.sql import functions as F

import trellis
from some import some
from trellis.algebra.functions import AGGREGATES
from trellis.errors import BindingError, TrellisError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

# Calls over the columns of a row; `first` and `last` navigate, and `grouping` has no meaning here.
_CALLS = [
    "approx_percentile(x, 0.5)",
    "approx_percentile(x, array(0.25, 0.75), 100)",
    "percentile_approx(x, 0.5)",
    "percentile(x, array(0.25, 0.75))",
    "percentile(x, 0.5, 2)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY y DESC)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY x)",
    "bit_and(x)",
    "bit_or(x)",
    "bit_xor(x)",
    "bitmap_count(bitmap_construct_agg(x))",
    "bitmap_count(bitmap_or_agg(bin))",
    "bitmap_count(bitmap_and_agg(bin))",
    "corr(x, y)",
    "covar_pop(x, y)",
    "covar_samp(y, x)",
    "regr_avgx(y, x)",
    "regr_avgy(y, x)",
    "regr_count(y, x)",
    "regr_intercept(y, x)",
    "regr_r2(y, x)",
    "regr_slope(y, x)",
    "regr_sxx(y, x)",
    "regr_sxy(y, x)",
    "regr_syy(y, x)",
    "count_min_sketch(x, 0.5D, 0.5D, 1)",
    "hll_sketch_estimate(hll_sketch_agg(x))",
    "hll_sketch_estimate(hll_union_agg(sketch))",
    "histogram_numeric(x, 3)",
    "kurtosis(x)",
    "skewness(x)",
    "mode(s)",
    "mode() WITHIN GROUP (ORDER BY x DESC)",
    "min_by(arr, x)",
    "max_by(x, arr)",
    "try_sum(x)",
    "try_avg(d)",
    "first_value(x)",
    "first_value(x) IGNORE NULLS",
    "last_value(x)",
    "last_value(s, true)",
    "any_value(x) IGNORE NULLS",
    "listagg(s, ',') WITHIN GROUP (ORDER BY id DESC)",
    "stddev(DISTINCT x)",
    "bit_or(x) FILTER (WHERE id % 2 = 0)",
    "bit_xor(DISTINCT x)",
    "bit_xor(DISTINCT x) FILTER (WHERE s = 'b')",
    "regr_slope(d, nested.z)",
    "try_sum(x + 1) FILTER (WHERE x <> 3)",
    "bit_or(twice(x))",
    "twice(bit_or(x)) + count(x) - bit_and(x + 1)",
    "schema_of_variant_agg(parse_json(CAST(x AS STRING)))",
    "CAST(bit_or(x) AS STRING) || '!'",
    "CASE WHEN bit_or(x) > 2 THEN regr_count(x, x) ELSE sum(x) END",
    "system.builtin.bit_or(x)",
]
_NOT_HERE = re.compile("first|last|grouping|grouping_id|collect_union|measure|(approx_top_k|hll|kll|theta|tuple)_?.*")
"""What navigates, what belongs to GROUP BY, and sketches of further kinds, which go the same way as those above."""


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[DataFrame]:
    spark.udf.register("twice", lambda x: None if x is None else 2 * x, "int")
    frame = spark.sql("""
        SELECT *, x * 1.5D + id % 3 AS y, CAST(x AS DECIMAL(20, 2)) AS d, array(x, id) AS arr,
            struct(id * 2 AS z) AS nested
        FROM VALUES (1, 1, 3, 'b'), (1, 2, 1, 'a'), (1, 3, NULL, 'b'), (1, 4, 3, NULL), (1, 5, 2, 'c'), (1, 6, 7, 'a'),
            (1, 7, 0, 'a'), (1, 8, 4, 'b'), (NULL, 1, 6, 'c'), (NULL, 2, 0, 'a'), (NULL, 3, 5, 'c'), (2, 1, 0, 'x')
            AS v(k, id, x, s)
        CROSS JOIN (SELECT hll_sketch_agg(n) AS sketch FROM VALUES 1, 2 AS v(n)) AS hll
        CROSS JOIN (SELECT bitmap_construct_agg(n) AS bin FROM VALUES 1, 2 AS v(n)) AS bits""")
    yield frame
    for name in ("twice", "spread", "longest"):
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")


_CLAUSE = """MATCH_RECOGNIZE (PARTITION BY k ORDER BY id MEASURES {measures} {mode}
    AFTER MATCH SKIP PAST LAST ROW PATTERN (A* B | C) SUBSET U = (A, B)
    DEFINE A AS x > 0 OR x IS NULL, B AS x = 0 AND id <> 1, C AS id = 1)"""


def _of(call: str, variable: str) -> str:
    """The call over the rows of a variable."""
    words = call
    for name in ("id", "x", "y", "d", "s", "arr", "nested", "sketch", "bin"):
        words = _qualify(words, name, variable)
    return words


def _qualify(text: str, name: str, variable: str) -> str:
    quoted = re.split(r"('[^']*')", text)
    pattern = re.compile(rf"(?<![\w.]){name}(?![\w(])")
    return "".join(part if part.startswith("'") else pattern.sub(f"{variable}.{name}", part) for part in quoted)


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float):
        return bool(found == pytest.approx(wanted, nan_ok=True))
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    return bool(found == wanted)


def _id(value: object) -> str:
    return value if isinstance(value, str) else f"{len(value)} calls" if isinstance(value, list) else ""


@pytest.mark.parametrize(("variable", "calls"), some([("A", _CALLS[::6]), ("A", _CALLS), ("", _CALLS)]), ids=_id)
def test_every_aggregate(spark: SparkSession, rows: DataFrame, variable: str, calls: list[str]) -> None:
    """Over the rows of each match, and over those of a variable, of which one match has none."""
    asked = [_of(call, variable) if variable else call for call in calls]
    measures = ", ".join(["MATCH_NUMBER() AS n", *(f"{call} AS m{number}" for number, call in enumerate(asked))])
    clause = _CLAUSE.format(measures=measures, mode="ONE ROW PER MATCH")
    found = trellis.sql(f"SELECT * FROM {{rows}} {clause}", rows=rows)
    shown = _CLAUSE.format(measures="MATCH_NUMBER() AS n, CLASSIFIER() AS label", mode="ALL ROWS PER MATCH")
    matched = trellis.sql(f"SELECT * FROM {{rows}} {shown} ORDER BY k, id", rows=rows).coalesce(1)
    kept = matched.where(f"label = '{variable}'") if variable else matched
    # Spark fails where an aggregate with an order stands beside DISTINCT, so these are computed by themselves.
    columns = {f"m{number}": F.expr(f"{call} AS m{number}") for number, call in enumerate(calls)}
    ordered = {f"m{number}" for number, call in enumerate(calls) if "WITHIN GROUP" in call}
    parts = [[columns[name] for name in columns if (name in ordered) == apart] for apart in (False, True)]
    grouped = [kept.groupBy("k", "n").agg(*part) for part in parts]
    types = {field.name: field.dataType for part in grouped for field in part.schema}
    assert {field.name: field.dataType for field in found.schema} == types
    values: dict[tuple[Any, Any], dict[str, Any]] = {}
    for part in grouped:
        for row in part.collect():
            values.setdefault((row.k, row.n), {}).update(row.asDict())
    wanted = {key: tuple(of_match[name] for name in columns) for key, of_match in values.items()}
    collected = found.collect()
    assert {(row.k, row.n) for row in collected} == {(1, 1), (None, 1), (2, 1)}
    if variable:
        assert set(wanted) == {(1, 1), (None, 1)}
        none = {
            name: value for part in parts for name, value in kept.where("FALSE").agg(*part).first().asDict().items()
        }
        wanted[2, 1] = tuple(none[name] for name in columns)
    for row in collected:
        pairs = list(zip(calls, tuple(row)[2:], wanted[row.k, row.n], strict=True))
        if variable and row.k == 2:
            # Of no rows some sketches are NULL, of rows that FILTER leaves out they are empty: Spark's own difference.
            pairs = [pair for pair in pairs if not re.search("sketch|variant", pair[0])]
        assert [(call, value, expected) for call, value, expected in pairs if not _same(value, expected)] == []


def test_distinct_with_an_order_beside_others(spark: SparkSession, rows: DataFrame) -> None:
    measures = """string_agg(DISTINCT A.s, ',') WITHIN GROUP (ORDER BY A.s DESC) AS s, bit_xor(DISTINCT A.x) AS x,
        listagg(DISTINCT U.s) WITHIN GROUP (ORDER BY U.s) AS u, count(DISTINCT x) AS n"""
    clause = _CLAUSE.format(measures=measures, mode="ONE ROW PER MATCH")
    found = {tuple(row) for row in trellis.sql(f"SELECT * FROM {{rows}} {clause}", rows=rows).collect()}
    assert found == {(1, "c,b,a", 7, "abc", 5), (None, "c", 6, "ac", 2), (2, None, None, None, 1)}


def test_no_aggregate_is_forgotten(spark: SparkSession) -> None:
    known = {name.lower() for call in _CALLS for name in re.findall(r"\w+", call)}
    listed = spark.catalog.listFunctions()
    names = {function.name for function in listed if ".aggregate." in (function.className or "")}
    assert {name for name in names - known - AGGREGATES if not _NOT_HERE.fullmatch(name)} == set()


@pytest.mark.connect
def test_an_aggregate_is_of_a_match_not_of_all_rows(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, 5), (2, 3), (3, 6)], "id int, x int")
    clause = "MATCH_RECOGNIZE (ORDER BY id MEASURES bit_or(x) AS m PATTERN (A) DEFINE A AS x > {})"
    found = trellis.sql(f"SELECT * FROM {{rows}} {clause.format(0)}", rows=rows)
    assert sorted(row.m for row in found.collect()) == [3, 5, 6]
    assert trellis.sql(f"SELECT * FROM {{rows}} {clause.format(9)}", rows=rows).collect() == []


@pytest.mark.connect(thorough=True)
def test_running_final_unmatched_and_empty(spark: SparkSession, rows: DataFrame) -> None:
    """In all rows an aggregate runs; Spark's windows say the same over the rows of a match."""
    measures = """MATCH_NUMBER() AS n, CLASSIFIER() AS label, bit_xor(x) AS run, FINAL bit_xor(x) AS fin,
        RUNNING regr_count(A.x, A.x) AS some, FINAL first_value(B.id) AS b,
        last_value(id) + bit_or(MATCH_NUMBER()) AS here,
        listagg(CLASSIFIER(), '') WITHIN GROUP (ORDER BY id DESC) AS labels"""
    clause = _CLAUSE.format(measures=measures, mode="ALL ROWS PER MATCH WITH UNMATCHED ROWS").replace("| C", "| C*")
    frame = trellis.sql(f"SELECT * FROM {{rows}} {clause}", rows=rows)
    found = {(row.k, row.id): row for row in frame.collect()}
    assert len(found) == 12
    of = "OVER (PARTITION BY k, n ORDER BY id"
    shown = frame.where("label IS NOT NULL").select("k", "n", "id", "x", "label")
    wanted = shown.selectExpr(
        "*",
        f"bit_xor(x) {of}) AS run",
        f"bit_xor(x) {of} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS fin",
        f"count(CASE WHEN label = 'A' THEN x END) {of}) AS some",
        f"max(CASE WHEN label = 'B' THEN id END) {of} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS b",
        "id + n AS here",
        f"reverse(array_join(collect_list(label) {of}), '')) AS labels",
    ).collect()
    assert len(wanted) == 10
    for row in wanted:
        there = found[row.k, row.id]
        assert {name: there[name] for name in row.asDict()} == row.asDict()
    # Row 8 is an empty match, for which C* was enough; the third row of NULL is one, too.
    for key in ((1, 8), (None, 3)):
        empty = found[key]
        assert (empty.label, empty.run, empty.fin, empty.some, empty.b, empty.labels) == (
            None,
            None,
            None,
            0,
            None,
            None,
        )
        assert empty.n == 2
    unmatched = clause.replace("| C*", "| C").replace("C AS id = 1", "C AS id = 9")
    (alone,) = trellis.sql(f"SELECT * FROM {{rows}} {unmatched}", rows=rows).where("k = 2").collect()
    assert (alone.n, alone.run, alone.some, alone.labels) == (None, None, None, None)


@pytest.mark.thorough
@pytest.mark.connect(thorough=True)
def test_functions_in_python(spark: SparkSession, rows: DataFrame) -> None:
    """A grouped-agg function sees the rows of a match in their order, and no value that no row has."""

    @F.pandas_udf("string")  # type: ignore[call-overload]
    def joined(ids: pd.Series, texts: pd.Series) -> str:
        assert not ids.isna().any()
        return "".join(f"{n}{text}" for n, text in zip(ids, texts, strict=True))

    spark.udf.register("longest", joined)
    logged: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = logged.append  # type: ignore[method-assign]
    logger = logging.getLogger("SQLQueryContextLogger")
    logger.addHandler(handler)
    measures = """longest(A.id, A.s) AS a, upper(longest(id, s)) AS whole, bit_or(A.x) AS x,
        longest(A.id, A.s) || '!' AS again, sum(x) AS total"""
    clause = _CLAUSE.format(measures=measures, mode="ONE ROW PER MATCH")
    found = trellis.sql(f"SELECT * FROM {{rows}} {clause}", rows=rows)
    logger.removeHandler(handler)
    assert logged == []
    assert {(row.k, row.a, row.whole, row.x, row.again, row.total) for row in found.collect()} == {
        (1, "1b2a3b4None5c6a", "1B2A3B4NONE5C6A7A", 7, "1b2a3b4None5c6a!", 16),
        (None, "1c", "1C2A", 6, "1c!", 6),
        (2, None, "1X", None, None, 0),
    }
    with pytest.raises(BindingError, match="does not support FILTER") as caught:
        filtered = clause.replace("longest(A.id, A.s) AS", "longest(id, s) FILTER (WHERE id > 1) AS")
        trellis.sql(f"SELECT * FROM {{rows}} {filtered}", rows=rows)
    assert "^" in str(caught.value)


def test_parameters_and_subqueries(spark: SparkSession, rows: DataFrame) -> None:
    measures = (
        "bit_or(x + :n) AS m, regr_count(x, x) FILTER (WHERE id < (SELECT 3)) AS few, approx_percentile(x, :p) AS p"
    )
    clause = _CLAUSE.format(measures=measures, mode="ONE ROW PER MATCH")
    found = trellis.sql(f"SELECT m, few, p FROM {{rows}} {clause} WHERE k = 1", rows=rows, args={"n": 8, "p": 0.5})
    assert [tuple(row) for row in found.collect()] == [(15, 2, 2)]


def test_arguments_are_computed_in_rows_of_the_match_only(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, 0, "a"), (2, 4, "5"), (3, 2, "7")], "id int, x int, s string")
    clause = """MATCH_RECOGNIZE (ORDER BY id MEASURES try_sum(8 / A.x) AS m, bit_or(CAST(A.s AS INT)) AS n
        PATTERN (A+) DEFINE A AS x > 0)"""
    assert [tuple(row) for row in trellis.sql(f"SELECT * FROM {{rows}} {clause}", rows=rows).collect()] == [(6.0, 7)]


@pytest.mark.connect(thorough=True)
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("MEASURES row_number() AS m", "row_number is a window function"),
        ("MEASURES lag(A.x) AS m", "PREV(x) reads the row before"),
        ("MEASURES 1 + explode(array(x, 2)) AS m", "explode makes rows of its own"),
        ("MEASURES window(ts, '2 minutes', '1 minute') AS m", "window makes rows of its own"),
        ("MEASURES RUNNING tanh(x) AS m", "tanh is not an aggregate"),
        ("MEASURES tanh(DISTINCT x) AS m", "does not support DISTINCT"),
        ("MEASURES bit_or(sum(x)) AS m", "cannot stand inside the aggregate BIT_OR"),
        ("MEASURES regr_slope(A.x, B.x) AS m", "reads rows of A and of B"),
        ("MEASURES bit_or(x, 1) AS m", "requires 1 parameters"),
        ("MEASURES bit_or(s) AS m", "bit_or(s)"),
        ("MEASURES PREV(bit_or(x)) AS m", "cannot stand inside PREV"),
        (
            "DEFINE A AS bit_or(A.x) < 7",
            "The aggregate bit_or cannot be computed while a match is searched.*Conditions know",
        ),
        ("DEFINE A AS count(*) < 3 AND x > lead(x)", "lead is a window function"),
        ("DEFINE A AS explode(array(x)) > 1", "explode makes rows of its own"),
        ("DEFINE SEGMENT A AS bit_or(A.x) < 7", "BIT_OR of a segment is not supported.*GROUP BY"),
        ("MEASURES bit_or(A.x) AS m DEFINE SEGMENT A AS count(*) < 7", "BIT_OR of a segment is not supported"),
        ("PARTITION BY bit_or(x)", "BIT_OR cannot stand in PARTITION BY"),
        ("ORDER BY explode(array(x))", "explode makes rows of its own"),
    ],
)
def test_refused(spark: SparkSession, changed: str, message: str) -> None:
    rows = spark.sql("SELECT 1 AS id, 2 AS x, 'a' AS s, TIMESTAMP '2024-01-01' AS ts")
    parts = {"PARTITION": "", "ORDER": "ORDER BY id", "MEASURES": "", "DEFINE": "DEFINE A AS x > 0"}
    for part in re.split(r" (?=DEFINE)", changed):
        parts[part.split()[0]] = part
    pattern = "(A B?)" if "SEGMENT" not in changed else "(A)"
    clause = f"{parts['PARTITION']} {parts['ORDER']} {parts['MEASURES']} PATTERN {pattern} {parts['DEFINE']}"
    with pytest.raises(TrellisError) as caught:
        trellis.sql(f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({clause})", rows=rows)
    assert re.search(message.replace("(", r"\(").replace(")", r"\)"), str(caught.value), re.DOTALL)
    assert "^" in str(caught.value)


def test_corr_is_sparks_where_there_are_no_segments(spark: SparkSession, rows: DataFrame) -> None:
    clause = """MATCH_RECOGNIZE (PARTITION BY k ORDER BY id MEASURES corr(A.x, A.y) AS m PATTERN ((A | B)+)
        DEFINE A AS id < 3)"""
    found = trellis.sql(f"SELECT m FROM {{rows}} {clause} WHERE k = 1", rows=rows).collect()
    assert found[0].m == pytest.approx(1.0)
    with pytest.raises(UnsupportedError, match="function of whole segments"):
        trellis.sql(f"SELECT m FROM {{rows}} {clause.replace('id < 3', 'corr(A.x, A.y) > 0')}", rows=rows)


def test_explain_says_what_spark_groups(spark: SparkSession, rows: DataFrame) -> None:
    clause = _CLAUSE.format(measures="bit_or(A.x) + count(*) AS m", mode="ONE ROW PER MATCH")
    plan = trellis.explain(f"SELECT * FROM {{rows}} {clause}", rows=rows)
    assert "|         [FINAL bit_or(`x`) OVER A]: Spark groups the rows of each match" in plan
    assert "m = [FINAL bit_or(`x`) OVER A] + [aggregate 0]" in plan
