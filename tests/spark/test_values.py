"""Values of MATCH_RECOGNIZE on Spark: types of columns, windows of keys, and numbers at their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import trellis
from trellis.errors import BindingError, TrellisError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
connect = pytest.mark.connect
connect_thorough = pytest.mark.connect(thorough=True)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.collect()]


# ------------------------------------------------------------------------------------------------------------- types


_TYPED = """SELECT id, CAST(id * 1.5 AS DECIMAL(10, 2)) AS dec, CAST(id AS DECIMAL(30, 3)) AS wide,
    date_add(DATE '2024-02-27', id) AS d, TIMESTAMP '2024-01-01 00:00:00' + make_dt_interval(0, 0, id * 6) AS ts,
    TIMESTAMP_NTZ '2024-01-01 00:00:00' + make_dt_interval(0, 0, id * 6) AS ntz,
    make_dt_interval(0, id) AS iv, CAST(concat('b', id) AS BINARY) AS bin, array(id, id + 1) AS arr,
    named_struct('a', id, 'b', named_struct('c', string(id))) AS st, map('k', id) AS mp, CAST(id AS FLOAT) AS fl,
    CAST(id AS TINYINT) AS ti, CAST(id AS SMALLINT) AS si, CAST(id AS BIGINT) AS bi, id % 2 = 0 AS bo,
    CAST(NULL AS STRING) AS nu
    FROM VALUES (1), (2), (3), (4) AS v(id)"""


@connect
def test_all_types_are_carried_through(spark: SparkSession) -> None:
    frame = spark.sql(_TYPED)
    text = (
        """SELECT * FROM {f} MATCH_RECOGNIZE (ORDER BY id ALL ROWS PER MATCH PATTERN (A B+) DEFINE B AS B.id > A.id)"""
    )
    found = trellis.sql(text, f=frame)
    assert [(field.name, field.dataType) for field in found.schema] == [
        (field.name, field.dataType) for field in frame.schema
    ]
    assert rows(found) == rows(frame)


def test_types_that_arrow_cannot_carry_are_refused_or_carried(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS id, INTERVAL '2' MONTH AS ym, parse_json('[1]') AS va")
    for column in ("ym", "va"):
        text = f"""SELECT * FROM (SELECT id, {column} FROM {{f}}) MATCH_RECOGNIZE (
            ORDER BY id ALL ROWS PER MATCH PATTERN (A))"""
        try:
            found = trellis.sql(text, f=frame)
            assert found.count() == 1
        except TrellisError:
            pass


@connect_thorough
@pytest.mark.parametrize(
    "condition",
    [
        "B.dec - A.dec = 1.5",
        "B.dec > A.dec * 1.1",
        "B.dec > A.id",
        "B.dec = A.dec + 1.50",
        "sum(dec) = 4.5",
        "B.d - A.d = INTERVAL '1' DAY",
        "B.d > A.d",
        "datediff(B.d, A.d) = 1",
        "B.d = date_add(A.d, 1)",
        "B.d > A.ts",
        "B.ts - A.ts < INTERVAL '10' MINUTE",
        "B.ts - A.ts = INTERVAL '6' MINUTE",
        "B.ts < A.ts + INTERVAL '7' MINUTE AND B.ts > A.ts + INTERVAL '300' SECOND",
        "B.ts < A.ts + INTERVAL '1' MONTH",
        "B.ts - FIRST(ts) <= INTERVAL 6 MINUTES",
        "unix_timestamp(B.ts) - unix_timestamp(A.ts) = 360",
        "timestampdiff(MINUTE, DATE '2024-01-01', B.ts) - 6 = timestampdiff(MINUTE, DATE '2024-01-01', A.ts)",
        "B.ntz - A.ntz < INTERVAL '0 00:06:01' DAY TO SECOND",
        "B.ntz > A.ntz AND B.ntz = B.ts",
        "B.iv - A.iv = INTERVAL '1' HOUR",
        "B.iv > A.iv",
        "B.bin > A.bin",
        "size(B.arr) = 2 AND B.arr[0] = A.arr[1]",
        "B.st.a > A.st.a AND B.st.b.c = '2'",
        "B.mp['k'] = A.mp['k'] + 1",
        "B.fl > A.fl",
        "B.ti > A.ti AND B.si > A.si AND B.bi > A.bi",
        "B.bo AND NOT A.bo",
        "B.bo <> A.bo",
        "B.nu IS NULL AND A.nu IS NULL",
        "coalesce(A.nu, 'x') = 'x' AND B.id > A.id",
        "B.wide > 1 AND A.wide < 2",
        "A.id * 1.0 < B.id AND A.id < B.fl",
        "max(ts) = B.ts AND min(d) = A.d AND max(bin) = B.bin",
        "B.id / A.id = 2 AND B.id % A.id = 0 AND B.id DIV A.id = 2",
    ],
)
def test_conditions_between_rows(spark: SparkSession, condition: str) -> None:
    """Rows 1 and 2, under a condition that holds for them."""
    text = f"""SELECT * FROM {{f}} MATCH_RECOGNIZE (ORDER BY id MEASURES A.id AS a, B.id AS b PATTERN (^ A B)
        DEFINE B AS {condition})"""
    assert rows(trellis.sql(text, f=spark.sql(_TYPED))) == [(1, 2)]


@pytest.mark.parametrize(
    "condition",
    [
        "B.arr > A.arr",
        "B.id > A.nu",
        "B.mp = A.mp",
        "B.ts > A.id",
        "B.id",
        "B.id + A.id",
        "nothing(B.id) > A.id",
        "upper(B.id, 1) = 'x'",
        "B.st.nothing = 1",
        "B.id > (SELECT nothing FROM nowhere)",
    ],
)
def test_conditions_that_cannot_be_held_are_refused_at_once(spark: SparkSession, condition: str) -> None:
    text = f"SELECT * FROM {{f}} MATCH_RECOGNIZE (ORDER BY id PATTERN (^ A B) DEFINE B AS {condition})"
    with pytest.raises(TrellisError):
        trellis.sql(text, f=spark.sql(_TYPED))


# ------------------------------------------------------------------------------------------------------------ WITHIN


@connect
@pytest.mark.parametrize(
    ("key", "width", "expected"),
    [
        # ts is 0, 10, 20, 20.000001 and 30 minutes after midnight.
        ("ts", "INTERVAL '10' MINUTE", [2, 3]),
        ("ts", "INTERVAL '20' MINUTE", [3, 2]),
        ("ts", "INTERVAL '0 00:10:00' DAY TO SECOND", [2, 3]),
        ("ts", "INTERVAL 10 MINUTES", [2, 3]),
        ("ts", "INTERVAL '9' MINUTE", [1, 1, 2, 1]),
        ("ntz", "INTERVAL '20' MINUTE", [3, 2]),
        ("ts DESC", "INTERVAL '10' MINUTE", [3, 2]),
        # d is January 31, February 29, March 1, March 31 and April 1.
        ("d", "INTERVAL '1' MONTH", [2, 3]),
        ("d", "INTERVAL '1' DAY", [1, 2, 2]),
        ("d", "INTERVAL '23' HOUR", [1, 1, 1, 1, 1]),
        ("d", "INTERVAL '1' YEAR", [5]),
        # dec is 0.7, 0.8, 0.9, 1.1 and 1.2, where 0.7 + 0.1 is 0.8.
        ("dec", "0.1", [2, 1, 2]),
        ("id", "1", [2, 2, 1]),
        ("big", "1", [2, 2, 1]),
        # Beside the digits of a bigint there is no room for those of this width.
        ("big", "0.9999999999999999999999999999", [1, 1, 1, 1, 1]),
    ],
)
def test_within(spark: SparkSession, key: str, width: str, expected: list[int]) -> None:
    frame = spark.sql("""SELECT id, ts, CAST(ts AS TIMESTAMP_NTZ) AS ntz, d, dec, 9007199254740992 + id AS big
        FROM VALUES
        (1, TIMESTAMP '2024-01-01 00:00:00', DATE '2024-01-31', CAST(0.7 AS DECIMAL(4, 2))),
        (2, TIMESTAMP '2024-01-01 00:10:00', DATE '2024-02-29', 0.8),
        (3, TIMESTAMP '2024-01-01 00:20:00', DATE '2024-03-01', 0.9),
        (4, TIMESTAMP '2024-01-01 00:20:00.000001', DATE '2024-03-31', 1.1),
        (5, TIMESTAMP '2024-01-01 00:30:00', DATE '2024-04-01', 1.2) AS v(id, ts, d, dec)""")
    text = f"""SELECT n FROM {{f}} MATCH_RECOGNIZE (ORDER BY {key} MEASURES MATCH_NUMBER() AS k, count(*) AS n
        PATTERN (A+) WITHIN {width}) ORDER BY k"""
    assert [n for (n,) in rows(trellis.sql(text, f=frame))] == expected


def test_within_that_does_not_fit_the_key(spark: SparkSession) -> None:
    for key, width in (("id", "INTERVAL '1' DAY"), ("ts", "5"), ("bo", "1"), ("nu", "1")):
        with pytest.raises(BindingError):
            text = f"SELECT * FROM {{f}} MATCH_RECOGNIZE (ORDER BY {key} PATTERN (A+) WITHIN {width})"
            trellis.sql(text, f=spark.sql(_TYPED))


# ------------------------------------------------------------------------------------------------- found by reviewers


@connect(thorough=True)
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("levenshtein(PREV(coalesce(s, 'abd'), 2), LAST(A.s)) >= 0", [(2, 3)]),
        ("concat(PREV(coalesce(s, 'q'), 2), LAST(A.s)) IS NULL", [(1, 2)]),
        ("levenshtein(A.s, B.s) < 2", [(1, 2)]),
    ],
)
def test_functions_of_two_rows_where_a_row_does_not_exist(
    spark: SparkSession, condition: str, expected: list[tuple[int, int]]
) -> None:
    schema = "t int, s string, `q``r` map<string, int>"
    frame = spark.createDataFrame([(1, "abc", {"a": 1}), (2, "abd", {}), (3, "xyz", {})], schema)
    text = f"""SELECT * FROM {{f}} MATCH_RECOGNIZE (
        ORDER BY t MEASURES FIRST(t) AS a, LAST(t) AS b PATTERN (A B) DEFINE B AS {condition})"""
    assert rows(trellis.sql(text, f=frame)) == expected


@connect_thorough
def test_braces_in_literals_are_text(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "{n}")], "t int, s string")
    text = """SELECT * FROM {n} MATCH_RECOGNIZE (
        ORDER BY t MEASURES '{n}' AS c, :p AS e PATTERN (A) DEFINE A AS s = '{n}' AND t < :p) WHERE c = '{n}'"""
    assert rows(trellis.sql(text, n=frame, args={"p": 5})) == [("{n}", 5)]
    with pytest.raises(BindingError, match="names"):
        trellis.sql("SELECT 1", spark=spark, args=[1])  # type: ignore[arg-type]


@connect
def test_names_of_keys_that_are_no_columns(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, (7,), 3, 99)], "t int, st struct<a: int>, a int, order_1 int")
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (
        PARTITION BY st.a, a ORDER BY t + 1 MEASURES count(*) AS n ALL ROWS PER MATCH PATTERN (A))"""
    result = trellis.sql(text, f=frame)
    assert result.columns == ["a_", "a", "order_1_", "n", "t", "st", "order_1"]
    assert rows(result) == [(7, 3, 2, 1, 1, (7,), 99)]


@connect_thorough
@pytest.mark.parametrize(
    ("first", "second", "found"), [("0.00000004", "1.00000004", 1), ("0.00000006", "1.00000009", 0)]
)
def test_within_on_many_decimals(spark: SparkSession, first: str, second: str, found: int) -> None:
    text = f"""SELECT * FROM VALUES (CAST({first} AS DECIMAL(18, 8))), (CAST({second} AS DECIMAL(18, 8))) AS v(t)
        MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n PATTERN (A B) WITHIN 1)"""
    assert len(rows(trellis.sql(text, spark=spark))) == found


@connect_thorough
def test_divisions_of_other_rows_wait(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 1, 2), (2, 2, 0), (3, 4, 2)], "t int, x int, y int")
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (
        ORDER BY t MEASURES A.t AS a, SUM(A.x / :p) AS m PATTERN (A B) DEFINE A AS y > 0, B AS LAST(A.x / A.y) < 5)"""
    assert rows(trellis.sql(text, f=frame, args={"p": 2})) == [(1, 0.5)]


@connect_thorough
def test_large_offsets(spark: SparkSession) -> None:
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (ORDER BY id MEASURES count(*) AS n PATTERN (A+ B)
        DEFINE B AS coalesce(LAST(A.id, 100000), 1) > 0 AND FIRST(A.id, 1000000) IS NULL)"""
    assert rows(trellis.sql(text, f=spark.range(50))) == [(50,)]


@connect_thorough
def test_zeros_of_both_signs_are_one_value_beside_another(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 0.0, "a"), (2, -0.0, "a"), (3, 1.0, "a")], "t int, x double, s string")
    text = """SELECT * FROM {f} MATCH_RECOGNIZE (
        ORDER BY t MEASURES count(DISTINCT x, s) AS n PATTERN (A+) DEFINE A AS count(DISTINCT x, s) < 3)"""
    assert rows(trellis.sql(text, f=frame)) == [(2,)]
