"""Planning anew in a worker, by what was seen of the events to come: downhill from the best plans of clauses."""

from __future__ import annotations

from random import Random

from trellis.algebra.observed import Observed
from trellis.algebra.workload_scan import WorkloadScan
from trellis.planning.workloads.adaptive import AdaptivePlan
from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.graph import PatternGraph
from trellis.planning.workloads.local_plans import best_plan
from trellis.planning.workloads.moves import Moves
from trellis.planning.workloads.search import Budget, Found, descend
from trellis.planning.workloads.specs import Specs

__all__ = ["Replanner"]

# What an event of a leaf costs, and a match, where an instance of a join costs 1.
_LEAF = 0.05
_MATCH = 5.0


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
        before = self._seconds(GlobalPlan.of(self._forms, self._shapes, self._splits))
        plan = self._planned(seconds)
        gain = 1.0 - self._seconds(plan) / before
        if gain < least:
            return None
        self._splits = plan.copy_of_splits()
        return self._specs.scan(self._scan, plan), gain

    def _planned(self, seconds: float) -> GlobalPlan:
        """A plan from nothing: what the plan that runs shares would look cheap although it is not any more."""
        plan = GlobalPlan(self._forms)
        for shape in self._shapes:
            plan.add(shape, best_plan(shape))
        budget = Budget(seconds)
        moves = Moves(plan, self._graph, self._shapes, 2, Random(self._adaptive.seed))
        descend(moves, self._shapes, Found.first(plan, budget), budget)
        return plan

    def _seconds(self, plan: GlobalPlan) -> float:
        """The cost of a plan in a unit of time: events are there already, and matches are more than instances."""
        roots = set(plan.roots.values())
        total = 0.0
        for form, inside in plan.splits.items():
            cost = plan.cost(form)
            total += cost * (_LEAF if not inside else 1.0) + (cost * _MATCH if form in roots else 0.0)
        return total
