"""Many threads of one session for some minutes: random queries against the oracle, beside queries that fail on purpose.

What other tests cannot show: that a query is right whatever else its session does, and that no worker is lost when
the tasks of another query fail and are killed. TRELLIS_STRESS_SECONDS sets how long it runs. Each run draws other
queries; TRELLIS_STRESS_SEED repeats the draw of an earlier one.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from pyspark.sql import DataFrame, SparkSession

import naive
import trellis
from naive import NaiveQuery
from properties.render import render_clause
from properties.strategies import SCHEMA, Case, cases, unordered_measures
from properties.test_matcher import assert_same

SECONDS = float(os.environ.get("TRELLIS_STRESS_SECONDS", "240"))
SEED = int(os.environ.get("TRELLIS_STRESS_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
THREADS = 8
DRAWN = 500
FAILING = 0.2  # the share of queries that fail on purpose

SETTINGS = {
    # Two tasks and more for the smallest query: a task that fails has others beside it, which Spark kills.
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    # Without this, Spark may end the workers of all queries where one fails: see docs/cluster.md.
    "spark.sql.execution.interruptOnCancel": "false",
}

# Queries that fail, each with a part of its message: two in a Python worker, one in Spark before the match.
FAILURES = (
    ("B AS id / (LAST(A.id) - LAST(A.id)) > 1", "divides by zero", {}),
    ("A AS count(*) > 0, B AS sum(id) > count(A.id) + 1000000", "was given up after 100 steps", {"step_budget": 100}),
    ("B AS 1 / (id - id) > 1", "DIVIDE_BY_ZERO", {}),
)

DIED = "worker died"
WRONG = "wrong"
Outcome = tuple[str, str]  # what became of a query, and what there is to say about it


@pytest.fixture
def busy_session(spark: SparkSession) -> Iterator[SparkSession]:
    before = {name: spark.conf.get(name) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.mark.thorough
def test_threads_of_one_session(busy_session: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    drawn, failing = draw_cases(), failing_rows(busy_session)
    end = time.monotonic() + SECONDS

    def run_until_end(thread: int) -> list[Outcome]:
        choose = random.Random(f"{SEED} {thread}")
        outcomes = []
        while time.monotonic() < end:
            if choose.random() < FAILING:
                outcomes.append(outcome_of_failing(failing, *choose.choice(FAILURES)))
            else:
                outcomes.append(outcome_of_random(busy_session, *choose.choice(drawn)))
        return outcomes

    with ThreadPoolExecutor(THREADS) as threads:
        outcomes = [outcome for outcomes in threads.map(run_until_end, range(THREADS)) for outcome in outcomes]
    counts = Counter(kind for kind, _ in outcomes)
    with capsys.disabled():
        print(f"\n{len(outcomes)} queries of {THREADS} threads in {SECONDS:.0f} s (seed {SEED})")
        for kind, count in counts.most_common():
            print(f"{count:7} {kind}")
    assert not [text for kind, text in outcomes if kind in (WRONG, DIED)]
    assert counts["right"] > 0


def draw_cases() -> list[tuple[Case, list[dict[str, Any]] | None]]:
    """Random cases with the rows that the oracle finds, or None where it refuses the skip."""
    drawn: list[tuple[Case, list[dict[str, Any]] | None]] = []

    @seed(SEED)
    @settings(
        max_examples=DRAWN,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def draw(case: Case) -> None:
        try:
            drawn.append((case, naive.run(*case, limit=20_000)))
        except naive.SkipError:
            drawn.append((case, None))
        except naive.TooManyCandidates:
            pass

    draw()
    return drawn


def failing_rows(spark: SparkSession) -> DataFrame:
    """Rows of many partitions, so that several tasks fail."""
    return spark.range(0, 2_000, 1, 4).selectExpr("CAST(id AS INT) AS id", "CAST(id % 16 AS INT) AS k")


def outcome_of_failing(rows: DataFrame, define: str, message: str, hints: dict[str, Any]) -> Outcome:
    clause = f"PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN (A+ B) DEFINE {define}"
    text = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({clause})"

    def judge(found: list[dict[str, Any]]) -> Outcome:
        return WRONG, f"{text}\nfound {len(found)} rows, but should fail"

    return outcome(text, rows, hints, judge, message)


def outcome_of_random(spark: SparkSession, case: Case, expected: list[dict[str, Any]] | None) -> Outcome:
    rows, columns, query = case
    frame = spark.createDataFrame([tuple(row[name] for name in columns) for row in rows], SCHEMA)
    text = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({render_clause(query)})"

    def judge(found: list[dict[str, Any]]) -> Outcome:
        if expected is None:
            return WRONG, f"{text}\nfound {len(found)} rows, but its skip is impossible"
        try:
            assert_same(in_order(found, query), expected, sorted(unordered_measures(query)))
        except AssertionError as error:
            return WRONG, f"{text}\n{rows}\n{error}"
        return "right", ""

    return outcome(text, frame, {}, judge, "AFTER MATCH SKIP" if expected is None else None)


def outcome(
    text: str,
    rows: DataFrame,
    hints: dict[str, Any],
    judge: Callable[[list[dict[str, Any]]], Outcome],
    message: str | None,
) -> Outcome:
    """Run a query; a failure is as wanted if it carries the message."""
    try:
        found = [row.asDict() for row in trellis.sql(text, rows=rows, hints=hints).collect()]
    except Exception as error:
        if "Python worker exited unexpectedly" in str(error):
            return DIED, f"{text}\n{error}"
        if message is None or message not in str(error):
            return WRONG, f"{text}\n{error}"
        return f"failed as wanted: {message}", ""
    return judge(found)


def in_order(found: list[dict[str, Any]], query: NaiveQuery) -> list[dict[str, Any]]:
    """Spark gives the partitions in any order, and the rows of each in theirs."""
    return sorted(found, key=lambda row: [(row[name] is not None, row[name]) for name in query.partition_by])
