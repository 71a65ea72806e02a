"""The nodes of a plan as arrays: what changes when a workload is planned anew, while roots and windows stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trellis.algebra.workload_scan import LeafSpec, WorkloadScan
from trellis.execution.workloads.nodes import NodePlan, plan_nodes
from trellis.execution.workloads.roots import RootPlan, plan_filter, plan_plain
from trellis.kernels.arrays import Ints
from trellis.kernels.instance_arrays import Plain

__all__ = ["RunningPlan"]


@dataclass(frozen=True, slots=True)
class RunningPlan:
    """The plan that runs: its nodes, and tests of theirs that are more than comparisons; its `plain` roots.

    `instances` counts those of each node.
    """

    scan: WorkloadScan
    made: NodePlan
    filters: Mapping[int, RootPlan]
    plain: Plain
    instances: Ints

    @staticmethod
    def of(scan: WorkloadScan, leaves: Mapping[LeafSpec, int]) -> RunningPlan:
        """A plan as arrays; `leaves` has the number of the list of each leaf."""
        made = plan_nodes(scan, leaves)
        filters = {
            number: plan_filter(scan, made.slots[number], tests) for number, tests in enumerate(made.tests) if tests
        }
        return RunningPlan(scan, made, filters, plan_plain(scan), np.zeros(len(scan.nodes), np.int64))
