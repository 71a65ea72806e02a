"""Planning anew in a worker, by what was seen of the events to come: from the plan that runs, downhill."""

from __future__ import annotations

from random import Random

from trellis.algebra.observed import Observed
from trellis.algebra.workload_scan import WorkloadScan
from trellis.planning.workloads.adaptive import AdaptivePlan
from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.graph import PatternGraph
from trellis.planning.workloads.moves import Moves
from trellis.planning.workloads.search import Budget, Found, descend
from trellis.planning.workloads.specs import Specs

__all__ = ["Replanner"]


class Replanner:
    """The plan that runs, and the way to a better one."""

    __slots__ = ("_adaptive", "_forms", "_graph", "_scan", "_shapes", "_specs", "_splits")

    def __init__(self, adaptive: AdaptivePlan, scan: WorkloadScan) -> None:
        self._adaptive, self._scan = adaptive, scan
        self._forms = Forms(adaptive.statistics, left_deep=adaptive.left_deep)
        plan = GlobalPlan(self._forms)
        clauses = {}
        for one in adaptive.clauses:
            private = f"{one.clause.pattern}/{one.clause.number}: " if adaptive.private else ""
            shape = Shape(one.clause, self._forms, private)
            plan.add(shape, dict(one.choice))
            clauses[shape] = one
        self._shapes = list(clauses)
        self._specs = Specs(clauses, adaptive.leaves)
        self._graph = PatternGraph(self._shapes)
        self._splits = plan.copy_of_splits()

    def scan(self) -> WorkloadScan:
        """The plan that runs."""
        return self._specs.scan(self._scan, GlobalPlan.of(self._forms, self._shapes, self._splits))

    def better(self, observed: Observed, least: float, seconds: float) -> tuple[WorkloadScan, float] | None:
        """A plan that costs less by the share `least` or more, and by how much; None if none is found in some seconds.

        What is given is taken for the plan that runs from now on.
        """
        statistics = self._adaptive.sample.statistics(observed)
        self._forms.restate(statistics, self._shapes)
        before = GlobalPlan.of(self._forms, self._shapes, self._splits).recount()
        plan = self._descended(seconds)
        gain = 1.0 - plan.recount() / before
        if gain < least:
            return None
        self._splits = plan.copy_of_splits()
        return self._specs.scan(self._scan, plan), gain

    def _descended(self, seconds: float) -> GlobalPlan:
        plan = GlobalPlan.of(self._forms, self._shapes, self._splits)
        budget = Budget(seconds)
        moves = Moves(plan, self._graph, self._shapes, 2, Random(self._adaptive.seed))
        descend(moves, self._shapes, Found.first(plan, budget), budget)
        return plan
