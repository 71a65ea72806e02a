"""The plan of a workload for Spark: a shared tree with its conditions as numbers, between exchange and result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trellis.algebra import expression as e
from trellis.algebra.clauses import condition_of
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.algebra.plan import Fired, Plan
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.query import RowsPerMatch
from trellis.algebra.scan import Gather, ListAggregate, Number, Output, PatternName
from trellis.algebra.shared_tree import ABSENT, JoinNode, LeafNode, Root, SharedTree
from trellis.algebra.workload_scan import (
    AbsenceCheck,
    JoinSpec,
    LeafSpec,
    Role,
    RootSpec,
    SetSpec,
    TestSpec,
    WorkloadScan,
)
from trellis.planning.draft import Draft, Series
from trellis.planning.hints import Hints
from trellis.planning.workloads.bound import BoundWorkload, key_equation, together
from trellis.planning.workloads.repeated import SingleClause
from trellis.planning.workloads.sampling import sample_of
from trellis.planning.workloads.tests import looking_back

__all__ = ["scan_plan"]

_PLACES = (Place(from_first=True, final=True), Place(final=True))


def _without_padding(column: e.Column, workload: BoundWorkload) -> Expression:
    """The types of events as patterns write them: a column of type CHAR is filled up with spaces."""
    if column.path[0] not in workload.tests.source.schema.padded:
        return column
    return e.Call("rtrim", (column,))


def scan_plan(
    workload: BoundWorkload, tree: SharedTree, before: BeforeMatch, hints: Hints, fired: tuple[Fired, ...] = ()
) -> Plan:
    """The whole plan of a workload that is searched along a tree."""
    events = workload.bound.query.events
    assert events is not None
    columns, binder = workload.columns, workload.binder
    builder = _Builder(workload, tree)
    nodes, roots, sample = builder.nodes(), builder.roots(), sample_of(workload).spec
    type_ = columns.ship(_without_padding(binder.column(events.type), workload))
    time, event = columns.ship(binder.column(events.time)), columns.ship(binder.event)
    # What all patterns agree in are the last keys of series.
    agreed = tuple(columns.ship(key) for key in workload.keys[len(workload.partition_by) :])
    outputs: dict[Output, str] = {
        PatternName(): "__m0",
        Number(): "__m1",
        Gather(time, 0): "__m2",
        Gather(time, 1): "__m3",
        ListAggregate(None, (event,), True): "__m4",
    }
    finished = [
        (name, e.Column((column,)))
        for name, column in zip(("pattern", "match_number", "start", "end", "events"), outputs.values(), strict=True)
    ]
    conditions = workload.conditions

    def scan(series: Series) -> WorkloadScan:
        slots = tuple(conditions.slots.sources)
        return WorkloadScan(
            keys=series.keys,
            variables=workload.tests.variables,
            conditions=conditions.conditions,
            slots=slots,
            program=conditions.program,
            places=conditions.places,
            aggregates=tuple(looking_back(one, slots) for one in conditions.aggregates),
            sets=conditions.sets,
            within=None,
            rows_per_match=RowsPerMatch.ONE,
            measure_slots=(),
            measure_places=_PLACES,
            measure_aggregates=(),
            measure_sets=(None,),
            outputs=series.outputs,
            budget=hints.step_budget,
            chunk_rows=hints.chunk_rows,
            slices=series.slices,
            dropped=before.drops,
            type=type_,
            agreed=agreed,
            patterns=workload.names,
            nodes=nodes,
            roots=roots,
            windows=tuple(workload.specs),
            sample=sample,
        )

    # A column that is named twice partitions once.
    partition: dict[str, Expression] = {}
    for number, (name, expression) in enumerate(workload.bound.partition_by[: len(workload.partition_by)]):
        partition[name] = e.Column((outputs.setdefault(Gather(columns.ship(expression), -1), f"__p{number}"),))
    # A column that all patterns agree in may be one of the partition, too.
    keys = tuple(dict.fromkeys(workload.keys))
    draft = Draft(workload.bound, columns, keys, before, outputs, (*partition.items(), *finished))
    return draft.plan(scan, fired)


@dataclass(frozen=True, slots=True)
class _Builder:
    workload: BoundWorkload
    tree: SharedTree

    def nodes(self) -> tuple[LeafSpec | JoinSpec, ...]:
        """All nodes, in order."""
        return tuple(self._leaf(node) if isinstance(node, LeafNode) else self._join(node) for node in self.tree.nodes)

    def _leaf(self, node: LeafNode) -> LeafSpec:
        return LeafSpec(node.types, self._alone(node.tests))

    def _alone(self, tests: tuple[Expression, ...]) -> int:
        name = self.workload.tests.of_event(together(tests))
        return self.workload.tests.number(name) if name else -1

    def _join(self, node: JoinNode) -> JoinSpec:
        names = tuple(str(slot) for slot in (*node.left_slots, *node.right_slots))
        conditions = [key_equation(key, str(node.left_slots[0]), str(node.right_slots[0])) for key in node.keys]
        conditions += [e.Operator("=", (one.left, one.right)) for one in node.equations]
        # An equation may have been turned round: each condition has one form.
        conditions = [condition_of(one, names).expression for one in (*conditions, *node.tests)]
        return JoinSpec(
            node.left,
            node.right,
            node.left_slots,
            node.right_slots,
            self.workload.window(node.window, node.keys),
            node.before,
            node.distinct,
            tuple(self._test(one, {name: int(name) for name in names}) for one in conditions),
        )

    def _test(self, condition: Expression, slots: dict[str, int], absent: str = "") -> TestSpec:
        return self.workload.tests.between(condition, slots, absent).spec(self.workload.tests)

    def roots(self) -> tuple[RootSpec, ...]:
        """The roots, those of one pattern side by side."""
        clauses = {(one.clause.pattern, one.clause.number): one for one in self.workload.clauses}
        variables: dict[str, dict[str, int]] = {name: {} for name in self.workload.names}
        found = []
        for root in self.tree.roots:
            numbers = variables[root.pattern]
            for name, _ in root.variables:
                numbers.setdefault(name, len(numbers))
            found.append(self._root(root, clauses[root.pattern, root.clause], numbers))
        return tuple(found)

    def _root(self, root: Root, one: SingleClause, numbers: dict[str, int]) -> RootSpec:
        clause, slots = one.clause, dict(root.variables)
        names = {slot: name for name, slot in root.variables}
        later = [self._test(condition.expression, slots) for condition in one.conditions]
        running = {slot: [test for test in later if _is_running(test, slot)] for slot in slots.values()}
        sets = []
        for part in one.repeated:
            slot = slots[clause.parts[part.part].variable]
            behind = tuple(slots[clause.parts[b].variable] for a, b in clause.order if a == part.part)
            tests = [_of_member(test, slot) for test in running[slot]]
            tests += [self._agreement(key, slot) for key in clause.keys]
            members = LeafSpec(part.types, self._alone(tuple(test.expression for test in part.tests)))
            sets.append(SetSpec(slot, members, behind, tuple(tests)))
        decided = [test for tests in running.values() for test in tests]
        absences = []
        for absence in root.absences:
            leaf = self.tree.nodes[absence.leaf]
            assert isinstance(leaf, LeafNode)
            here = {str(slot): slot for slot in slots.values()}
            tests = [self._test(key_equation(key, "0", ABSENT), here, ABSENT) for key in absence.keys]
            tests += [self._test(test, here, ABSENT) for test in absence.tests]
            absences.append(AbsenceCheck(self._leaf(leaf), absence.after, absence.before, tuple(tests)))
        return RootSpec(
            self.workload.names.index(root.pattern),
            root.node,
            tuple(numbers[names[slot]] for slot in range(len(names))),
            self.workload.window(root.window, clause.keys),
            tuple(sets),
            tuple(test for test in later if test not in decided),
            tuple(absences),
            tuple(map(self.workload.slot_of, clause.keys)),
        )

    def _agreement(self, key: e.Name, slot: int) -> TestSpec:
        """A further event of a set agrees with the first."""
        test = self._test(key_equation(key, "0", "1"), {"0": slot, "1": slot})
        first, other = test.operands
        return replace(test, operands=(first, replace(other, role=Role.CURRENT)))


def _is_running(test: TestSpec, slot: int) -> bool:
    """Whether a test is decided when an event is added to the set of a slot: of other sets it reads first events."""
    roles = {one.role for one in test.operands if one.role is not Role.EVENT and one.slot == slot}
    others = {one.role for one in test.operands if one.role is not Role.EVENT and one.slot != slot}
    return bool(roles) and not others and (roles == {Role.EACH} or all(role.is_running for role in roles))


def _of_member(test: TestSpec, slot: int) -> TestSpec:
    """What holds for each event holds for the one that is added."""
    changed = (
        replace(one, role=Role.CURRENT) if one.role is Role.EACH and one.slot == slot else one for one in test.operands
    )
    return replace(test, operands=tuple(changed))
