"""Errors of workers, wherever an action meets them: one sentence with partition and row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trellis as tr
from trellis.cli import main
from trellis.errors import DataError, ResourceError, TrellisError, raising_worker_errors, worker_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.connect(thorough=True)

KEYS = "PARTITION BY symbol ORDER BY ts MEASURES first(ts) AS start, last(ts) AS end"
FAILING: list[tuple[str, type[TrellisError], str]] = [
    (
        "PATTERN ((A | B)+ C) DEFINE C AS sum(A.price) + sum(B.price) < 0",
        ResourceError,
        "The search was given up after 50 steps in one partition, at row 1 of the partition ('x').",
    ),
    (
        "AFTER MATCH SKIP TO FIRST B PATTERN (A B?) DEFINE B AS price > 100",
        DataError,
        "AFTER MATCH SKIP TO FIRST B is impossible: the match at row 1 of the partition ('x') has no such row.",
    ),
    (
        "PATTERN (A B) DEFINE B AS A.price / (B.price - 8) > 1",
        DataError,
        "A condition divides by zero at row 2 of the partition ('x').",
    ),
    (
        "PATTERN (A B) DEFINE B AS A.large * B.large > 0",
        DataError,
        "A number is too large for its type at row 2 of the partition ('x').",
    ),
]


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    rows = [("x", number, price, 2**40) for number, price in enumerate([10, 8, 9, 7, 11, 6, 12])]
    return spark.createDataFrame(rows, "symbol string, ts int, price int, large bigint")


def matched(ticks: DataFrame, clause: str) -> DataFrame:
    text = f"SELECT * FROM {{ticks}} MATCH_RECOGNIZE ({clause})"
    return tr.sql(text, ticks=ticks, hints={"step_budget": 50})


@pytest.mark.connect
@pytest.mark.parametrize(("clause", "kind", "problem"), FAILING)
def test_a_collected_error(ticks: DataFrame, clause: str, kind: type[TrellisError], problem: str) -> None:
    clause = f"{KEYS} {clause}"
    with pytest.raises(Exception) as caught:
        matched(ticks, clause).collect()
    found = worker_error(caught.value)
    assert type(found) is kind
    assert found.problem == problem
    assert found.cure is not None and "\n" not in found.cure
    with pytest.raises(kind) as shown:
        tr.explain(
            f"SELECT * FROM {{ticks}} MATCH_RECOGNIZE ({clause})", ticks=ticks, hints={"step_budget": 50}, analyze=True
        )
    assert shown.value.problem == problem


@pytest.mark.connect
@pytest.mark.parametrize(
    "act",
    [
        lambda frame: frame.count(),
        lambda frame: frame.show(),
        lambda frame: frame.toPandas(),
        lambda frame: frame.toArrow(),
        lambda frame: list(frame.toLocalIterator()),
        lambda frame: frame.write.format("noop").mode("overwrite").save(),
        lambda frame: frame.groupBy("symbol").count().orderBy("symbol").collect(),
    ],
    ids="count show toPandas toArrow toLocalIterator write grouped".split(),
)
def test_every_action(ticks: DataFrame, act: Callable[[DataFrame], Any]) -> None:
    clause, kind, problem = FAILING[2]
    with pytest.raises(kind) as caught, raising_worker_errors():
        act(matched(ticks, f"{KEYS} {clause}"))
    assert caught.value.problem == problem


def test_the_builder_explains(ticks: DataFrame) -> None:
    pattern = tr.pattern("A B").define(B="A.price / (B.price - 8) > 1")
    with pytest.raises(DataError, match=r"^A condition divides by zero at row 2 of the partition \('x'\)\."):
        pattern.explain(ticks, partition_by="symbol", order_by="ts", analyze=True)


def test_the_sample_of_a_segment_query_reads_a_failing_match(ticks: DataFrame) -> None:
    failing = matched(ticks, f"{KEYS} {FAILING[2][0]}")
    pattern = tr.pattern("W").define_segments(W="window(1, 2) AND last(W.start) > 0")
    with pytest.raises(DataError, match=r"^A condition divides by zero at row 2 of the partition \('x'\)\."):
        pattern.explain(failing, partition_by="symbol", order_by="start")


def test_a_picture(ticks: DataFrame, tmp_path: Path) -> None:
    clause, kind, problem = FAILING[2]
    with pytest.raises(kind) as caught:
        tr.plot(matched(ticks, f"{KEYS} {clause}"), ticks, x="ts", y="price", by="symbol", path=tmp_path / "a.html")
    assert caught.value.problem == problem


def test_the_command_line(ticks: DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "ticks.csv"
    table.write_text("symbol,ts,price\nx,1,10\nx,2,8\n")
    query = f"SELECT * FROM ticks MATCH_RECOGNIZE ({KEYS} {FAILING[2][0]})"
    assert main(["run", "--sql", query, "--table", f"ticks={table}"]) == 3
    said = capsys.readouterr().err.strip()
    assert said == f"trellis: {FAILING[2][2]}\nGuard it with NULLIF(divisor, 0)."


def test_without_statistics_no_sample_is_taken(ticks: DataFrame) -> None:
    failing = matched(ticks, f"{KEYS} {FAILING[2][0]}")
    pattern = tr.pattern("W").define_segments(W="window(1, 2) AND last(W.start) > 0")
    explained = pattern.explain(failing, partition_by="symbol", order_by="start", hints={"statistics": "off"})
    assert "statistics are off, so no sample was taken" in explained
