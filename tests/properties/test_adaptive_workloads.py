"""Random workloads whose plan changes after every few rows: they find what the definition finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from local import Row, evaluate, sorted_rows, source_of
from local_workloads import plan_adaptive
from properties.test_workloads import SCHEMA, expected, found, said
from trellis.algebra.observed import Observed
from trellis.algebra.plan import Plan
from trellis.algebra.workload_scan import JoinSpec, WorkloadScan
from trellis.algebra.workload_scan import TestSpec as ConditionSpec
from trellis.execution.chunks import read_chunks
from trellis.execution.workloads.adapting import Adapt
from trellis.execution.workloads.matcher import WorkloadMatcher
from trellis.languages.workloads import parse_workload
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.workloads.adaptive import AdaptivePlan
from trellis.planning.workloads.before import before_workload
from trellis.planning.workloads.bound import bind_workload
from trellis.planning.workloads.plan import STRATEGIES, SearchOptions, plan_workload
from trellis.planning.workloads.replanning import Replanner
from trellis.planning.workloads.scan import scan_plan
from trellis.planning.workloads.statistics import WorkloadStatistics
from workload_cases import TIME, Case, cases


@dataclass
class InTurn:
    """Gives plans that were made before, in turn."""

    plans: Sequence[WorkloadScan]
    given: int = 0

    def __call__(self, scan: WorkloadScan) -> InTurn:
        return self

    def better(self, observed: Observed, least: float, seconds: float) -> tuple[WorkloadScan, float]:
        self.given += 1
        return self.plans[self.given % len(self.plans)], 1.0


@dataclass
class AtRandom:
    """Plans anew for whatever could have been seen."""

    adaptive: AdaptivePlan
    random: Random
    replanner: Replanner = field(init=False)

    def __call__(self, scan: WorkloadScan) -> AtRandom:
        self.replanner = self.adaptive(scan)
        return self

    def better(self, observed: Observed, least: float, seconds: float) -> tuple[WorkloadScan, float] | None:
        random = self.random
        seen = replace(
            observed,
            rows=1000,
            counts=tuple(random.randrange(500) for _ in observed.counts),
            tried=tuple(100.0 for _ in observed.tried),
            held=tuple(random.uniform(0.0, 100.0) for _ in observed.held),
        )
        return self.replanner.better(seen, float("-inf"), float("inf"))


def run_adaptive(plan: Plan, adapt: Adapt, rows: Sequence[Row], stretch: int) -> list[dict[str, Any]]:
    """What a plan finds that is changed as often as possible."""
    assert isinstance(plan.scan, WorkloadScan)
    matcher = WorkloadMatcher(plan.scan, adapt)
    assert matcher.adapter is not None
    matcher.stretch, matcher.adapter.share = stretch, 1e12
    batches = sorted_rows(plan, rows, SCHEMA).to_batches(max_chunksize=1000)
    chunks = read_chunks(iter(batches), plan.scan.keys, plan.scan.chunk_rows)
    matched = [row for chunk in chunks for batch in matcher.run(chunk) for row in batch.to_pylist()]
    return [{name: evaluate(one, row) for name, one in plan.finished} for row in matched]


options = st.builds(
    SearchOptions,
    strategy=st.sampled_from(STRATEGIES),
    left_deep=st.booleans(),
    seconds=st.just(5.0),
    steps=st.just(20),
    seed=st.integers(0, 3),
)
stretches = st.sampled_from((1, 2, 3))


@given(cases(), st.lists(options, min_size=2, max_size=4), st.integers(0, 1000), stretches)
def test_any_plan_may_follow_any_other(case: Case, several: list[SearchOptions], seed: int, stretch: int) -> None:
    case = replace(case, patterns=tuple(map(said, case.patterns)))
    queries = {one.name: one.query for one in parse_workload(case.texts, "type", TIME)}
    source, rules, hints = source_of(SCHEMA), Firing(frozenset()), Hints()
    workload = bind_workload(queries, case.partition_by, source, rules.off)
    before = before_workload(workload, source, hints, rules)
    random = Random(seed)
    made = []
    for one in several:
        rates = WorkloadStatistics({kind: random.uniform(0.01, 3.0) for kind in "ABC"})
        planned = plan_workload([clause.clause for clause in workload.clauses], rates, one)
        made.append(scan_plan(workload, planned.tree(), before, hints))
    # The last one knows the windows of all.
    scans = [one.scan for one in made if isinstance(one.scan, WorkloadScan)]
    last = scans[-1]
    for scan in scans:
        # No plan changes what matches look like.
        assert [replace(root, node=0) for root in scan.roots] == [replace(root, node=0) for root in last.roots]
        assert scan.windows == last.windows[: len(scan.windows)]
        assert scan.conditions == last.conditions
    rows = run_adaptive(made[-1], InTurn(scans), case.rows, stretch)
    assert found(rows) == expected(case)


@given(cases(), options, st.integers(0, 1000), stretches)
def test_workers_plan_anew(case: Case, options: SearchOptions, seed: int, stretch: int) -> None:
    case = replace(case, patterns=tuple(map(said, case.patterns)))
    plan, adaptive = plan_adaptive(case.texts, SCHEMA, case.partition_by, TIME, replace(options, strategy="tabu"))
    assert adaptive is not None
    rows = run_adaptive(plan, AtRandom(adaptive, Random(seed)), case.rows, stretch)
    assert found(rows) == expected(case)


@given(cases(), options)
def test_workers_know_the_plan_as_it_is(case: Case, options: SearchOptions) -> None:
    case = replace(case, patterns=tuple(map(said, case.patterns)))
    plan, adaptive = plan_adaptive(case.texts, SCHEMA, case.partition_by, TIME, options)
    assert (adaptive is None) == (options.strategy not in ("annealing", "tabu", "reordering"))
    if adaptive is not None:
        assert isinstance(plan.scan, WorkloadScan)
        symmetric = {
            test.condition
            for one in adaptive.clauses
            for condition, test in zip(one.clause.conditions, one.tests, strict=True)
            if condition.symmetric
        }
        assert _joined(adaptive(plan.scan).scan(), symmetric) == _joined(plan.scan, symmetric)


def _joined(scan: WorkloadScan, symmetric: set[int]) -> list[object]:
    """The nodes of a plan, without the order of their tests, nor of the slots of what is the same either way round."""
    return [
        replace(node, tests=tuple(sorted((_sorted(test, symmetric) for test in node.tests), key=repr)))
        if isinstance(node, JoinSpec)
        else node
        for node in scan.nodes
    ]


def _sorted(test: ConditionSpec, symmetric: set[int]) -> ConditionSpec:
    if test.condition not in symmetric:
        return test
    slots = sorted(operand.slot for operand in test.operands)
    return replace(
        test, operands=tuple(replace(one, slot=slot) for one, slot in zip(test.operands, slots, strict=True))
    )
