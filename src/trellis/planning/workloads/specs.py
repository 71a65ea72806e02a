"""A global plan as what workers run, made of conditions that have been compiled: only slots have to be numbered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from trellis.algebra.workload_scan import JoinSpec, LeafSpec, TestSpec, WorkloadScan
from trellis.planning.workloads.adaptive import AdaptiveClause
from trellis.planning.workloads.forms import Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.placing import distinct_parts, halves, is_between, widest

__all__ = ["Specs"]


@dataclass(slots=True)
class Specs:
    """The clauses of a workload in the order of its roots, with what their nodes test, and what leaves are."""

    clauses: Mapping[Shape, AdaptiveClause]
    leaves: Mapping[str, LeafSpec]
    _slots: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def scan(self, scan: WorkloadScan, plan: GlobalPlan) -> WorkloadScan:
        """The same search along another plan; the roots are the same, on other nodes."""
        users = widest(plan)
        forms = plan.forms
        sizes = {form: len(forms.patterns[form].parts) for form in users}
        numbers: dict[int, int] = {}
        nodes: list[LeafSpec | JoinSpec] = []
        for form in sorted(users, key=lambda form: (sizes[form], form)):
            shape, mask = forms.places[form]
            window = self.clauses[users[form]].window
            nodes.append(
                self._leaf(shape, mask) if sizes[form] == 1 else self._join(plan, shape, mask, window, numbers)
            )
            numbers[form] = len(numbers)
        roots = [
            replace(root, node=numbers[shape.forms[shape.full]])
            for root, shape in zip(scan.roots, self.clauses, strict=True)
        ]
        return replace(scan, nodes=tuple(nodes), roots=tuple(roots))

    def _leaf(self, shape: Shape, mask: int) -> LeafSpec:
        clause = shape.clause
        part = clause.absences[-1 - mask].event if mask < 0 else clause.parts[mask.bit_length() - 1]
        return self.leaves[part.label]

    def _join(self, plan: GlobalPlan, shape: Shape, mask: int, window: int, numbers: Mapping[int, int]) -> JoinSpec:
        clause, known = shape.clause, self.clauses[shape]
        left, right = halves(plan, shape, mask)
        slots = {part: slot for slot, part in enumerate(self._parts(shape, mask))}
        lefts = tuple(slots[part] for part in self._parts(shape, left))
        rights = tuple(slots[part] for part in self._parts(shape, right))
        tests = [_moved(test, (lefts[0], rights[0]).__getitem__) for test in known.keys]
        for test in known.tests:
            reads = {operand.slot for operand in test.operands}
            # What one side reads alone was tested there.
            if reads <= slots.keys() and len({right >> part & 1 for part in reads}) == 2:
                tests.append(_moved(test, slots.__getitem__))
        return JoinSpec(
            numbers[shape.forms[left]],
            numbers[shape.forms[right]],
            lefts,
            rights,
            window,
            tuple(sorted((slots[a], slots[b]) for a, b in clause.order if is_between(a, b, left, right))),
            tuple(sorted(distinct_parts(clause, left, right, slots))),
            tuple(tests),
        )

    def _parts(self, shape: Shape, mask: int) -> tuple[int, ...]:
        """Which part is in each slot of the node of some parts."""
        key = (id(shape), mask)
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = shape.projector.project(mask)[1]
        return found


def _moved(test: TestSpec, slot_of: Callable[[int], int]) -> TestSpec:
    return TestSpec(test.condition, tuple(replace(one, slot=slot_of(one.slot)) for one in test.operands))
