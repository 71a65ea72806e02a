"""The conditions of a workload, each compiled once, however many patterns and nodes test it.

A condition is known by its text with numbered variables in place of those of its pattern. Variables that stand for one
event are the same in all conditions; each one that stands for several is used by one condition alone, since aggregates
over it are kept up to date with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trellis.algebra import expression as e
from trellis.algebra.automaton import AggregateSpec
from trellis.algebra.clauses import variable_of
from trellis.algebra.events import Component
from trellis.algebra.expression import Expression, Identifier, Member, MemberIndex, Name
from trellis.algebra.place import Place
from trellis.algebra.scan import SlotSource
from trellis.algebra.workload_scan import Operand, Role, TestSpec
from trellis.analysis.edges import Edge, EdgeKind
from trellis.analysis.event_binder import EventBinder
from trellis.analysis.source import Source
from trellis.kernels import opcodes as o
from trellis.planning.workloads.repeated import roles_of

__all__ = ["Tests", "looking_back"]

_NOWHERE = Edge("", EdgeKind.BEGIN)


@dataclass(slots=True)
class Tests:
    """The conditions that were asked for, with their names; `conditions` are bound."""

    source: Source
    conditions: dict[str, Expression] = field(default_factory=dict)
    _variables: dict[str, int] = field(default_factory=dict)
    _operands: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of all conditions."""
        return tuple(self._variables)

    def number(self, name: str) -> int:
        """The number of a condition among the variables, which have none, and the conditions."""
        return len(self._variables) + list(self.conditions).index(name)

    def of_event(self, expression: Expression | None) -> str:
        """The name of a condition that reads one event alone, whatever its variable is; '' if there is none."""
        if expression is None:
            return ""
        binder = EventBinder(self.source.schema, (), self.source.parameters, {})
        bound = e.At(binder.row(_without_variable(expression)), Place())
        return self._name(f"event {bound}", bound)

    def between(self, expression: Expression, slots: Mapping[str, int], absent: str = "") -> NamedTest:
        """A condition between events; `slots` are those of its variables, `absent` is the one that has none."""
        known = frozenset((*slots, *((absent,) if absent else ())))
        roles = roles_of(expression, known)
        numbers = {read: f"?{number}" for number, read in enumerate(roles)}
        template = str(_numbered(expression, known, numbers))
        name = self._names.get(template)
        if name is None:
            name = self._bind(template, expression, known, roles)
        operands = tuple(
            Operand(variable, slots.get(of, -1), Role.ABSENT if of == absent else role)
            for variable, (of, role) in zip(self._operands[name], roles, strict=True)
        )
        return NamedTest(name, operands)

    def _bind(self, template: str, expression: Expression, known: frozenset[str], roles: list[tuple[str, Role]]) -> str:
        name = f"test {template}"
        variables: dict[tuple[str, Role], str] = {}
        for of, role in roles:
            single = sum(not other.is_set for _, other in variables)
            variables[of, role] = f"set {len(self._variables)}" if role.is_set else f"event {single}"
            self._variables.setdefault(variables[of, role], len(self._variables))
        components = tuple(Component(variables[read], repeated=read[1].is_set) for read in roles)
        written = {variables[read]: read[0] for read in roles}
        binder = EventBinder(self.source.schema, components, self.source.parameters, written)
        self._operands[name] = tuple(self._variables[variables[read]] for read in roles)
        self._names[template] = name
        self.conditions[name] = binder.test(_numbered(expression, known, variables), _NOWHERE)
        return name

    def _name(self, name: str, bound: Expression) -> str:
        self.conditions.setdefault(name, bound)
        return name


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A condition by its name, with its operands: numbers are known when all conditions are."""

    name: str
    operands: tuple[Operand, ...]

    def spec(self, tests: Tests) -> TestSpec:
        """The same by its number."""
        return TestSpec(tests.number(self.name), self.operands)


def _without_variable(expression: Expression) -> Expression:
    """A condition of one event, with plain columns."""
    if isinstance(expression, Name):
        return replace(expression, parts=expression.parts[1:])
    return e.rebuild(expression, _without_variable)


def _numbered(expression: Expression, known: frozenset[str], names: Mapping[tuple[str, Role], str]) -> Expression:
    """The condition with other variables, one for each role; only those in aggregates are still members."""
    variable = variable_of(expression, known)
    if variable is None:
        inside = isinstance(expression, e.Aggregate)
        return e.rebuild(expression, lambda child: (_in_set if inside else _numbered)(child, known, names))
    ((_, role),) = roles_of(expression, known)
    identifier = Identifier(names[variable, role], quoted=True)
    if isinstance(expression, Member):
        if role is Role.EARLIER:
            return replace(expression, variable=identifier)
        return Name((identifier, *expression.path), expression.span)
    assert isinstance(expression, Name)
    return replace(expression, parts=(identifier, *expression.parts[1:]))


def _in_set(expression: Expression, known: frozenset[str], names: Mapping[tuple[str, Role], str]) -> Expression:
    variable = variable_of(expression, known)
    if variable is None or not isinstance(expression, Member) or not expression.index.is_range:
        return e.rebuild(expression, lambda child: _in_set(child, known, names))
    role = Role.ALL if expression.index is MemberIndex.ALL else Role.EARLIER
    return replace(expression, variable=Identifier(names[variable, role], quoted=True), index=MemberIndex.ALL)


def looking_back(spec: AggregateSpec, slots: tuple[SlotSource, ...]) -> AggregateSpec:
    """An aggregate over distinct values that compares them all: the events of a match are no stretch of rows."""
    if spec.previous < 0:
        return spec
    float_ = any(slots[slot].held == "float" for slot in spec.slots if slot >= 0)
    return replace(spec, previous=o.LOOK_BACK_FLOAT if float_ else o.LOOK_BACK_INT)
