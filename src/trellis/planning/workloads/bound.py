"""A workload bound to its input: clauses, conditions, windows and keys; everything that no plan changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.clauses import Window
from trellis.algebra.expression import Expression, Identifier, Name
from trellis.algebra.place import Place
from trellis.algebra.query import Query
from trellis.algebra.workload_scan import WindowSpec
from trellis.analysis.binding import Binder
from trellis.analysis.clauses import clauses_of
from trellis.analysis.event_binder import EventBinder
from trellis.analysis.events import check_type, with_fields
from trellis.analysis.functions import settle_functions
from trellis.analysis.source import Source
from trellis.errors import BindingError, TrellisError, UnsupportedError, WorkloadError
from trellis.planning.draft import bind_keys
from trellis.planning.events.plan import lacking
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.registered import mark_registered
from trellis.planning.rows.conditions import plan_conditions
from trellis.planning.rows.row_conditions import RowConditions
from trellis.planning.rows.within import plan_within, spell_width
from trellis.planning.rule import Firing
from trellis.planning.workloads.repeated import SingleClause, single_clause
from trellis.planning.workloads.tests import Tests

__all__ = ["BoundWorkload", "bind_workload", "key_equation", "together"]

T = TypeVar("T")
V = TypeVar("V")
Clauses = Mapping[str, tuple[SingleClause, ...]]


@dataclass(slots=True)
class BoundWorkload:
    """Patterns bound to their input.

    `clauses` are those of all patterns. `bound` has keys and order of all events; series differ in `keys`. Where all
    patterns agree in the columns of `[...]`, these are among the keys, and no clause has them any more.
    """

    clauses: tuple[SingleClause, ...]
    bound: BoundQuery
    columns: Columns
    keys: tuple[Expression, ...]
    partition_by: tuple[str, ...]
    tests: Tests
    conditions: RowConditions
    specs: list[WindowSpec] = field(default_factory=list)
    _windows: dict[tuple[Window, tuple[Name, ...]], int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the patterns."""
        return tuple(dict.fromkeys(one.clause.pattern for one in self.clauses))

    @property
    def binder(self) -> EventBinder:
        """What finds columns of single events."""
        return EventBinder(self.tests.source.schema, (), self.tests.source.parameters, {})

    @property
    def windows(self) -> tuple[Window, ...]:
        """All windows by their numbers."""
        return tuple(window for window, _ in self._windows)

    def slot_of(self, key: Name) -> int:
        """The slot that holds a column in which events agree."""
        column = self.binder.column(key)
        return self.conditions.slots.add(column, self.columns.held_type(column), self.columns)

    def window(self, window: Window, keys: tuple[Name, ...]) -> int:
        """The number of a window; of events, those count that agree in the keys."""
        key = (window, keys if window.events is not None else ())
        if key not in self._windows:
            self._windows[key] = len(self.specs)
            self.specs.append(self._spec(*key))
        return self._windows[key]

    def _spec(self, window: Window, keys: tuple[Name, ...]) -> WindowSpec:
        if window.events is not None:
            return WindowSpec(events=window.events, keys=tuple(map(self.slot_of, keys)))
        if window.width is None:
            return WindowSpec()
        query = replace(self.bound.query, within=window.width)
        return WindowSpec(plan_within(replace(self.bound, query=query), self.columns, self.tests.source.constant))


def bind_workload(
    queries: Mapping[str, Query], partition_by: tuple[str, ...], source: Source, off: frozenset[str]
) -> BoundWorkload:
    """Bind all patterns, or raise a `WorkloadError` that lists each wrong one."""
    settled = _each(queries, lambda _, query: _settled(query, source))
    clauses = _each(settled, lambda name, query: tuple(map(single_clause, clauses_of(name, query))))
    keys = {one.clause.keys for made in clauses.values() for one in made}
    common = keys.pop() if len(keys) == 1 else ()
    if common:
        clauses = {
            name: tuple(replace(one, clause=replace(one.clause, keys=())) for one in made)
            for name, made in clauses.items()
        }
    query = next(iter(settled.values()))

    def bind(some: Clauses) -> BoundWorkload:
        return _bind(query, some, partition_by, common, source, off)

    try:
        return bind(clauses)
    except TrellisError:
        # What is wrong with all of them is wrong with one: with which, each says by itself.
        _each(clauses, lambda name, made: bind({name: made}))
        raise


def _each(given: Mapping[str, T], make: Callable[[str, T], V]) -> dict[str, V]:
    found: dict[str, V] = {}
    wrong: list[tuple[str, TrellisError]] = []
    for name, one in given.items():
        try:
            found[name] = make(name, one)
        except TrellisError as error:
            wrong.append((name, error))
    if wrong:
        raise WorkloadError(tuple(wrong), len(given))
    return found


def _settled(query: Query, source: Source) -> Query:
    """The pattern with the columns of its events, and with every aggregate as such."""
    if query.measures:
        raise UnsupportedError(
            "The matches of a workload have the same columns: whole events.",
            cure="Leave RETURN out, and compute what you need from `events`.",
            span=query.measures[0].span,
        )
    if query.timeouts:
        raise UnsupportedError(
            "Matches that timed out are not told in a workload.",
            cure="Leave SHOW TIMEOUT MATCHES out, or run this pattern by trellis.sase.",
        )
    query = with_fields(replace(query, within=spell_width(query.within)), source.schema)
    return settle_functions(query, source)


def _bind(
    query: Query,
    clauses: Clauses,
    partition_by: tuple[str, ...],
    common: tuple[Name, ...],
    source: Source,
    off: frozenset[str],
) -> BoundWorkload:
    assert query.events is not None
    tests = Tests(source)
    made = tuple(one for some in clauses.values() for one in some)
    for one in made:
        _check_windows(one)
        _ask(one, tests)
    names = tuple(Name((Identifier(name, quoted=True),)) for name in partition_by)
    keys = Binder(source.schema, {}, frozenset(), source.parameters)
    bound = BoundQuery(
        query=replace(query, within=None),
        variables=(*tests.variables, *tests.conditions),
        partition_by=keys.keys((*names, *(one for one in common if one not in names)), "partition"),
        order_by=keys.keys(tuple(key.expression for key in query.order_by), "order"),
        columns=source.schema.names,
        skip_to=frozenset(),
        conditions=tuple(tests.conditions.items()),
    )
    columns = Columns(source.types_of)
    series = bind_keys(bound, columns)
    _check_truth(tests, columns)
    binder = EventBinder(source.schema, (), source.parameters, {})
    check_type(binder.column(query.events.type), source)
    bound = mark_registered(bound, source)
    conditions = plan_conditions(bound, columns, Firing(off), lenient=source.lenient, constant=source.constant)
    if conditions.slots.pairs:
        where = tuple(condition.expression for one in made for condition in one.clause.conditions)
        raise lacking(next(iter(conditions.slots.pairs)), where)
    workload = BoundWorkload(made, bound, columns, series, partition_by, tests, conditions)
    for one in made:
        workload.window(one.clause.window, one.clause.keys)
    return workload


def key_equation(key: Name, one: str, other: str) -> Expression:
    """The condition that two events agree in a column."""
    sides = (Name((Identifier(name, quoted=True), *key.parts), key.span) for name in (one, other))
    return e.Operator("=", tuple(sides))


def together(tests: tuple[Expression, ...]) -> Expression | None:
    """All tests of an event as one condition; None if there are none."""
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else e.Operator("AND", tests)


def _ask(one: SingleClause, tests: Tests) -> None:
    """Bind every condition of a clause: plans ask for them again, by their events."""
    clause = one.clause
    slots = {part.variable: number for number, part in enumerate(clause.parts)}
    leaves = [*(part.tests for part in clause.parts), *(part.tests for part in one.repeated)]
    for alone in (*leaves, *(absence.event.tests for absence in clause.absences)):
        tests.of_event(together(tuple(test.expression for test in alone)))
    for condition in (*clause.conditions, *one.conditions):
        tests.between(condition.expression, slots)
    for absence in clause.absences:
        for condition in absence.conditions:
            tests.between(condition.expression, slots, absence.event.variable)
    for key in clause.keys:
        tests.between(key_equation(key, "0", "1"), {"0": 0, "1": 1})


def _check_truth(tests: Tests, columns: Columns) -> None:
    """Conditions of single events are truth values."""
    alone = [one for one in tests.conditions.values() if isinstance(one, e.At) and one.place == Place()]
    columns.learn([one.value for one in alone])
    for one in alone:
        type_ = columns.type_text(one.value)
        if type_ not in ("boolean", "void"):
            raise BindingError(
                f"The condition is of type {type_}, not a truth value.",
                cure="Compare it with something: a.x > 0.",
                span=one.value.span,
            )


def _check_windows(one: SingleClause) -> None:
    """What is absent before or after all other events needs a window: without one, nothing would ever be certain."""
    clause = one.clause
    if clause.window != Window():
        return
    for absence in clause.absences:
        if not absence.after or not absence.before:
            raise BindingError(
                f"{absence.event.variable} must be absent, but nothing says for how long.",
                cure="Add WITHIN, for example WITHIN 10 minutes.",
            )
