"""Patterns of a workload as clauses: OR is split, nested AND and SEQ become one order, conditions find their events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from trellis.algebra import expression as e
from trellis.algebra.clauses import Absence, Clause, Condition, Part, Window, condition_of, variable_of
from trellis.algebra.events import Component, EventClauses, components_of
from trellis.algebra.expression import Expression, Identifier, MemberIndex, Name
from trellis.algebra.pattern import Alt, And, Concat, Pattern, children
from trellis.algebra.query import Query
from trellis.errors import BindingError, UnsupportedError

__all__ = ["clauses_of"]

# OR inside AND inside OR: so many alternatives that planning would not end.
_MOST_CLAUSES = 1000


def clauses_of(name: str, query: Query) -> tuple[Clause, ...]:
    """The clauses of a pattern.

    Examples
    --------
    >>> from trellis.languages.sase import parse_sase_text
    >>> text = "PATTERN SEQ(A a, OR(B b, AND(C c, ~(D d)))) WHERE { a.x < b.x and c.x > a.x and d.y = 1 } WITHIN 5"
    >>> for clause in clauses_of("p", parse_sase_text(text, combined=True)):
    ...     print(clause)
    A A, B B | A -> B | a.x < b.x | WITHIN 5
    A A, C C, ~(D {`?0`.y = 1} D after A) | A -> C | a.x < c.x | WITHIN 5
    """
    events = query.events
    assert events is not None
    leaves = _leaves(query.pattern)
    conditions = _Conditions.of(events, leaves)
    window = Window(query.within, events.most_events)
    found = []
    for number, tree in enumerate(_alternatives(query.pattern, iter(range(len(leaves))), query)):
        found.append(_clause(name, tree, leaves, events, conditions, window, number))
    conditions.check_all_used()
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Tree:
    """A pattern without OR: components by number, in SEQ or AND."""

    sequence: bool
    parts: tuple[_Tree | int, ...]


def _leaves(pattern: Pattern) -> list[Component]:
    if isinstance(pattern, Concat | And | Alt):
        return [leaf for part in children(pattern) for leaf in _leaves(part)]
    return list(components_of(pattern))


def _alternatives(pattern: Pattern, numbers: Iterator[int], query: Query) -> list[_Tree | int]:
    if not isinstance(pattern, Concat | And | Alt):
        return [next(numbers)]
    inner = [_alternatives(part, numbers, query) for part in children(pattern)]
    if isinstance(pattern, Alt):
        return [tree for alternatives in inner for tree in alternatives]
    count = 1
    for alternatives in inner:
        count *= len(alternatives)
    if count > _MOST_CLAUSES:
        raise UnsupportedError(
            f"The pattern has {count:,} alternatives; at most {_MOST_CLAUSES:,} are planned.",
            cure="Write several patterns.",
            span=query.definitions[0].span,
        )
    return [_Tree(isinstance(pattern, Concat), parts) for parts in product(*inner)]


def _clause(
    name: str,
    tree: _Tree | int,
    leaves: Sequence[Component],
    events: EventClauses,
    conditions: _Conditions,
    window: Window,
    number: int,
) -> Clause:
    order: list[tuple[int, int]] = []
    chosen = _ordered(tree, order)
    there = [leaf for leaf in chosen if not leaves[leaf].absent]
    places = {leaf: place for place, leaf in enumerate(there)}
    of_clause = conditions.of_clause([leaves[leaf].variable for leaf in chosen])
    positive = tuple(leaves[leaf].variable for leaf in there)

    def part(leaf: int) -> Part:
        variable = leaves[leaf].variable
        tests = [one for one in of_clause if one.variables == (variable,)]
        if leaf == there[0]:
            # What reads no event at all is tested with the first.
            tests += [one for one in of_clause if not one.variables]
        if events.same and len(there) == 1 and not leaves[leaf].absent:
            # NULL agrees with nothing, not even where there is nothing else to agree with.
            name = Identifier(variable, quoted=True)
            known = (e.Operator("IS NOT NULL", (Name((name, *key.parts)),)) for key in events.same)
            tests += [condition_of(test, (variable,)) for test in known]
        types = tuple(sorted(set(events.variables[leaf].types)))
        return Part(variable, types, leaves[leaf].repeated, _distinct(tests))

    absences = []
    for leaf in chosen:
        if not leaves[leaf].absent:
            continue
        after = tuple(places[first] for first, second in order if second == leaf and first in places)
        before = tuple(places[second] for first, second in order if first == leaf and second in places)
        mine = [one for one in of_clause if leaves[leaf].variable in one.variables and len(one.variables) > 1]
        absences.append(Absence(part(leaf), after, before, _distinct(mine)))
    return Clause(
        pattern=name,
        parts=tuple(map(part, there)),
        order=tuple(sorted((places[a], places[b]) for a, b in order if a in places and b in places)),
        conditions=_distinct([one for one in of_clause if len(one.variables) > 1 and {*one.variables} <= {*positive}]),
        absences=tuple(absences),
        keys=tuple(sorted(set(events.same), key=str)),
        window=window,
        number=number,
    )


def _ordered(tree: _Tree | int, order: list[tuple[int, int]]) -> list[int]:
    """The components of a tree; all pairs of which the first is the earlier are added to `order`."""
    if isinstance(tree, int):
        return [tree]
    found: list[int] = []
    for part in tree.parts:
        inside = _ordered(part, order)
        if tree.sequence:
            order.extend(product(found, inside))
        found += inside
    return found


def _distinct(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Conditions in a fixed order; one that is written twice says nothing more."""
    unique = {(one.template, one.variables): one for one in conditions}
    return tuple(unique[key] for key in sorted(unique))


@dataclass(slots=True)
class _Conditions:
    """The conditions of a pattern, and which of them were in a clause so far."""

    conditions: list[Condition]
    used: set[int]

    @staticmethod
    def of(events: EventClauses, leaves: Sequence[Component]) -> _Conditions:
        components = {leaf.variable: leaf for leaf in leaves}
        written = {variable.variable: variable.name for variable in events.variables}
        found: list[Condition] = []
        for one in events.where:
            for condition in e.conjuncts(one):
                _check_reads(condition, components, written)
                made = condition_of(condition, tuple(components))
                absent = [variable for variable in made.variables if components[variable].absent]
                if len(absent) > 1:
                    raise BindingError(
                        f"{' and '.join(written[variable] for variable in sorted(absent))} must both be absent: a "
                        "condition cannot compare them.",
                        cure="Compare each with events that are there.",
                        span=one.span,
                    )
                found.append(made)
        return _Conditions(found, set())

    def of_clause(self, variables: Sequence[str]) -> list[Condition]:
        """The conditions all of whose variables are in a clause."""
        there = set(variables)
        numbers = [number for number, one in enumerate(self.conditions) if there.issuperset(one.variables)]
        self.used.update(numbers)
        return [self.conditions[number] for number in numbers]

    def check_all_used(self) -> None:
        """Refuse a condition that no alternative has all events of."""
        for number, one in enumerate(self.conditions):
            if number not in self.used:
                raise BindingError(
                    f"The events of {one} are never in one match: they stand in different alternatives.",
                    cure="Compare each with events that every alternative has.",
                    span=one.expression.span,
                )


def _check_reads(condition: Expression, components: dict[str, Component], written: dict[str, str]) -> None:
    """Refuse values that belong to no event, and indexes where there is nothing to count."""
    known = frozenset(components)
    running = set()
    for node in e.walk(condition):
        variable = variable_of(node, known)
        match node:
            case e.Name() if variable is None:
                raise BindingError(
                    f"{node} does not say of which event.",
                    cure=f"Put a variable before it: {', '.join(dict.fromkeys(written.values()))}.",
                    span=node.span,
                )
            case e.Name() if variable is not None and components[variable].repeated:
                raise BindingError(
                    f"{written[variable]} is repeated: say which of its events.",
                    cure="b[1], b[i], b[i-1], b[b.LEN], or b[] for each of them.",
                    span=node.span,
                )
            case e.Member(index=index):
                assert variable is not None
                if not components[variable].repeated:
                    raise BindingError(
                        f"{written[variable]} is a single event and has no index.",
                        cure="Leave the index out.",
                        span=node.span,
                    )
                if index.is_running:
                    running.add(variable)
            case e.MatchNumber() | e.Classifier() | e.Navigation():
                raise BindingError(
                    f"{node} is not known while events are taken.",
                    cure="Conditions compare attributes of events: a.price, b[i-1].price.",
                    span=node.span,
                )
            case _:
                pass
    if len(running) > 1:
        raise BindingError(
            f"i counts the events of one variable, and here of {' and '.join(sorted(running))}.",
            cure=f"Write b[1], b[b.LEN] or b[] of all but one; {MemberIndex.CURRENT.value} stands for one number.",
            span=condition.span,
        )
