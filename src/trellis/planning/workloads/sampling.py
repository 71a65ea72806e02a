"""What is looked at of the events of a workload to learn statistics: leaves, and pairs of them with a condition."""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra.clauses import Clause, Condition, Part
from trellis.algebra.workload_scan import LeafSpec, Role, SampledPair, SampleSpec
from trellis.planning.workloads.bound import BoundWorkload, key_equation, together
from trellis.planning.workloads.sample import Sample
from trellis.planning.workloads.statistics import Compared, compared

__all__ = ["sample_of"]


def sample_of(workload: BoundWorkload) -> Sample:
    """What is looked at for all patterns of a workload."""
    builder = _Builder(workload)
    for one in workload.clauses:
        builder.add(one.clause)
    return builder.sample()


class _Builder:
    def __init__(self, workload: BoundWorkload) -> None:
        self._workload = workload
        self._leaves: dict[str, LeafSpec] = {}
        self._pairs: dict[Compared, SampledPair] = {}
        self._keys: dict[str, SampledPair] = {}

    def add(self, clause: Clause) -> None:
        """Add what one clause asks for."""
        for part in (*clause.parts, *(absence.event for absence in clause.absences)):
            self._add_leaf(part)
        for condition in clause.conditions:
            if len(condition.variables) == 2:
                self._add_condition(clause, condition)
        for key in clause.keys:
            if str(key) not in self._keys:
                window = self._workload.window(clause.window, clause.keys)
                named = self._workload.tests.between(key_equation(key, "0", "1"), {"0": 0, "1": 1})
                test = named.spec(self._workload.tests)
                self._keys[str(key)] = SampledPair(-1, -1, 0, window, test)

    def _add_leaf(self, part: Part) -> None:
        if part.label not in self._leaves:
            name = self._workload.tests.of_event(together(tuple(test.expression for test in part.tests)))
            number = self._workload.tests.number(name) if name else -1
            self._leaves[part.label] = LeafSpec(part.types, number)

    def _add_condition(self, clause: Clause, condition: Condition) -> None:
        parts = {part.variable: number for number, part in enumerate(clause.parts)}
        labels = {part.variable: part.label for part in clause.parts}
        found = compared(condition, labels)
        if found in self._pairs:
            return
        one, other = condition.variables
        test = self._workload.tests.between(condition.expression, {one: 0, other: 1}).spec(self._workload.tests)
        if len(test.operands) != 2 or any(operand.role is not Role.EVENT for operand in test.operands):
            return
        places = list(self._leaves)
        side = ((parts[one], parts[other]) in clause.order) - ((parts[other], parts[one]) in clause.order)
        first, second = places.index(labels[one]), places.index(labels[other])
        if test.operands[0].slot == 1:
            first, second, side = second, first, -side
            test = replace(test, operands=tuple(replace(two, slot=1 - two.slot) for two in test.operands))
        window = self._workload.window(clause.window, clause.keys)
        self._pairs[found] = SampledPair(first, second, side, window, test)

    def sample(self) -> Sample:
        """All of it."""
        leaves = list(self._leaves.values())
        types = tuple(sorted({name for leaf in leaves for name in leaf.types}))
        every = len(leaves)
        keys = [replace(pair, first=every, second=every) for pair in self._keys.values()]
        spec = SampleSpec((*leaves, LeafSpec(types)), (*self._pairs.values(), *keys))
        return Sample(spec, tuple(self._leaves), tuple(self._pairs), tuple(self._keys), self._workload.windows)
