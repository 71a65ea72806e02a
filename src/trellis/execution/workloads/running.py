"""The nodes of a plan as arrays: what changes when a workload is planned anew, while roots and windows stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.workloads.nodes import JoinPlan, join_plans
from trellis.execution.workloads.roots import RootPlan, plan_filter
from trellis.kernels.arrays import Ints

__all__ = ["RunningPlan"]


@dataclass(frozen=True, slots=True)
class RunningPlan:
    """The plan that runs: of each node how it is joined, and tests that are more than comparisons; None for leaves.

    `instances` counts those of each node.
    """

    scan: WorkloadScan
    joins: list[JoinPlan | None]
    filters: list[RootPlan | None]
    instances: Ints

    @staticmethod
    def of(scan: WorkloadScan) -> RunningPlan:
        """A plan as arrays."""
        joins = join_plans(scan)
        filters = [
            plan_filter(scan, len(join.join.outer) + len(join.join.inner), join.tests)
            if join is not None and join.tests
            else None
            for join in joins
        ]
        return RunningPlan(scan, joins, filters, np.zeros(len(scan.nodes), np.int64))
