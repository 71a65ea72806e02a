"""Workloads without Spark: the same parser, binder, planner, worker and kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from local import Row, evaluate, sorted_rows, source_of
from trellis.algebra.plan import Plan
from trellis.algebra.shared_tree import SharedTree
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.task import MatchTask
from trellis.execution.workloads.observing import observe_table
from trellis.languages.workloads import parse_workload
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.workloads.adapting import adaptive_plan
from trellis.planning.workloads.adaptive import AdaptivePlan
from trellis.planning.workloads.before import before_workload
from trellis.planning.workloads.bound import bind_workload
from trellis.planning.workloads.plan import SearchOptions, plan_workload
from trellis.planning.workloads.sampling import sample_of
from trellis.planning.workloads.scan import scan_plan
from trellis.planning.workloads.statistics import WorkloadStatistics


def plan_patterns(
    patterns: Mapping[str, str],
    schema: Sequence[tuple[str, str]],
    partition_by: tuple[str, ...] = (),
    time: Sequence[str] = ("time",),
    options: SearchOptions | None = None,
    statistics: WorkloadStatistics | None = None,
    **hints: object,
) -> Plan:
    """The plan of a workload."""
    return plan_adaptive(patterns, schema, partition_by, time, options, statistics, **hints)[0]


def plan_adaptive(
    patterns: Mapping[str, str],
    schema: Sequence[tuple[str, str]],
    partition_by: tuple[str, ...] = (),
    time: Sequence[str] = ("time",),
    options: SearchOptions | None = None,
    statistics: WorkloadStatistics | None = None,
    **hints: object,
) -> tuple[Plan, AdaptivePlan | None]:
    """The plan of a workload, and what plans it anew."""
    asked = Hints.of(hints)
    queries = {one.name: one.query for one in parse_workload(patterns, "type", time)}
    source, rules = source_of(schema), Firing(frozenset(asked.off))
    workload = bind_workload(queries, partition_by, source, rules.off)
    before = before_workload(workload, source, asked, rules)
    planned = plan_workload([one.clause for one in workload.clauses], statistics or WorkloadStatistics(), options)
    return scan_plan(workload, planned.tree(), before, asked), adaptive_plan(workload, planned)


def run_plan(plan: Plan, rows: Sequence[Row], schema: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """What a plan finds, in order of partitions."""
    table = sorted_rows(plan, rows, schema)
    matched: list[dict[str, Any]] = []
    for batch in MatchTask(plan.scan)(table.to_batches(max_chunksize=1000)):
        matched.extend(batch.to_pylist())
    return [{name: evaluate(expression, row) for name, expression in plan.finished} for row in matched]


def observed_statistics(
    patterns: Mapping[str, str],
    rows: Sequence[Row],
    schema: Sequence[tuple[str, str]],
    partition_by: tuple[str, ...] = (),
    time: Sequence[str] = ("time",),
) -> WorkloadStatistics:
    """What a look at rows tells of them."""
    queries = {one.name: one.query for one in parse_workload(patterns, "type", time)}
    source, rules, hints = source_of(schema), Firing(frozenset()), Hints()
    workload = bind_workload(queries, partition_by, source, rules.off)
    plan = scan_plan(workload, SharedTree((), ()), before_workload(workload, source, hints, rules), hints)
    assert isinstance(plan.scan, WorkloadScan)
    return sample_of(workload).statistics(observe_table(plan.scan, sorted_rows(plan, rows, schema)))
