"""What a plan costs beside plans that share nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trellis.planning.workloads.forms import Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.local_plans import Choice, as_written, best_plan
from trellis.planning.workloads.plan import PlannedWorkload

__all__ = ["WorkloadCosts", "costs_of"]


@dataclass(frozen=True, slots=True)
class WorkloadCosts:
    """How many instances are thought to be held at a time: by the plan, and by patterns that share nothing.

    `written` is what all patterns need together if each is put together as it is written; `alone` is what each needs
    by the best plan of its own.
    """

    plan: float
    written: float
    alone: Mapping[str, float]


def costs_of(planned: PlannedWorkload) -> WorkloadCosts:
    """The cost of a plan, and what it is to be compared with."""
    alone = {name: _apart(planned, shapes, best_plan) for name, shapes in planned.shapes.items()}
    written = sum(_apart(planned, shapes, as_written) for shapes in planned.shapes.values())
    return WorkloadCosts(planned.cost, written, alone)


def _apart(planned: PlannedWorkload, shapes: tuple[Shape, ...], choose: Callable[[Shape], Choice]) -> float:
    """The cost of clauses, each of which is a plan by itself."""
    total = 0.0
    for shape in shapes:
        plan = GlobalPlan(planned.forms)
        plan.add(shape, choose(shape))
        total += plan.recount()
    return total
