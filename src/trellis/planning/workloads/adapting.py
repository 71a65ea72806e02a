"""From a planned workload to what workers need to plan it anew."""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra.clauses import Clause, Condition
from trellis.algebra.expression import Name
from trellis.algebra.workload_scan import TestSpec
from trellis.planning.workloads.adaptive import AdaptiveClause, AdaptivePlan, bare
from trellis.planning.workloads.bound import BoundWorkload, key_equation
from trellis.planning.workloads.placing import choice_of
from trellis.planning.workloads.plan import PlannedWorkload
from trellis.planning.workloads.sampling import sample_of

__all__ = ["adaptive_plan"]

_FIXED = ("none", "sharing", "redundancy", "merging")
"""Strategies whose plans no statistics would change, or that have ways of their own to find them."""


def adaptive_plan(workload: BoundWorkload, planned: PlannedWorkload) -> AdaptivePlan | None:
    """The workload with its plan, ready to be planned anew; None where that is not wanted."""
    options = planned.options
    if not options.adapt or options.strategy in _FIXED:
        return None
    sample = sample_of(workload)
    clauses = []
    for made in planned.shapes.values():
        for shape in made:
            # Equations come first: by the first one, instances are looked up.
            ordered = sorted(shape.clause.conditions, key=lambda one: one.sides is None)
            clause = replace(shape.clause, conditions=tuple(ordered))
            clauses.append(
                AdaptiveClause(
                    bare(clause),
                    choice_of(planned.plan, shape),
                    tuple(_test(workload, clause, one) for one in ordered),
                    tuple(_key_test(workload, key) for key in clause.keys),
                    workload.window(clause.window, clause.keys),
                )
            )
    leaves = dict(zip(sample.labels, sample.spec.leaves, strict=False))
    return AdaptivePlan(
        tuple(clauses),
        leaves,
        sample,
        planned.forms.statistics,
        options.left_deep,
        options.strategy == "reordering",
        options.seed,
    )


def _test(workload: BoundWorkload, clause: Clause, condition: Condition) -> TestSpec:
    parts = {part.variable: number for number, part in enumerate(clause.parts)}
    return workload.tests.between(condition.expression, parts).spec(workload.tests)


def _key_test(workload: BoundWorkload, key: Name) -> TestSpec:
    return workload.tests.between(key_equation(key, "0", "1"), {"0": 0, "1": 1}).spec(workload.tests)
