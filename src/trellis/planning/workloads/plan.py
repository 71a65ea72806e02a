"""Planning a workload: one plan for all of its patterns, to which patterns can be added, and from which removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random

from trellis.algebra.clauses import Clause
from trellis.algebra.shared_tree import SharedTree
from trellis.errors import BindingError
from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.graph import PatternGraph
from trellis.planning.workloads.local_plans import Choice, as_written, best_plan
from trellis.planning.workloads.moves import Moves
from trellis.planning.workloads.rivals import plan_by_merging, plan_by_redundancy
from trellis.planning.workloads.search import Budget, Found, anneal, descend, tabu
from trellis.planning.workloads.statistics import WorkloadStatistics
from trellis.planning.workloads.tree import tree_of

__all__ = ["STRATEGIES", "PlannedWorkload", "SearchOptions", "plan_workload"]

STRATEGIES = ("annealing", "tabu", "none", "sharing", "reordering", "redundancy", "merging")
"""Two searches, nothing at all, and the rivals."""

_APART = ("none", "reordering")
_SEARCHES = {"annealing": anneal, "tabu": tabu}


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to plan. `neighbours` is the k of the neighbourhood vertex(k); 2 is the neighbourhood edge.

    `left_deep` plans are orders, which share what they begin with. Where `steps` are given, the same seed gives the
    same plan, if there is time for all of them. `adapt`: workers plan anew when events change.
    """

    strategy: str = "annealing"
    left_deep: bool = False
    neighbours: int = 2
    seconds: float = 5.0
    steps: int | None = None
    seed: int = 0
    adapt: bool = True


@dataclass(slots=True)
class PlannedWorkload:
    """A workload with its plan. `trace` has steps, seconds and costs of the search, one row for each improvement."""

    options: SearchOptions
    forms: Forms
    plan: GlobalPlan
    graph: PatternGraph = field(default_factory=PatternGraph)
    shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    trace: list[tuple[int, float, float]] = field(default_factory=list)

    @property
    def cost(self) -> float:
        """How many instances all nodes are thought to hold at a time."""
        return self.plan.recount()

    def tree(self) -> SharedTree:
        """The plan for kernels."""
        return tree_of(self.plan, (shape for made in self.shapes.values() for shape in made))

    def add(self, clauses: Sequence[Clause]) -> None:
        """Add a pattern, by the plan that adds least to the cost; the others stay as they are."""
        name = clauses[0].pattern
        if name in self.shapes:
            raise BindingError(f"Two patterns are called {name}.", cure="Give each a name of its own.")
        made = tuple(_shape(clause, self.forms, self.options) for clause in clauses)
        for shape in made:
            self.plan.add(shape, self._choice(shape))
            if self.options.strategy not in _APART:
                self.graph.add(shape)
        self.shapes[name] = made

    def remove(self, name: str) -> None:
        """Remove a pattern; what no other needs goes with it."""
        for shape in self.shapes.pop(name):
            self.plan.remove(shape)
            if self.options.strategy not in _APART:
                self.graph.remove(shape)

    def changed(self, clauses: Iterable[Clause], statistics: WorkloadStatistics) -> PlannedWorkload:
        """A plan for other patterns: those that were there already are found as before."""
        wanted = _by_pattern(clauses)
        kept = {
            name: shapes
            for name, shapes in self.shapes.items()
            if wanted.get(name) == [shape.clause for shape in shapes]
        }
        # What is known already keeps its size: only what is new is measured.
        self.forms.statistics = statistics
        there = [shape for shapes in kept.values() for shape in shapes]
        plan = GlobalPlan.of(self.forms, there, self.plan.splits)
        shared = self.options.strategy not in _APART
        made = PlannedWorkload(self.options, self.forms, plan, PatternGraph(there if shared else ()), kept)
        for name, mine in wanted.items():
            if name not in kept:
                made.add(mine)
        return made

    def _choice(self, shape: Shape) -> Choice:
        match self.options.strategy:
            case "none" | "sharing":
                return as_written(shape)
            case "reordering":
                return best_plan(shape)
            case _:
                return self.plan.cheapest(shape)

    def search(self) -> None:
        """Look for a better plan, for each group of patterns that have something in common by itself."""
        options = self.options
        groups = [list(group) for group in self.graph.components()]
        weights = [len(group) if len(group) > 1 else 0 for group in groups]
        splits = dict(self.plan.splits)
        taken, elapsed = 0, 0.0
        rest = self.plan.recount()
        for number, (group, weight) in enumerate(zip(groups, weights, strict=True)):
            if not weight:
                continue
            share = weight / sum(weights)
            steps = inf if options.steps is None else max(1, round(options.steps * share))
            # What earlier groups left of their time, later ones have.
            left = sum(weights[number:])
            budget = Budget((options.seconds - elapsed) * weight / left, steps)
            part = GlobalPlan.of(self.forms, group, splits)
            before = part.total
            found = Found.first(part, budget)
            random = Random(f"{options.seed}/{number}")
            moves = Moves(part, self.graph, group, options.neighbours, random)
            descend(moves, group, found, budget)
            _SEARCHES[options.strategy](moves, group, found, budget, random)
            splits.update(found.splits)
            self.trace += [(taken + at, elapsed + second, rest - before + cost) for at, second, cost in found.trace]
            taken, elapsed, rest = taken + budget.taken, elapsed + budget.elapsed, rest - before + found.cost
        self.plan = GlobalPlan.of(self.forms, tuple(self.plan.roots), splits)


def plan_workload(
    clauses: Iterable[Clause], statistics: WorkloadStatistics, options: SearchOptions | None = None
) -> PlannedWorkload:
    """Plan the clauses of all patterns."""
    options = options or SearchOptions()
    if options.strategy not in STRATEGIES:
        raise BindingError(
            f"There is no strategy {options.strategy}.", cure=f"The strategies are {', '.join(STRATEGIES)}."
        )
    forms = Forms(statistics, left_deep=options.left_deep)
    planned = PlannedWorkload(options, forms, GlobalPlan(forms))
    for clause in clauses:
        made = _shape(clause, forms, options)
        planned.shapes[clause.pattern] = (*planned.shapes.get(clause.pattern, ()), made)
    shapes = [shape for made in planned.shapes.values() for shape in made]
    match options.strategy:
        case "redundancy":
            planned.plan = plan_by_redundancy(forms, shapes)
        case "merging":
            planned.plan = plan_by_merging(forms, shapes)
        case strategy:
            choose = as_written if strategy in ("none", "sharing") else best_plan
            for shape in shapes:
                planned.plan.add(shape, choose(shape))
    if options.strategy not in _APART:
        planned.graph = PatternGraph(shapes)
    if options.strategy in _SEARCHES:
        planned.search()
    return planned


def _by_pattern(clauses: Iterable[Clause]) -> dict[str, list[Clause]]:
    found: dict[str, list[Clause]] = {}
    for clause in clauses:
        found.setdefault(clause.pattern, []).append(clause)
    return found


def _shape(clause: Clause, forms: Forms, options: SearchOptions) -> Shape:
    apart = options.strategy in _APART
    return Shape(clause, forms, f"{clause.pattern}/{clause.number}: " if apart else "")
