"""What an event pattern has that row patterns have not, and its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.algebra.expression import Expression, Identifier, Name, Operator
from trellis.algebra.pattern import Alt, And, Concat, Not, Pattern, Repeat, children, variables_of
from trellis.errors import Span

if TYPE_CHECKING:
    from trellis.algebra.query import Query

__all__ = ["Component", "EventClauses", "EventVariable", "component_text", "components_of", "event_text"]


@dataclass(frozen=True, slots=True)
class EventVariable:
    """A variable, its name as written, and the types of its events."""

    variable: str
    name: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventClauses:
    """Conditions of an event pattern, tests of equivalence, and the type of the events that its matches are.

    `variables` say which types of events each component takes, in order. All of `where` must hold; these conditions
    speak of variables and of their members. `same` are columns in which all events of a match agree. `most_events`
    bounds a match by the events of its partition, the first and the last counted. `compressed` asks for the graph of
    all matches that end at one event, instead of a row for each. `result_span` is where the type of the result stands,
    if it could be a function.
    """

    type: Name
    time: Name
    variables: tuple[EventVariable, ...]
    where: tuple[Expression, ...] = ()
    same: tuple[Name, ...] = ()
    most_events: int | None = None
    result_type: str = "Match"
    result_span: Span | None = field(default=None, compare=False, repr=False)
    compressed: bool = False


@dataclass(frozen=True, slots=True)
class Component:
    """A part of SEQ: one event of a variable, one or more (`repeated`), or none (`absent`)."""

    variable: str
    repeated: bool = False
    absent: bool = False


def components_of(pattern: Pattern) -> tuple[Component, ...]:
    """The parts of SEQ, in order."""
    parts = pattern.parts if isinstance(pattern, Concat) else (pattern,)
    return tuple(Component(variables_of(part)[0], isinstance(part, Repeat), isinstance(part, Not)) for part in parts)


def component_text(component: Component, variable: EventVariable) -> str:
    """A component in the language of events: `Shipment+ b[]`."""
    names = [str(Identifier(name)) for name in variable.types]
    typed = names[0] if len(names) == 1 else f"({' | '.join(names)})"
    marks = ("+", "[]") if component.repeated else ("", "")
    name = Identifier(variable.name, quoted=variable.variable != variable.name.upper())
    text = f"{typed}{marks[0]} {name}{marks[1]}"
    return f"~({text})" if component.absent else text


def _tree_text(pattern: Pattern, variables: Iterator[EventVariable]) -> str:
    """A part of a pattern; `variables` are those of its components, in order."""
    if not isinstance(pattern, Concat | And | Alt):
        return component_text(components_of(pattern)[0], next(variables))
    operator = "SEQ" if isinstance(pattern, Concat) else "AND" if isinstance(pattern, And) else "OR"
    return f"{operator}({', '.join(_tree_text(part, variables) for part in children(pattern))})"


def event_text(query: Query, events: EventClauses) -> str:
    """A query in the language of events."""
    tree = _tree_text(query.pattern, iter(events.variables))
    same = [f"[{', '.join(map(str, events.same))}]"] if events.same else []
    conditions = [f"({one})" if isinstance(one, Operator) and one.symbol == "OR" else str(one) for one in events.where]
    lines = [f"PATTERN {tree if isinstance(query.pattern, Concat | And | Alt) else f'SEQ({tree})'}"]
    tests = " AND ".join([*same, *conditions])
    lines.append(f"WHERE {query.selection.name.lower()} {{ {f'{tests} ' if tests else ''}}}")
    if events.most_events is not None:
        lines.append(f"WITHIN {events.most_events} EVENTS")
    elif query.within is not None:
        lines.append(f"WITHIN {query.within}")
    if query.measures:
        returned = ", ".join(f"{one.expression} AS {Identifier(one.name, quoted=True)}" for one in query.measures)
        lines.append(f"RETURN {Identifier(events.result_type)}({returned})")
    if query.wanted.value == "non-overlapping":
        lines.append("OUTPUT NON_OVERLAP")
    if query.timeouts:
        lines.append("SHOW TIMEOUT MATCHES")
    return "\n".join(lines)
