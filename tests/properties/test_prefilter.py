"""The rules that drop or cut rows before the match, through Spark, against the oracle: they must never show."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import SparkSession

import naive
import trellis
from naive import NaiveQuery, Row
from naive_prefilter import kinds_of, may_eliminate, may_prefilter, mentions, must_keep, names_in, noise
from properties.prefilter_strategies import (
    COLUMNS,
    Case,
    from_key,
    partitioned_cases,
    reads,
    unpartitioned_cases,
)
from properties.test_matcher import assert_same

pytestmark = pytest.mark.spark

Hints = dict[str, Any]
RULES = ("prefilter", "eliminate_rows", "slices", "derive_window")

# Mostly nothing is off and everything is asked for: on so few rows no rule would fire by its own choice.
hints: SearchStrategy[Hints] = st.fixed_dictionaries(
    {
        "prefilter": st.sampled_from(("masks", "joins", "ranges", "always")),
        "slices": st.sampled_from((2, 3, 1, 4, 5, "auto")),
    },
    optional={
        "off": st.one_of(st.just([]), st.just([]), st.lists(st.sampled_from(RULES), unique=True)),
        "symbols": st.lists(st.sampled_from("ABCD"), min_size=1, max_size=3, unique=True),
    },
)


def times(share: int) -> settings:
    """A job takes long, so that only a share of the profile's examples is drawn; each has many tables."""
    return settings(
        max_examples=max(4, settings().max_examples // share),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


class Fresh:
    """Hypothesis draws most examples as variations of the one before, which is often the same query again.

    A job takes too long for that. Once something failed, every example must run: the same one again, and smaller ones.
    """

    def __init__(self) -> None:
        self.seen: set[NaiveQuery] = set()
        self.failed = self.counted = False

    def check(self, spark: SparkSession, case: Case, options: Hints) -> None:
        assume(self.failed or case.query not in self.seen)
        self.seen.add(case.query)
        # Most cases should have matches to lose.
        assume(self.failed or must_keep(case.rows, case.query) or len(self.seen) % 3 == 0)
        if self.counted:
            count(spark, case, options)
        try:
            check(spark, case, options)
        except Exception:
            self.failed = True
            raise


def run(spark: SparkSession, case: Case, options: Hints) -> list[dict[str, Any]]:
    """What Trellis finds, partitions by ascending key."""
    frame = spark.createDataFrame(case.tuples(), case.schema)
    found = trellis.sql(case.text, rows=frame, hints=options).collect()
    rows = [{name: from_key(value) for name, value in row.asDict().items()} for row in found]
    # Spark gives the partitions in any order, and the rows of each in theirs.
    return sorted(rows, key=lambda row: [(row[name] is not None, row[name]) for name in case.query.partition_by])


def check(spark: SparkSession, case: Case, options: Hints) -> None:
    """Trellis and the oracle must give the same rows, or both refuse the skip."""
    note(repr(case))  # shorter than what Hypothesis prints
    try:
        expected = naive.run(case.rows, COLUMNS, case.query)
    except naive.SkipError:
        event("skip refused")
        with pytest.raises(Exception, match="AFTER MATCH SKIP TO"):
            run(spark, case, options)
        return
    event(f"output rows: {'none' if not expected else 'some' if len(expected) < 10 else 'many'}")
    assert_same(run(spark, case, options), expected, ())


def count(spark: SparkSession, case: Case, options: Hints) -> None:
    """For the statistics: what was drawn, which rules fired, and how much they could do by definition."""
    explained = trellis.explain(case.text, rows=spark.createDataFrame([], case.schema), hints=options)
    rules = explained.split("== Rules ==")[-1].split("\n\n")[0]
    for name in RULES:
        event(f"{name} {'fired' if f'{name}:' in rules else 'did not fire'}")
    for fact in describe(case.query):
        event(fact)
    for name in ("prefilter", "slices"):
        event(f"{name}: {options.get(name)}")
    if may_eliminate(case.query, neighbours=True):
        event("rows could be eliminated" if noise(case.rows, case.query) else "no row to eliminate")
    if may_prefilter(case.query, neighbours=True):
        event("rows could be dropped" if len(must_keep(case.rows, case.query)) < len(case.rows) else "no row to drop")


def describe(query: NaiveQuery) -> list[str]:
    """What a query has, for the statistics of a run."""
    found = ["within" if query.within is not None else "no within", query.rows_per_match, query.skip[0]]
    if any(mentions(expr, "PREV", "NEXT") for _, expr in query.define):
        found.append("neighbours in conditions")
    if any(reads(expr, "t") for _, expr in query.define):
        found.append("window in conditions")
    if any(set(names_in(expr)) - {None, name} for name, expr in query.define):
        found.append("conditions between rows")
    return found + [kind for kind in ("start", "end", "perm", "alt") if kind in set(kinds_of(query.pattern))]


def runs(rows: list[Row], query: NaiveQuery, limit: int) -> str:
    """Whether the oracle gets through these rows: "yes", "refused" (the skip) or "too much"."""
    try:
        naive.run(rows, COLUMNS, query, limit)
        must_keep(rows, query, limit)
    except naive.SkipError:
        return "refused"
    except naive.TooManyCandidates:
        return "too much"
    return "yes"


partitions, long_partitions = Fresh(), Fresh()


@pytest.fixture(scope="module", autouse=True)
def counted(pytestconfig: pytest.Config) -> None:
    """Count what was drawn if somebody wants to see it (--hypothesis-show-statistics): that plans every query twice."""
    partitions.counted = long_partitions.counted = pytestconfig.getoption("--hypothesis-show-statistics")


@times(10)
@given(case=partitioned_cases(), options=hints)
def test_partitions(spark: SparkSession, case: Case, options: Hints) -> None:
    outcomes = [runs(list(world), case.query, 5_000) for world in case.worlds]
    good = [number for number, outcome in enumerate(outcomes) if outcome == "yes"]
    # One refused skip ends the whole query, so such worlds run only where there is nothing else to see.
    chosen = good or [number for number, outcome in enumerate(outcomes) if outcome == "refused"]
    assume(chosen)
    partitions.check(spark, case.with_worlds(chosen), options)


@pytest.mark.thorough
@times(10)
@given(case=unpartitioned_cases(), options=hints)
def test_one_long_partition(spark: SparkSession, case: Case, options: Hints) -> None:
    assume(runs(case.rows, case.query, 40_000) != "too much")
    long_partitions.check(spark, case, options)
