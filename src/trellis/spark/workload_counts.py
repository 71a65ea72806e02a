"""How many instances each node of a shared tree had, counted by a search whose matches nobody gets."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from trellis.algebra.plan import Plan
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.workloads.counting import CountTask
from trellis.spark.prepare import prepare
from trellis.spark.session import Session

__all__ = ["count_instances"]


def count_instances(plan: Plan, frame: DataFrame, session: Session) -> tuple[int, ...]:
    """The instances of each node in all rows of the input."""
    assert isinstance(plan.scan, WorkloadScan)
    counted = prepare(plan, frame, session).mapInArrow(CountTask(plan.scan), "node int, instances long")
    found = dict(map(tuple, counted.groupBy("node").agg(F.sum("instances")).collect()))
    return tuple(found.get(node, 0) for node in range(len(plan.scan.nodes)))
