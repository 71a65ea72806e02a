"""Repeated parts: their first events are joined like all others, and the rest of each set is found afterwards.

So a set costs only what is given out, and `SEQ(A a, B+ b[], C c)` shares all of its plan with `SEQ(A a, B b, C c)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trellis.algebra import expression as e
from trellis.algebra.clauses import Clause, Condition, Part, condition_of, variable_of
from trellis.algebra.expression import Expression, Member, MemberIndex, Name
from trellis.algebra.workload_scan import Role

__all__ = ["RepeatedPart", "SingleClause", "roles_of", "single_clause"]

_ROLES = {
    MemberIndex.FIRST: Role.EVENT,
    MemberIndex.LAST: Role.LAST,
    MemberIndex.CURRENT: Role.CURRENT,
    MemberIndex.PREVIOUS: Role.PREVIOUS,
    MemberIndex.ALL: Role.EACH,
    MemberIndex.EARLIER: Role.EARLIER,
}


@dataclass(frozen=True, slots=True)
class RepeatedPart:
    """A part that may have more events than its first (`part` is its number): of some types, and with some tests."""

    part: int
    types: tuple[str, ...]
    tests: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class SingleClause:
    """A clause of single events, what else its repeated parts may have, and conditions that read more than the first.

    Conditions of absent events are all in `absences` of the clause, whatever they read.
    """

    clause: Clause
    repeated: tuple[RepeatedPart, ...] = ()
    conditions: tuple[Condition, ...] = ()


def single_clause(clause: Clause) -> SingleClause:
    """The clause with single parts only, and what is left to be found of each set."""
    if not any(part.repeated for part in clause.parts):
        return SingleClause(clause)
    names = tuple(part.variable for part in clause.parts)
    known = frozenset(names)
    parts: list[Part] = []
    repeated: list[RepeatedPart] = []
    later: list[Condition] = []
    for number, part in enumerate(clause.parts):
        if not part.repeated:
            parts.append(part)
            continue
        members: list[Condition] = []
        for test in part.tests:
            roles = {role for _, role in roles_of(test.expression, known)}
            # What is asked of each event alone is asked of the others, too; what is asked of b[i], of them alone.
            if roles <= {Role.EACH} or roles == {Role.CURRENT}:
                members.append(_of_event(test, names))
            elif roles != {Role.EVENT}:
                later.append(test)
        firsts = tuple(_firsts(part.tests, names))
        parts.append(replace(part, repeated=False, tests=firsts))
        repeated.append(RepeatedPart(number, part.types, tuple(members)))
    for condition in clause.conditions:
        if any(role is not Role.EVENT for _, role in roles_of(condition.expression, known)):
            later.append(condition)
    joined = tuple(sorted(set(_firsts(clause.conditions, names)), key=lambda one: (one.template, one.variables)))
    return SingleClause(replace(clause, parts=tuple(parts), conditions=joined), tuple(repeated), tuple(later))


def _firsts(conditions: Iterable[Condition], names: tuple[str, ...]) -> Iterator[Condition]:
    """What conditions say of first events: those that read nothing else, and those that hold for each event."""
    for one in conditions:
        if all(role in (Role.EVENT, Role.EACH) for _, role in roles_of(one.expression, frozenset(names))):
            yield _of_event(one, names)


def _of_event(condition: Condition, names: tuple[str, ...]) -> Condition:
    """The condition with plain names for members: of one event of each variable."""

    def plain(node: Expression) -> Expression:
        if isinstance(node, Member):
            return Name((node.variable, *node.path), node.span)
        return e.rebuild(node, plain)

    return condition_of(plain(condition.expression), names)


def roles_of(expression: Expression, variables: frozenset[str]) -> list[tuple[str, Role]]:
    """The variables that a condition reads, each with its role, in the order of their first appearance."""
    found: dict[tuple[str, Role], None] = {}

    def visit(node: Expression, inside: bool) -> None:
        variable = variable_of(node, variables)
        if variable is not None:
            role = _ROLES[node.index] if isinstance(node, Member) else Role.EVENT
            found[variable, Role.ALL if inside and role is Role.EACH else role] = None
        for child in e.children(node):
            visit(child, inside or isinstance(node, e.Aggregate))

    visit(expression, False)
    return list(found)
