"""Planning looks at a large table once: what it found is remembered for the session, until the table changes."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from weakref import WeakKeyDictionary

import pytest

import trellis as tr
from trellis.spark import remembered, statistics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CLAUSE = """
    PARTITION BY k ORDER BY t MEASURES A.t AS a, count(*) AS n
    PATTERN (A Z* B) WITHIN 10
    DEFINE A AS v = 1, B AS v = :last AND B.w > A.w
"""


@pytest.fixture(autouse=True)
def every_table_is_large() -> Iterator[None]:
    with mock.patch.object(statistics, "_SMALL", -1):
        yield


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the jobs that statistics run, from here on."""
    jobs: list[str] = []

    def listed(name: str, place: Any) -> None:
        real = getattr(place, name)

        def counted(*args: Any) -> Any:
            jobs.append(name)
            return real(*args)

        monkeypatch.setattr(place, name, counted)

    listed("_size", statistics)
    listed("count", statistics._Sample)
    listed("_shares_together", statistics)
    return jobs


def write(spark: SparkSession, path: Path, rows: int) -> str:
    spark.range(rows).selectExpr("id AS t", "id % 3 AS k", "id % 7 AS v", "hash(id) AS w").write.mode(
        "overwrite"
    ).parquet(str(path))
    return str(path)


def plan(frame: DataFrame, clause: str = CLAUSE, last: int = 2, **hints: object) -> str:
    """The plan as text, without how long rules took."""
    text = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    explained = tr.explain(text, t=frame, args={"last": last}, hints={"prefilter": "always", **hints})
    return re.sub(r" \(\d+\.\d s\)", "", explained)


@pytest.mark.connect(thorough=True)
def test_the_same_query_looks_once(spark: SparkSession, tmp_path: Path, asked: list[str]) -> None:
    path = write(spark, tmp_path / "t", 3_000)
    first = plan(spark.read.parquet(path))
    assert asked == ["_size", "count", "_shares_together"]
    assert "* joins" in first or "* masks" in first
    assert plan(spark.read.parquet(path)) == first
    assert len(asked) == 3


@pytest.mark.connect(thorough=True)
def test_another_query_reads_the_column_no_more(spark: SparkSession, tmp_path: Path, asked: list[str]) -> None:
    frame = spark.read.parquet(write(spark, tmp_path / "t", 3_000))
    plan(frame)
    asked.clear()
    plan(frame, CLAUSE.replace("v = 1", "v = 5"))
    assert "_size" not in asked and "count" in asked
    asked.clear()
    plan(frame, last=4)  # the same text, another question
    assert "_size" not in asked and "count" in asked
    asked.clear()
    plan(frame, CLAUSE.replace("ORDER BY t", "ORDER BY w"))
    assert "_size" in asked


@pytest.mark.connect(thorough=True)
def test_a_changed_table_is_looked_at_again(spark: SparkSession, tmp_path: Path, asked: list[str]) -> None:
    path = write(spark, tmp_path / "t", 3_000)
    before = plan(spark.read.parquet(path))
    write(spark, tmp_path / "t", 60_000)
    asked.clear()
    after = plan(spark.read.parquet(path))
    assert asked == ["_size", "count", "_shares_together"]
    assert before != after


@pytest.mark.connect(thorough=True)
def test_other_rows_of_the_same_table(spark: SparkSession, tmp_path: Path, asked: list[str]) -> None:
    frame = spark.read.parquet(write(spark, tmp_path / "t", 3_000))
    plan(frame)
    asked.clear()
    plan(frame.where("k > 0"))
    assert asked == ["_size", "count", "_shares_together"]


@pytest.mark.connect(thorough=True)
def test_switched_off_nothing_is_asked(spark: SparkSession, tmp_path: Path, asked: list[str]) -> None:
    plan(spark.read.parquet(write(spark, tmp_path / "t", 3_000)), statistics="off")
    assert asked == []


@pytest.mark.connect(thorough=True)
def test_what_a_subquery_reads_may_change(spark: SparkSession, tmp_path: Path, asked: list[str]) -> None:
    frame = spark.read.parquet(write(spark, tmp_path / "t", 3_000))
    clause = CLAUSE.replace("PARTITION BY k", "PARTITION BY k + (SELECT max(id) FROM range(3))")
    plan(frame, clause)
    asked.clear()
    plan(frame, clause)
    assert "count" in asked


def test_jobs_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """The same, counted by Spark."""
    frame = spark.read.parquet(write(spark, tmp_path / "t", 3_000))
    tracker = spark.sparkContext.statusTracker()

    def jobs() -> int:
        before = set(tracker.getJobIdsForGroup())
        plan(frame)
        return len(set(tracker.getJobIdsForGroup()) - before)

    assert jobs() >= 3
    assert jobs() == 0


# ---- the memory itself ----


class Session:
    """Stands for a session of Spark."""


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> WeakKeyDictionary[Any, dict[bytes, object]]:
    memory: WeakKeyDictionary[Any, dict[bytes, object]] = WeakKeyDictionary()
    monkeypatch.setattr(remembered, "_known", memory)
    return memory


def test_each_session_has_its_own_answers(known: WeakKeyDictionary[Any, dict[bytes, object]]) -> None:
    one: Any = Session()
    other: Any = Session()
    assert remembered.remembered(one, "q", lambda: 1) == 1
    assert remembered.remembered(one, "q", lambda: 2) == 1
    assert remembered.remembered(other, "q", lambda: 3) == 3
    del one
    gc.collect()
    assert len(known) == 1


def test_what_was_not_wanted_for_longest_goes(
    known: WeakKeyDictionary[Any, dict[bytes, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "_MOST", 2)
    session: Any = Session()
    for question in ("a", "b", "a", "c"):
        remembered.remembered(session, question, lambda: 1)
    assert len(known[session]) == 2
    assert remembered.remembered(session, "a", lambda: 2) == 1
    assert remembered.remembered(session, "b", lambda: 2) == 2


def test_a_failure_is_not_remembered(known: WeakKeyDictionary[Any, dict[bytes, object]]) -> None:
    session: Any = Session()

    def fail() -> int:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        remembered.remembered(session, "q", fail)
    assert remembered.remembered(session, "q", lambda: 1) == 1
