"""The global plan as a tree that kernels run: slots, order, equations and tests of each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trellis.algebra.clauses import Clause, Condition, Window, rename
from trellis.algebra.expression import Expression
from trellis.algebra.shared_tree import ABSENT, AbsenceTest, Equation, JoinNode, LeafNode, Root, SharedTree
from trellis.algebra.subpatterns import SubPattern
from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.placing import distinct_parts, halves, is_between, widest

__all__ = ["tree_of"]


def tree_of(plan: GlobalPlan, shapes: Iterable[Shape]) -> SharedTree:
    """The tree of a plan, with its clauses in order. Nodes are sorted by size: each is behind what it is made of."""
    return _Builder(plan, plan.forms).tree(shapes)


@dataclass(slots=True)
class _Builder:
    plan: GlobalPlan
    forms: Forms
    numbers: dict[int, int] = field(default_factory=dict)
    nodes: list[LeafNode | JoinNode] = field(default_factory=list)

    def tree(self, shapes: Iterable[Shape]) -> SharedTree:
        """The whole tree."""
        windows = {form: shape.clause.window for form, shape in widest(self.plan).items()}
        sizes = {form: len(self.forms.patterns[form].parts) for form in windows}
        for form in sorted(windows, key=lambda form: (sizes[form], form)):
            shape, mask = self.forms.places[form]
            estimate = self.forms.growths[form].at(self.forms.statistics.duration(windows[form]))
            if sizes[form] == 1:
                node: LeafNode | JoinNode = _leaf(shape, mask, self.forms.patterns[form], windows[form], estimate)
            else:
                node = self._join(shape, mask, windows[form], estimate)
            self.numbers[form] = len(self.nodes)
            self.nodes.append(node)
        return SharedTree(tuple(self.nodes), tuple(map(self._root, shapes)))

    def _join(self, shape: Shape, mask: int, window: Window, estimate: float) -> JoinNode:
        clause = shape.clause
        left, right = halves(self.plan, shape, mask)
        pattern, parts = shape.projector.project(mask)
        slots = {part: slot for slot, part in enumerate(parts)}
        names = {clause.parts[part].variable: str(slot) for part, slot in slots.items()}
        sides = {clause.parts[part].variable: bool(right >> part & 1) for part in parts}
        equations: list[Equation] = []
        tests: list[Expression] = []
        for one in clause.conditions:
            # What one side reads alone was tested there.
            if not {*one.variables} <= {*names} or len({sides[variable] for variable in one.variables}) == 1:
                continue
            equation = _equation(one, clause, names, sides)
            if equation is not None:
                equations.append(equation)
            else:
                tests.append(rename(one.expression, names))
        return JoinNode(
            pattern,
            window,
            self.numbers[shape.forms[left]],
            self.numbers[shape.forms[right]],
            tuple(slots[part] for part in shape.projector.project(left)[1]),
            tuple(slots[part] for part in shape.projector.project(right)[1]),
            before=tuple(sorted((slots[a], slots[b]) for a, b in clause.order if is_between(a, b, left, right))),
            distinct=tuple(sorted(distinct_parts(clause, left, right, slots))),
            keys=clause.keys,
            equations=tuple(equations),
            tests=tuple(tests),
            estimate=estimate,
        )

    def _root(self, shape: Shape) -> Root:
        clause = shape.clause
        _, parts = shape.projector.project(shape.full)
        slots = {part: slot for slot, part in enumerate(parts)}
        names = {part.variable: str(slots[number]) for number, part in enumerate(clause.parts)}
        absences = []
        for one, leaf in zip(clause.absences, shape.absent, strict=True):
            known: Mapping[str, str] = {**names, one.event.variable: ABSENT}
            absences.append(
                AbsenceTest(
                    self.numbers[leaf],
                    tuple(slots[part] for part in one.after),
                    tuple(slots[part] for part in one.before),
                    clause.keys,
                    tuple(rename(test.expression, known) for test in one.conditions),
                )
            )
        variables = tuple((part.variable, slots[number]) for number, part in enumerate(clause.parts))
        node = self.numbers[shape.forms[shape.full]]
        return Root(clause.pattern, clause.number, node, variables, clause.window, tuple(absences))


def _leaf(shape: Shape, mask: int, pattern: SubPattern, window: Window, estimate: float) -> LeafNode:
    part = shape.clause.absences[-1 - mask].event if mask < 0 else shape.clause.parts[mask.bit_length() - 1]
    tests = tuple(rename(test.expression, {part.variable: "0"}) for test in part.tests)
    keys = shape.clause.keys if part.repeated else ()
    return LeafNode(pattern, window, part.types, part.repeated, tests, keys, estimate)


def _equation(
    condition: Condition, clause: Clause, names: Mapping[str, str], sides: Mapping[str, bool]
) -> Equation | None:
    """A condition by which instances can be looked up: single events on both sides."""
    found = condition.sides
    single = {part.variable for part in clause.parts if not part.repeated}
    if found is None or not {*condition.variables} <= single:
        return None
    one, other = (rename(side.expression, names) for side in found)
    return Equation(other, one) if sides[found[0].variables[0]] else Equation(one, other)
