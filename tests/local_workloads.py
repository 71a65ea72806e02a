"""Workloads without Spark: the same parser, binder, planner, worker and kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from local import Row, evaluate, sorted_rows, source_of
from trellis.algebra.plan import Plan
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.task import MatchTask
from trellis.execution.workloads.observing import observe_table
from trellis.languages.workloads import parse_workload
from trellis.planning.hints import Hints
from trellis.planning.workloads.adapting import adaptive_plan
from trellis.planning.workloads.adaptive import AdaptivePlan
from trellis.planning.workloads.driver import draft_workload
from trellis.planning.workloads.plan import SearchOptions, plan_workload
from trellis.planning.workloads.sampling import sample_of
from trellis.planning.workloads.statistics import WorkloadStatistics


def plan_patterns(
    patterns: Mapping[str, str],
    schema: Sequence[tuple[str, str]],
    partition_by: tuple[str, ...] = (),
    time: Sequence[str] = ("time",),
    options: SearchOptions | None = None,
    statistics: WorkloadStatistics | None = None,
    *,
    watermark: str | None = None,
    **hints: object,
) -> Plan:
    """The plan of a workload; a stream has a `watermark`."""
    return plan_adaptive(patterns, schema, partition_by, time, options, statistics, watermark=watermark, **hints)[0]


def plan_adaptive(
    patterns: Mapping[str, str],
    schema: Sequence[tuple[str, str]],
    partition_by: tuple[str, ...] = (),
    time: Sequence[str] = ("time",),
    options: SearchOptions | None = None,
    statistics: WorkloadStatistics | None = None,
    *,
    watermark: str | None = None,
    **hints: object,
) -> tuple[Plan, AdaptivePlan | None]:
    """The plan of a workload, and what plans it anew."""
    queries = {one.name: one.query for one in parse_workload(patterns, "type", time)}
    source = replace(source_of(schema), watermark=watermark)
    drafted = draft_workload(queries, partition_by, source, Hints.of(hints))
    clauses = [one.clause for one in drafted.workload.clauses]
    planned = plan_workload(clauses, statistics or WorkloadStatistics(), options)
    return drafted.plan(planned.tree()), adaptive_plan(drafted.workload, planned)


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
    drafted = draft_workload(queries, partition_by, source_of(schema), Hints())
    plan = drafted.plan_of_rows()
    assert isinstance(plan.scan, WorkloadScan)
    return sample_of(drafted.workload).statistics(observe_table(plan.scan, sorted_rows(plan, rows, schema)))
