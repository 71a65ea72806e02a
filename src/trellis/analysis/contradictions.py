"""Clauses that no events can match, because their conditions contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from trellis.algebra import expression as e
from trellis.algebra.clauses import Clause, variable_of
from trellis.algebra.expression import Expression, Name
from trellis.analysis.implication import Condition, is_impossible
from trellis.analysis.row_tests import RowTests, all_of
from trellis.analysis.types import Type

__all__ = ["empty_patterns", "is_contradictory"]

TypeOf = Callable[[Expression], Type | None]
"""The types of expressions over the columns of one event, by their names as written."""


def is_contradictory(clause: Clause, type_of: TypeOf, time: Name | None = None) -> bool:
    """Whether the conditions of a clause are known never to hold together: such a clause has no matches.

    If the column with the `time` of events is given, what is earlier in the pattern is not later. Conditions on the
    events of repeated parts are not looked at, nor are those on what must be absent: they forbid nothing.
    """
    variables = frozenset(part.variable for part in clause.parts)
    single = frozenset(part.variable for part in clause.parts if not part.repeated)
    tests = RowTests(lambda expression: type_of(_of_one_event(expression)))
    found: list[Condition] = []
    for condition in (*(test for part in clause.parts for test in part.tests), *clause.conditions):
        if single.issuperset(condition.variables):
            one = tests.of(_as_row(condition.expression, variables))
            found += [] if one is None else [one]
    if time is not None:
        for first, second in clause.order:
            earlier, later = (
                e.Column((clause.parts[part].variable, *(name.text for name in time.parts))) for part in (first, second)
            )
            if {clause.parts[first].variable, clause.parts[second].variable} <= single:
                one = tests.of(e.Operator("<=", (earlier, later)))
                found += [] if one is None else [one]
    return is_impossible(all_of(found))


def empty_patterns(clauses: Iterable[Clause], type_of: TypeOf, time: Name | None = None) -> tuple[str, ...]:
    """The patterns of a workload all of whose clauses contradict themselves; clauses of one pattern are neighbours."""
    grouped = groupby(clauses, key=lambda clause: clause.pattern)
    return tuple(name for name, group in grouped if all(is_contradictory(one, type_of, time) for one in group))


def _as_row(expression: Expression, variables: frozenset[str]) -> Expression:
    """A condition between events, as one on a single row that has a struct for each of them."""
    variable = variable_of(expression, variables)
    if variable is None:
        return e.rebuild(expression, lambda child: _as_row(child, variables))
    assert isinstance(expression, Name)
    return e.Column((variable, *(name.text for name in expression.parts[1:])), expression.span)


def _of_one_event(expression: Expression) -> Expression:
    """The same over the columns of one event: it has the same type."""
    if isinstance(expression, e.Column):
        return e.Column(expression.path[1:])
    return e.rebuild(expression, _of_one_event)
