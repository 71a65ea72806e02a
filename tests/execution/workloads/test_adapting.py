"""The plan of a workload follows its events where these change, and nowhere else."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from local import Row, sorted_rows
from local_workloads import observed_statistics, plan_adaptive
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.chunks import read_chunks
from trellis.execution.task import MatchTask
from trellis.execution.workloads.adapting import Adapt
from trellis.execution.workloads.loaded import LoadedChunk
from trellis.execution.workloads.matcher import WorkloadMatcher
from trellis.planning.workloads.plan import SearchOptions

SCHEMA = (("id", "int"), ("type", "string"), ("time", "int"), ("x", "int"), ("k", "int"))
# What is rare comes first in each plan.
PATTERNS = {
    "p": "PATTERN SEQ(A a, B b, C c, D d) WHERE { a.x < b.x AND c.x < d.x } WITHIN 60",
    "q": "PATTERN SEQ(A a, B b, C c) WHERE { a.x < b.x } WITHIN 60",
    "r": "PATTERN AND(B b, C c, D d) WHERE { c.x < d.x } WITHIN 40",
}
OPTIONS = SearchOptions(steps=50)


def stream(count: int, every: int | None = None, seed: int = 2) -> list[Row]:
    """Events of types with skewed rates; after `every` rows the types change places."""
    random = Random(seed)
    kinds, weights = list("ABCD"), [0.02, 0.02, 0.1, 0.86]
    rows = []
    for number in range(count):
        if every and number and number % every == 0:
            kinds = kinds[1:] + kinds[:1]
        kind = random.choices(kinds, weights)[0]
        rows.append({"id": number, "type": kind, "time": number, "x": random.randrange(50), "k": random.randrange(300)})
    return rows


class Searched:
    """A matcher that has looked at some rows, with all the time for planning that it wants."""

    def __init__(self, rows: Sequence[Row], adapt: bool = True, keys: tuple[str, ...] = ()) -> None:
        statistics = observed_statistics(PATTERNS, rows[:4000], SCHEMA, keys)
        plan, adaptive = plan_adaptive(PATTERNS, SCHEMA, keys, options=OPTIONS, statistics=statistics)
        assert isinstance(plan.scan, WorkloadScan)
        self.matcher = WorkloadMatcher(plan.scan, adaptive if adapt else None)
        if self.matcher.adapter is not None:
            self.matcher.adapter.share = 1e12
            self.matcher.stretch = 1000
        batches = sorted_rows(plan, rows, SCHEMA).to_batches()
        self.found: list[dict[str, Any]] = []
        for chunk in read_chunks(iter(batches), plan.scan.keys, plan.scan.chunk_rows):
            for batch in self.matcher.run(chunk):
                self.found += batch.to_pylist()

    def matches(self) -> list[str]:
        return sorted(map(str, self.found))


def test_a_plan_follows_rates() -> None:
    rows = stream(12_000, 4000)
    searched = Searched(rows)
    assert searched.matcher.rebuilt >= 2
    assert searched.matches() == Searched(rows, adapt=False).matches()


def test_without_drift_the_plan_stays() -> None:
    searched = Searched(stream(12_000))
    assert searched.matcher.rebuilt == 0
    assert searched.matcher.adapter is not None
    assert searched.found


def test_many_small_series() -> None:
    rows = stream(12_000, 4000)
    searched = Searched(rows, keys=("k",))
    assert searched.matches() == Searched(rows, adapt=False, keys=("k",)).matches()


def test_planning_takes_a_share_of_the_search() -> None:
    asked = []

    class Slow:
        def better(self, observed: object, least: float, seconds: float) -> None:
            asked.append(seconds)

    def slow(_: WorkloadScan) -> Slow:
        return Slow()

    plan, _ = plan_adaptive(PATTERNS, SCHEMA, options=OPTIONS)
    assert isinstance(plan.scan, WorkloadScan)
    matcher = WorkloadMatcher(plan.scan, slow)
    assert matcher.adapter is not None
    matcher.adapter.share = 0.0
    matcher.stretch = 100
    for chunk in read_chunks(iter(sorted_rows(plan, stream(1000), SCHEMA).to_batches()), (), 1 << 20):
        list(matcher.run(chunk))
    assert not asked


def test_plans_are_not_made_anew_where_that_is_not_wanted() -> None:
    for options in (SearchOptions(adapt=False), SearchOptions("none"), SearchOptions("sharing")):
        _, adaptive = plan_adaptive(PATTERNS, SCHEMA, options=options)
        assert adaptive is None


def test_the_task_travels() -> None:
    plan, adaptive = plan_adaptive(PATTERNS, SCHEMA, options=OPTIONS)
    task = pickle.loads(pickle.dumps(MatchTask(plan.scan, adapt=adaptive)))
    table = sorted_rows(plan, stream(2000), SCHEMA)
    rows = sum(batch.num_rows for batch in task(table.to_batches()))
    assert rows == sum(batch.num_rows for batch in MatchTask(plan.scan)(table.to_batches())) > 0


def test_stretches_are_short_where_rates_change() -> None:
    rows = stream(40_000, 8192)
    plan, adaptive = plan_adaptive(PATTERNS, SCHEMA, options=OPTIONS)
    assert isinstance(plan.scan, WorkloadScan)
    ends = _ends(plan.scan, adaptive, sorted_rows(plan, rows, SCHEMA))
    lengths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    # None has the events of two changes, and few have those of one.
    assert max(lengths) < 2 * 8192
    steady = _ends(plan.scan, adaptive, sorted_rows(plan, stream(40_000), SCHEMA))
    assert len(steady) <= 4 < len(ends)


def _ends(scan: WorkloadScan, adapt: Adapt | None, table: Any) -> list[int]:
    matcher = WorkloadMatcher(scan, adapt)
    adapter = matcher.adapter
    assert adapter is not None
    (chunk,) = read_chunks(iter(table.to_batches()), scan.keys, 1 << 20)
    adapter.open(LoadedChunk(matcher, scan, chunk))
    # As after some rows whose search took long.
    adapter.searched(1024, 10.0)
    ends = [0]
    while ends[-1] < table.num_rows:
        ends.append(adapter.end(ends[-1]))
        adapter.searched(ends[-1] - ends[-2], 0.0)
    return ends[1:]


def test_a_quick_search_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, adaptive = plan_adaptive(PATTERNS, SCHEMA, options=OPTIONS)
    assert isinstance(plan.scan, WorkloadScan)
    matcher = WorkloadMatcher(plan.scan, adaptive)
    assert matcher.adapter is not None
    looked = []
    monkeypatch.setattr(matcher.adapter.observer, "load", looked.append)
    stretches = []
    monkeypatch.setattr(matcher.adapter, "searched", lambda rows, _: stretches.append(rows))
    (chunk,) = read_chunks(iter(sorted_rows(plan, stream(40_000, 8192), SCHEMA).to_batches()), (), 1 << 20)
    list(matcher.run(chunk))
    assert not looked
    assert len(stretches) <= 3


@pytest.mark.parametrize("count", [0, 1, 5])
def test_few_rows(count: int) -> None:
    assert not Searched(stream(count)).matcher.rebuilt
