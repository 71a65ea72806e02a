"""SASE+ event patterns: PATTERN SEQ(...) WHERE strategy {...} WITHIN ... RETURN ... OUTPUT ... SHOW ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from trellis.algebra.events import EventClauses, EventVariable
from trellis.algebra.expression import (
    Aggregate,
    Expression,
    Identifier,
    Literal,
    Member,
    Name,
    Operator,
    Star,
    text_literal,
    walk,
)
from trellis.algebra.functions import AGGREGATES
from trellis.algebra.pattern import Not, Pattern, Repeat, Var
from trellis.algebra.query import Definition, Measure, Query, Selection, SortKey, VariableKind, Wanted
from trellis.algebra.widths import check_within
from trellis.algebra.words import OF_EVENTS
from trellis.errors import BindingError, QuerySyntaxError, Span, UnsupportedError
from trellis.languages.cursor import Cursor, cursor_over
from trellis.languages.event_trees import check_tree, join_parts
from trellis.languages.expressions import parse_conjunct, parse_expression
from trellis.languages.lexer import TokenKind, attach_text
from trellis.languages.literals import INTERVAL_UNITS, parse_literal
from trellis.languages.members import with_lengths
from trellis.languages.pieces import require_text

__all__ = [
    "WINDOW",
    "is_sase",
    "parse_columns",
    "parse_components",
    "parse_conditions",
    "parse_sase_text",
    "parse_strategy",
    "parse_window",
]

_STRATEGIES = {
    "STRICT_CONTIGUITY": Selection.STRICT_CONTIGUITY,
    "PARTITION_CONTIGUITY": Selection.PARTITION_CONTIGUITY,
    "SKIP_TILL_NEXT_MATCH": Selection.SKIP_TILL_NEXT_MATCH,
    "SKIP_TILL_ANY_MATCH": Selection.SKIP_TILL_ANY_MATCH,
}
_OPERATORS = ("SEQ", "AND", "OR")
_WAYS = ", ".join(name.lower() for name in _STRATEGIES)
_COMPONENTS = "A component is a type and a name: `Order o`, `Shipment+ b[]`, `~(Payment p)`, `(Shelf | Exit) s`."
_ORDER = "The parts stand in this order: PATTERN, WHERE, WITHIN, RETURN, OUTPUT, SHOW TIMEOUT MATCHES."
WINDOW = "A window is `3 hours`, `INTERVAL '3' HOUR`, `500 events`, or a number where the time is a number."
"""The cure for windows that are none."""


@dataclass(slots=True)
class _Typed:
    """A component as written."""

    variable: str
    name: str
    types: tuple[str, ...]
    repeated: bool
    absent: bool
    span: Span

    @property
    def pattern(self) -> Pattern:
        one = Var(self.variable, self.span)
        return Not(one) if self.absent else Repeat(one, 1, None) if self.repeated else one


@dataclass(slots=True)
class _Parts:
    """What has been read of a query so far."""

    known_types: frozenset[str] | None = None
    components: list[_Typed] = field(default_factory=list)
    pattern: Pattern | None = None
    combined: Span | None = None
    selection: Selection = Selection.SKIP_TILL_NEXT_MATCH
    where: list[Expression] = field(default_factory=list)
    same: list[Name] = field(default_factory=list)
    within: Expression | None = None
    most_events: int | None = None
    measures: tuple[Measure, ...] = ()
    result_type: str = "Match"
    result_span: Span | None = None
    wanted: Wanted = Wanted.ALL
    timeouts: Span | None = None


def parse_sase_text(
    text: str,
    type_column: str = "type",
    time_columns: str | Sequence[str] = "time",
    *,
    types: frozenset[str] | None = None,
    compressed: bool = False,
    combined: bool = False,
    strategy: Selection = Selection.SKIP_TILL_NEXT_MATCH,
) -> Query:
    """The query that a SASE+ text says. The first of `time_columns` is the time, others put equal times in order.

    If `types` are given, there are no other types of events. AND(...) and OR(...) are read where they are `combined`.
    `strategy` is the one where none is written.

    Examples
    --------
    >>> query = parse_sase_text("PATTERN SEQ(Shelf a, ~(Register b), Exit c) WHERE skip_till_next_match { [tag] } "
    ...                         "WITHIN 12 hours")
    >>> print(query)
    PATTERN SEQ(Shelf a, ~(Register b), Exit c)
    WHERE skip_till_next_match { [tag] }
    WITHIN INTERVAL 12 HOURS
    """
    with attach_text(text):
        cursor = cursor_over(text)
        parts = _Parts(known_types=types, selection=strategy)
        _pattern(cursor, parts)
        if parts.combined is not None and not combined:
            raise UnsupportedError(
                "A pattern is a sequence: AND and OR cannot stand in it.",
                cure="trellis.match_all takes such patterns; or write a query for each alternative, or each order.",
                span=parts.combined,
            )
        if cursor.accept("WHERE"):
            _where(cursor, parts)
        if cursor.accept("WITHIN"):
            _within(cursor, parts)
        if cursor.accept("RETURN"):
            _returned(cursor, parts)
        if cursor.accept("OUTPUT"):
            _output(cursor, parts)
        start = cursor.span
        if cursor.accept("SHOW"):
            cursor.expect("TIMEOUT")
            cursor.expect("MATCHES")
            parts.timeouts = cursor.since(start)
            _check_timeouts(parts, parts.timeouts, compressed)
        cursor.accept_symbol(";")
        if not cursor.at_end:
            cursor.fail("WHERE, WITHIN, RETURN, OUTPUT, SHOW or the end of the query", cure=_ORDER)
        times = (time_columns,) if isinstance(time_columns, str) else tuple(time_columns)
        if not times:
            raise BindingError("No column holds the time of the events.", cure='Name one: time="time".')
        return _query(parts, _column(type_column), tuple(map(_column, times)), compressed)


def is_sase(text: str) -> bool:
    """Whether a text is meant as an event pattern: it begins with PATTERN."""
    cursor = cursor_over(text)
    return cursor.at_words("PATTERN")


def _column(name: str) -> Name:
    require_text("The name of a column", name, "time")
    return Name((Identifier(name, quoted=True),))


def _query(parts: _Parts, type_column: Name, time_columns: tuple[Name, ...], compressed: bool) -> Query:
    assert parts.pattern is not None
    repeated = frozenset(component.variable for component in parts.components if component.repeated)
    events = EventClauses(
        type=type_column,
        time=time_columns[0],
        variables=tuple(EventVariable(one.variable, one.name, one.types) for one in parts.components),
        where=tuple(with_lengths(condition, repeated) for condition in parts.where),
        same=tuple(parts.same),
        most_events=parts.most_events,
        result_type=parts.result_type,
        result_span=parts.result_span,
        compressed=compressed,
    )
    return Query(
        pattern=parts.pattern,
        definitions=tuple(
            Definition(one.variable, _type_test(type_column, one.types), one.span, VariableKind.EVENT)
            for one in parts.components
        ),
        measures=tuple(
            replace(measure, expression=with_lengths(measure.expression, repeated)) for measure in parts.measures
        ),
        order_by=tuple(map(SortKey, time_columns)),
        within=parts.within,
        wanted=parts.wanted,
        selection=parts.selection,
        events=events,
        words=OF_EVENTS,
        timeouts=parts.timeouts is not None,
    )


def _type_test(column: Name, types: tuple[str, ...]) -> Expression:
    names = list(map(text_literal, types))
    return Operator("=", (column, names[0])) if len(names) == 1 else Operator("IN", (column, *names))


# ------------------------------------------------------------------------------------------------------------ PATTERN


def _pattern(cursor: Cursor, parts: _Parts) -> None:
    cursor.expect("PATTERN")
    start = cursor.span
    if cursor.keyword() not in _OPERATORS:
        cursor.fail("SEQ", cure="A pattern is a sequence: `PATTERN SEQ(Order o, Payment p)`.")
    parts.pattern = _structure(cursor, parts, outermost=True)
    check_tree(parts.pattern, [(one.variable, one.name, one.span) for one in parts.components], cursor.since(start))
    cursor.repeated = frozenset(component.variable for component in parts.components)


def _structure(cursor: Cursor, parts: _Parts, *, outermost: bool = False) -> Pattern:
    """Read `SEQ(...)`, `AND(...)`, `OR(...)`, each of parts of this kind, or a component."""
    start = cursor.span
    operator = cursor.keyword()
    if not outermost and (operator not in _OPERATORS or cursor.symbol(1) != "("):
        parts.components.append(_component(cursor, parts.known_types))
        return parts.components[-1].pattern
    cursor.next()
    if operator != "SEQ":
        parts.combined = parts.combined or cursor.since(start)
    cursor.enter()
    cursor.expect_symbol("(")
    inner = [_structure(cursor, parts)]
    while cursor.accept_symbol(","):
        inner.append(_structure(cursor, parts))
    cursor.expect_symbol(")", "`,` or `)`")
    cursor.leave()
    return join_parts(operator, inner)


def parse_components(cursor: Cursor, known_types: frozenset[str] | None = None) -> list[_Typed]:
    """Read `Alert a, Shipment+ b[]`; all types must be among those that are known."""
    components = [_component(cursor, known_types)]
    while cursor.accept_symbol(","):
        components.append(_component(cursor, known_types))
    return components


def _component(cursor: Cursor, known_types: frozenset[str] | None) -> _Typed:
    start = cursor.span
    absent = cursor.accept_symbol("~") or cursor.accept_symbol("!")
    if absent:
        cursor.expect_symbol("(", "`(` and the component that must not occur")
    types = _types(cursor, known_types)
    plus = cursor.span
    repeated = cursor.accept_symbol("+")
    if cursor.symbol() in ("*", "?"):
        cursor.fail("`+` or a name", cure="SASE+ repeats by `+`: what may be missing is another query.")
    if not cursor.is_name():
        cursor.fail("the name of the component", cure=_COMPONENTS)
    name = cursor.next()
    listed = cursor.accept_symbol("[")
    if listed:
        cursor.expect_symbol("]")
    if repeated != listed:
        raise QuerySyntaxError(
            f"{name.text} {'is repeated, so it has brackets' if repeated else 'has brackets, so it is repeated'}.",
            cure=f"Write {types[0]}+ {name.text}[], or {types[0]} {name.text} for a single event.",
            span=name.span,
        )
    if absent:
        if repeated:
            raise QuerySyntaxError(
                "What must not occur cannot be repeated: one event is enough to tell.",
                cure=f"Write ~({types[0]} {name.text}).",
                span=plus,
            )
        cursor.expect_symbol(")")
    return _Typed(name.variable, name.identifier.text, types, repeated, absent, cursor.since(start))


def _types(cursor: Cursor, known_types: frozenset[str] | None) -> tuple[str, ...]:
    """`Shelf`, `(Shelf | Exit)` or `ANY(Shelf, Exit)`."""
    listed = cursor.at_words("ANY") and cursor.symbol(1) == "("
    if not listed and cursor.symbol() != "(":
        return (_type(cursor, known_types),)
    cursor.read(2 if listed else 1)
    names = [_type(cursor, known_types)]
    while cursor.accept_symbol("," if listed else "|"):
        names.append(_type(cursor, known_types))
    cursor.expect_symbol(")", "`,` or `)`" if listed else "`|` or `)`")
    return tuple(dict.fromkeys(names))


def _type(cursor: Cursor, known: frozenset[str] | None) -> str:
    if not cursor.is_name():
        cursor.fail("the type of an event", cure=_COMPONENTS)
    name = cursor.next()
    text = name.identifier.text
    if known is not None and text not in known:
        near = get_close_matches(text, sorted(known), 1) or [
            one for one in sorted(known) if one.lower() == text.lower()
        ]
        listed = ", ".join(sorted(known)[:10]) + (", ..." if len(known) > 10 else "")
        raise BindingError(
            f"There are no events of the type {text}.",
            cure=f"Did you mean {near[0]}?" if near else f"The types are {listed}.",
            span=name.span,
        )
    return text


# -------------------------------------------------------------------------------------------------------------- WHERE


def _where(cursor: Cursor, parts: _Parts) -> None:
    braced = True
    if cursor.keyword() in _STRATEGIES or (cursor.symbol() != "{" and cursor.symbol(1) == "{"):
        parts.selection = parse_strategy(cursor)
        if cursor.accept_symbol("("):
            _arguments(cursor, parts)
        cursor.expect_symbol("{", "`{` and the conditions")
    else:
        braced = cursor.accept_symbol("{")
    if braced and cursor.accept_symbol("}"):
        return
    parts.where, parts.same = parse_conditions(cursor)
    if cursor.at_words("OR"):
        cursor.fail("AND", cure="Put brackets around conditions that are joined by OR.")
    if braced:
        cursor.expect_symbol("}", "AND or `}`")


def parse_strategy(cursor: Cursor) -> Selection:
    """Read `skip_till_next_match` or another one."""
    if cursor.keyword() not in _STRATEGIES:
        cursor.fail("a selection strategy", cure=f"The strategies are {_WAYS}.")
    return _STRATEGIES[cursor.next().keyword]


def _arguments(cursor: Cursor, parts: _Parts) -> None:
    """The components after a strategy. It holds for all of them, so they say nothing; but they must exist."""
    known = {component.variable: component for component in parts.components}
    while True:
        name = cursor.expect_name("a component")
        if name.variable not in known:
            raise BindingError(
                f"{name.text} is not a component of the pattern.",
                cure=f"The components are {', '.join(component.name for component in parts.components)}.",
                span=name.span,
            )
        if cursor.accept_symbol("["):
            cursor.expect_symbol("]")
        if not cursor.accept_symbol(","):
            break
    cursor.expect_symbol(")", "`,` or `)`")


def parse_conditions(cursor: Cursor) -> tuple[list[Expression], list[Name]]:
    """Read conditions between AND: those on events, and the columns in which all events agree."""
    where: list[Expression] = []
    same: list[Name] = []
    while True:
        if cursor.accept_symbol("["):
            same += parse_columns(cursor)
            cursor.expect_symbol("]", "`,` or `]`")
        else:
            where.append(parse_conjunct(cursor))
        if not cursor.accept("AND"):
            return where, same


def parse_columns(cursor: Cursor) -> list[Name]:
    """Read `symbol, site.id`."""
    columns: list[Name] = []
    while not columns or cursor.accept_symbol(","):
        start = cursor.span
        names = [cursor.expect_name("a column").identifier]
        while cursor.accept_symbol("."):
            names.append(cursor.expect_name("the name of a field").identifier)
        columns.append(Name(tuple(names), cursor.since(start)))
    return columns


# --------------------------------------------------------------------------------------------- WITHIN, RETURN, OUTPUT


def _within(cursor: Cursor, parts: _Parts) -> None:
    window = parse_window(cursor)
    if isinstance(window, int):
        parts.most_events = window
    else:
        parts.within = window


def parse_window(cursor: Cursor) -> Expression | int:
    """Read `3 hours`, `INTERVAL '3' HOUR`, `10`, `:width`; or `500 events`, which is a number of events."""
    start = cursor.span
    if cursor.kind() is TokenKind.NUMBER and cursor.keyword(1) in ("EVENT", "EVENTS"):
        number = cursor.next().text
        cursor.next()
        if not number.isdigit() or int(number) < 1:
            raise QuerySyntaxError(
                "A window of events is a whole number, 1 or more.",
                cure="Write WITHIN 500 events.",
                span=cursor.since(start),
            )
        return int(number)
    words = []
    while cursor.kind() is TokenKind.NUMBER and cursor.keyword(1) in INTERVAL_UNITS:
        words += [cursor.next().text, cursor.next().keyword]
    width: Expression | None = Literal(f"INTERVAL {' '.join(words)}", cursor.since(start)) if words else None
    if width is None:
        width = parse_literal(cursor)
    if width is None:
        width = parse_expression(cursor)
    if cursor.is_name() and cursor.keyword() not in ("RETURN", "OUTPUT", "SHOW"):
        cursor.fail("a unit of time", cure=WINDOW)
    check_within(width, WINDOW)
    return width


def _returned(cursor: Cursor, parts: _Parts) -> None:
    typed = cursor.is_name() and cursor.symbol(1) == "(" and _is_type(cursor)
    if typed:
        name = cursor.next()
        parts.result_type = name.identifier.text
        parts.result_span = None if name.identifier.quoted else name.span
        cursor.next()
    measures = [_measure(cursor)]
    while cursor.accept_symbol(","):
        measures.append(_measure(cursor))
    if typed:
        cursor.expect_symbol(")", "`,` or `)`")
    parts.measures = tuple(measures)


def _group(cursor: Cursor, ahead: int) -> int:
    depth = 0
    while cursor.peek(ahead) is not None:
        depth += (cursor.symbol(ahead) == "(") - (cursor.symbol(ahead) == ")")
        ahead += 1
        if depth == 0:
            return ahead
    return ahead


def _is_type(cursor: Cursor) -> bool:
    """Whether `Name(` begins the event that is made, not a function: then only OUTPUT or SHOW follow its bracket."""
    if cursor.keyword().lower() in AGGREGATES:
        return False
    end = _group(cursor, 1)
    following = cursor.at_words("OUTPUT", ahead=end) or cursor.at_words("SHOW", ahead=end)
    return cursor.peek(end) is None or cursor.symbol(end) == ";" or following


def _measure(cursor: Cursor) -> Measure:
    start = cursor.span
    expression = parse_expression(cursor)
    if cursor.accept("AS"):
        name = cursor.expect_name("the name of the attribute")
        return Measure(name.identifier.text, expression, name.span)
    match expression:
        case Name(parts=(*_, last)) | Member(path=(*_, last)):
            return Measure(last.text, expression, cursor.since(start))
        case _:
            cursor.fail("AS and the name of the attribute")


def _output(cursor: Cursor, parts: _Parts) -> None:
    if cursor.accept("ALL"):
        return
    if not cursor.accept("NON_OVERLAP"):
        cursor.fail("ALL or NON_OVERLAP")
    parts.wanted = Wanted.NON_OVERLAPPING


def _check_timeouts(parts: _Parts, span: Span, compressed: bool) -> None:
    """Refuse queries of which nothing times out, or everything does, or that have no row for what did."""
    if parts.within is None and parts.most_events is None:
        raise BindingError(
            "A match times out when its window closes, and there is no window.",
            cure="Add WITHIN, for example WITHIN 10 minutes.",
            span=span,
        )
    if parts.selection is Selection.SKIP_TILL_ANY_MATCH:
        raise BindingError(
            "With skip_till_any_match any event may be passed over, so every beginning of a match would time out.",
            cure="Use skip_till_next_match; or say what must not follow, with ~(...) at the end of the pattern.",
            span=span,
        )
    if compressed:
        raise BindingError(
            "Compressed matches are the graph of those that end at one event, and what timed out has no such end.",
            cure="Leave out compressed=True, or SHOW TIMEOUT MATCHES.",
            span=span,
        )
    for node in (node for measure in parts.measures for node in walk(measure.expression)):
        if isinstance(node, Aggregate) and any(isinstance(one, Star) and not one.variable for one in node.arguments):
            raise BindingError(
                "count(*) counts the matches that end at one event, and what timed out has no such end.",
                cure="Leave out count(*), or SHOW TIMEOUT MATCHES.",
                span=node.span,
            )
