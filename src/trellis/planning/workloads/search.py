"""Local search for a plan: simulated annealing and tabu search (appendix B of the paper), anytime.

Both begin with the best plans of the single clauses. First each clause in turn is planned anew, as is best given all
others, until that changes nothing: a few rounds that find most of what there is to find. Then the search goes on from
there, and the best plan that was seen is given. It ends when its time is over, or after many steps that found nothing
better: of few patterns there are not many plans. The same seed and the same number of steps give the same plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, inf
from random import Random

from trellis.planning.workloads.forms import Shape
from trellis.planning.workloads.global_plan import GlobalPlan, Splitting
from trellis.planning.workloads.moves import Moves

__all__ = ["Budget", "Found", "anneal", "tabu"]

# Appendix B: thresholds fall by this factor; so many neighbours are looked at for the first threshold.
_ALPHA = 0.99
_FIRST_NEIGHBOURS = 1000
_TABU_CAPACITY = 10_000
_TABU_NEIGHBOURS = 100
# A threshold that is this share of the cost accepts nothing that is worth mentioning.
_FROZEN = 1e-7
_RECOUNT = 512
# The search has so much patience with steps that find nothing better, and so much more for each clause.
_PATIENCE, _MORE_PATIENCE = 1000, 250


@dataclass(slots=True)
class Budget:
    """When the search ends: after some steps (looks at a neighbour), or some seconds, whatever comes first."""

    seconds: float = inf
    steps: float = inf
    taken: int = 0
    started: float = field(default_factory=time.monotonic)

    def step(self) -> bool:
        """Take a step, if there is one left."""
        if self.taken >= self.steps or self.elapsed >= self.seconds:
            return False
        self.taken += 1
        return True

    @property
    def elapsed(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self.started


@dataclass(slots=True)
class Found:
    """The best plan so far: how its nodes are put together. `trace` has steps, seconds and cost of each improvement."""

    cost: float
    splits: Splitting
    trace: list[tuple[int, float, float]] = field(default_factory=list)

    @staticmethod
    def first(plan: GlobalPlan, budget: Budget) -> Found:
        """The plan that the search begins with."""
        found = Found(inf, {})
        found.offer(plan, budget)
        return found

    def offer(self, plan: GlobalPlan, budget: Budget) -> bool:
        """Take the plan if it is better."""
        if plan.total >= self.cost * (1.0 - 1e-12) or plan.recount() >= self.cost:
            return False
        self.cost, self.splits = plan.total, plan.copy_of_splits()
        self.trace.append((budget.taken, budget.elapsed, self.cost))
        return True


def descend(moves: Moves, shapes: list[Shape], found: Found, budget: Budget) -> None:
    """Plan clauses and nodes anew in turn, as is best given all others, until nothing gets better."""
    plan = moves.plan
    better = True
    while better:
        better = False
        turns: list[Callable[[], object]] = [lambda shape=shape: moves.settle(shape) for shape in shapes]  # type: ignore[misc]
        for turn in turns:
            if not budget.step():
                return
            better |= _keep_if_better(moves, turn)
        for form in [one for one, inside in plan.splits.items() if len(inside) and plan.users(one) > 1]:
            if form in plan and plan.splits[form]:
                if not budget.step():
                    return
                better |= _keep_if_better(moves, lambda form=form: moves.settle_node(form))  # type: ignore[misc]
        found.offer(plan, budget)


def _keep_if_better(moves: Moves, turn: Callable[[], object]) -> bool:
    before = moves.plan.total
    turn()
    if moves.plan.total < before * (1.0 - 1e-12):
        return True
    moves.undo()
    return False


def anneal(moves: Moves, shapes: list[Shape], found: Found, budget: Budget, random: Random) -> None:
    """Simulated annealing: a worse neighbour is taken with the probability exp(-difference / threshold)."""
    plan = moves.plan
    threshold = first_threshold = _first_threshold(moves, found, budget, len(shapes))
    since, improved, patience = 0, budget.taken, _PATIENCE + _MORE_PATIENCE * len(shapes)
    while budget.taken - improved < patience and budget.step():
        before = plan.total
        moves.draw()
        difference = plan.total - before
        threshold *= _ALPHA
        since += 1
        if difference <= 0.0 or (threshold > 0.0 and random.random() < exp(-difference / threshold)):
            if found.offer(plan, budget):
                since, improved = 0, budget.taken
        else:
            moves.undo()
        if budget.taken % _RECOUNT == 0:
            plan.recount()
        if threshold < _FROZEN * plan.total and since > 20 * len(shapes) + 500:
            # Frozen: from the best plan again, with less heat each time.
            first_threshold *= 0.5
            threshold, since = max(first_threshold, 1e-3 * found.cost), 0
            moves.restart(found.splits)
            plan = moves.plan


def _first_threshold(moves: Moves, found: Found, budget: Budget, count: int) -> float:
    """The largest difference to a neighbour of the first plan."""
    plan, largest = moves.plan, 0.0
    for _ in range(min(_FIRST_NEIGHBOURS, 5 * count)):
        if not budget.step():
            break
        before = plan.total
        moves.draw()
        found.offer(plan, budget)
        largest = max(largest, abs(plan.total - before))
        moves.undo()
    return largest


def tabu(moves: Moves, shapes: list[Shape], found: Found, budget: Budget, random: Random) -> None:
    """Tabu search: of some neighbours the cheapest one that was not visited before, even if it is worse."""
    plan = moves.plan
    visited: dict[int, None] = {plan.signature: None}
    improved, patience = budget.taken, _PATIENCE + _MORE_PATIENCE * len(shapes)
    while budget.taken - improved < patience:
        best, least = None, inf
        for _ in range(_TABU_NEIGHBOURS):
            if not budget.step():
                return
            move = moves.draw()
            if found.offer(plan, budget):
                improved = budget.taken
            if plan.total < least and plan.signature not in visited:
                best, least = move, plan.total
            moves.undo()
        if best is None:
            # All around was visited: anywhere else will do.
            moves.draw()
        else:
            moves.apply(best)
        plan.recount()
        visited[plan.signature] = None
        if len(visited) > _TABU_CAPACITY:
            del visited[next(iter(visited))]
