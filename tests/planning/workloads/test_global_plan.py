"""What a change of a plan costs, against the plan made anew."""

from __future__ import annotations

from math import isclose
from random import Random

import pytest

from planning.workloads.made import random_statistics, random_workload, shapes
from trellis.planning.workloads.forms import Shape
from trellis.planning.workloads.global_plan import GlobalPlan, Splitting
from trellis.planning.workloads.graph import PatternGraph
from trellis.planning.workloads.local_plans import best_plan
from trellis.planning.workloads.moves import Moves


def cost_by_definition(plan: GlobalPlan) -> float:
    """Each node that some clause reaches, once, with the largest window of those that reach it."""
    windows: dict[int, float] = {}
    for shape in plan.roots:
        pending = [shape.forms[shape.full], *shape.absent]
        while pending:
            form = pending.pop()
            windows[form] = max(windows.get(form, 0.0), shape.window)
            pending += plan.splits[form]
    assert windows == plan.windows
    return sum(plan.forms.growths[form].at(window) for form, window in windows.items())


def first_plan(made: list[Shape]) -> GlobalPlan:
    plan = GlobalPlan(made[0].table)
    for shape in made:
        plan.add(shape, best_plan(shape))
    return plan


def state(plan: GlobalPlan) -> tuple[Splitting, dict[int, float], int]:
    return plan.copy_of_splits(), dict(plan.windows), plan.signature


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("left_deep", [False, True])
def test_costs_of_moves(seed: int, left_deep: bool) -> None:
    made = random_workload(seed, 15, "ABCD")
    group = shapes(made, random_statistics(seed, made), left_deep=left_deep)
    random = Random(seed)
    plan = first_plan(group)
    moves = Moves(plan, PatternGraph(group), group, 2 + seed % 3, random)
    for _ in range(150):
        before, cost = state(plan), plan.total
        drawn = moves.draw()
        after = state(plan)
        assert isclose(plan.total, cost_by_definition(plan), rel_tol=1e-9)
        if random.random() < 0.5:
            moves.undo()
            assert state(plan) == before and isclose(plan.total, cost, rel_tol=1e-9)
            if random.random() < 0.5:
                moves.apply(drawn)
                assert state(plan) == after
    assert set(plan.roots) == set(group)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_added_and_removed_leaves_nothing(seed: int) -> None:
    made = random_workload(seed, 10)
    group = shapes(made, random_statistics(seed, made))
    random = Random(seed)
    plan = first_plan(group)
    for _ in range(40):
        shape = random.choice(group)
        if shape in plan.roots:
            plan.remove(shape)
        else:
            plan.add(shape, plan.cheapest(shape))
        assert isclose(plan.total, cost_by_definition(plan), rel_tol=1e-9, abs_tol=1e-9)
    for shape in list(plan.roots):
        plan.remove(shape)
    assert not len(plan) and abs(plan.total) < 1e-6 and plan.signature == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_plan_given_others(seed: int) -> None:
    """No single plan of a clause is cheaper, whichever set of its parts it is made to have."""
    made = random_workload(seed, 10, "ABC")
    group = shapes(made, random_statistics(seed, made))
    plan = first_plan(group)
    for shape in group:
        removed = plan.remove(shape)
        plan.add(shape, plan.cheapest(shape))
        best = plan.recount()
        plan.remove(shape)
        for kept in shape.forms:
            plan.add(shape, best_plan(shape, kept) if kept & (kept - 1) else best_plan(shape))
            # Twice the same form inside one clause is counted twice before it is there.
            assert best <= plan.recount() * (1 + 1e-9) or len({*shape.forms.values()}) < len(shape.forms)
            plan.remove(shape)
        plan.restore(shape, removed)
