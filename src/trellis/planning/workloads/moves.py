"""Neighbourhoods: from a plan to one like it (section 4.2 of the paper).

A *move* takes a sub-pattern and some of the clauses that have it, and plans these anew so that all of them have it as a
node. With two clauses that is the neighbourhood *edge*, with up to k of them *vertex(k)*. For each clause, by chance,
the rest of its plan is the best for itself, or the best given all that is there already: then what was shared is kept
where that pays. Sometimes the sub-pattern is the empty one: a clause is planned anew without a demand. And sometimes
one node alone is put together in another way, which the plans of single clauses cannot do to what others use, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from trellis.planning.workloads.forms import Shape
from trellis.planning.workloads.global_plan import GlobalPlan, Splitting
from trellis.planning.workloads.graph import PatternGraph
from trellis.planning.workloads.local_plans import Choice, best_plan

__all__ = ["Move", "Moves"]

# How often a move has no demand, and how often it is about one node alone.
_FREE = 0.1
_NODE = 0.1


@dataclass(frozen=True, slots=True)
class Move:
    """Clauses with their new plans, in the order in which they are added, or a node with its new way."""

    clauses: tuple[tuple[Shape, Choice], ...] = ()
    node: tuple[int, Choice] | None = None


class Moves:
    """Moves of a plan, drawn at random; the last one can be undone."""

    __slots__ = ("_forms", "_holders", "_most", "_nodes", "_random", "_shapes", "_undo", "_weights", "plan")

    def __init__(
        self, plan: GlobalPlan, graph: PatternGraph, shapes: Sequence[Shape], most: int, random: Random
    ) -> None:
        self.plan = plan
        self._random = random
        self._most = most
        self._shapes = list(shapes)
        self._forms = graph.shareable(shapes)
        self._holders = [graph.holders(form) for form in self._forms]
        # Every edge is as likely as every other: a sub-pattern of many clauses is on many edges.
        self._weights = list(accumulate(len(one) * (len(one) - 1) // 2 for one in self._holders))
        self._nodes = [form for form in self._forms if len(plan.forms.patterns[form].parts) > 2]
        self._undo: list[tuple[Shape | None, int, Splitting]] = []

    def draw(self) -> Move:
        """Make a move."""
        random, plan = self._random, self.plan
        chance = random.random()
        if chance < _NODE and self._nodes:
            form = random.choice(self._nodes)
            if form in plan:
                # Half of the time the best way given what is there, else the best by itself.
                return self.settle_node(form) if random.random() < 0.5 else self._split(form, _best_by_itself)
        if chance > 1.0 - _FREE or not self._forms:
            return self._plan_anew([(random.choice(self._shapes), 0)], aware=1.0)
        at = random.choices(range(len(self._forms)), cum_weights=self._weights)[0]
        form, holders = self._forms[at], self._holders[at]
        chosen = random.sample(holders, min(self._most, len(holders)))
        return self._plan_anew([(shape, random.choice(shape.masks[form])) for shape in chosen])

    def settle(self, shape: Shape) -> Move:
        """Plan a clause anew, as is best given all others."""
        return self._plan_anew([(shape, 0)], aware=1.0)

    def settle_node(self, form: int) -> Move:
        """Put a node together as is best given all others."""
        return self._split(form, lambda shape, mask: self.plan.cheapest(shape, top=mask))

    def apply(self, move: Move) -> None:
        """Make a move that was drawn before from this plan."""
        if move.node is not None:
            form, choice = move.node
            self._split(form, lambda _, __: choice)
            return
        self._remove([shape for shape, _ in move.clauses])
        for shape, choice in move.clauses:
            self.plan.add(shape, choice)

    def undo(self) -> None:
        """Take the last move back."""
        for shape, form, removed in reversed(self._undo):
            if shape is None:
                self.plan.restore_split(form, removed)
            elif shape in self.plan.roots:
                self.plan.remove(shape)
        for shape, _, removed in reversed(self._undo):
            if shape is not None:
                self.plan.restore(shape, removed)
        self._undo = []

    def restart(self, splits: Splitting) -> None:
        """Go on from another plan of the same clauses."""
        self.plan = GlobalPlan.of(self.plan.forms, self._shapes, splits)
        self._undo = []

    def _split(self, form: int, choose: Callable[[Shape, int], Choice]) -> Move:
        choice, removed = self.plan.split_anew(form, choose)
        self._undo = [(None, form, removed)]
        return Move(node=(form, choice))

    def _remove(self, shapes: Sequence[Shape]) -> None:
        self._undo = [(shape, -1, self.plan.remove(shape)) for shape in shapes]

    def _plan_anew(self, demands: Sequence[tuple[Shape, int]], aware: float = 0.5) -> Move:
        """Plan clauses anew, each with a set of parts that it must have as a node."""
        plan, random = self.plan, self._random
        self._remove([shape for shape, _ in demands])
        made = []
        for shape, kept in demands:
            choice = plan.cheapest(shape, kept) if random.random() < aware else best_plan(shape, kept)
            plan.add(shape, choice)
            made.append((shape, choice))
        return Move(tuple(made))


def _best_by_itself(shape: Shape, mask: int) -> Choice:
    return best_plan(shape, top=mask)
