"""What workers need to plan a workload anew when its events change, as plain values.

It says what is joined, not how expressions are written: every condition has been compiled, and all plans of a workload
test the same ones. What searches for plans is imported when that is needed, which in many workers it never is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.algebra.clauses import Absence, Clause, Condition, Part
from trellis.algebra.expression import Literal
from trellis.algebra.workload_scan import LeafSpec, TestSpec, WorkloadScan
from trellis.planning.workloads.sample import Sample
from trellis.planning.workloads.statistics import WorkloadStatistics

if TYPE_CHECKING:
    from trellis.planning.workloads.replanning import Replanner

__all__ = ["AdaptiveClause", "AdaptivePlan", "bare"]

_NOTHING = Literal("NULL")


@dataclass(frozen=True, slots=True)
class AdaptiveClause:
    """A clause without expressions. `choice` says how its sets of parts are put together at first.

    The operands of `tests`, one for each of its conditions, have the numbers of parts for slots; of `keys`, one for
    each column in which events agree, 0 and 1. `window` is the number of one.
    """

    clause: Clause
    choice: Mapping[int, tuple[int, int]]
    tests: tuple[TestSpec, ...]
    keys: tuple[TestSpec, ...]
    window: int


@dataclass(frozen=True, slots=True)
class AdaptivePlan:
    """A workload that can be planned anew: called with the plan that runs, it gives what does so.

    `private`: clauses share nothing. `statistics` are those of the first plan.
    """

    clauses: tuple[AdaptiveClause, ...]
    leaves: Mapping[str, LeafSpec]
    sample: Sample
    statistics: WorkloadStatistics
    left_deep: bool = False
    private: bool = False
    seed: int = 0

    def __call__(self, scan: WorkloadScan) -> Replanner:
        """What finds better plans."""
        from trellis.planning.workloads.replanning import Replanner

        return Replanner(self, scan)


def bare(clause: Clause) -> Clause:
    """A clause without its expressions; what it says is still in the texts of conditions."""
    return replace(
        clause,
        parts=tuple(map(_bare_part, clause.parts)),
        conditions=tuple(map(_bare_condition, clause.conditions)),
        absences=tuple(_bare_absence(one) for one in clause.absences),
    )


def _bare_part(part: Part) -> Part:
    return replace(part, tests=tuple(map(_bare_condition, part.tests)))


def _bare_condition(condition: Condition) -> Condition:
    return replace(condition, expression=_NOTHING)


def _bare_absence(absence: Absence) -> Absence:
    return replace(absence, event=_bare_part(absence.event), conditions=())
