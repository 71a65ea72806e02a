"""Short ways to write event queries and streams.

A match is written as "a=0,1 b=2": for each positive component its variable and the positions of its events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naive_sase import Component, Event, EventQuery, Expr, Match, Strategy, matches

STRICT, PARTITION, NEXT, ANY = Strategy.STRICT, Strategy.PARTITION, Strategy.NEXT, Strategy.ANY


def lit(constant: Any) -> Expr:
    return ("lit", constant)


def attr(variable: str, column: str, index: int | str | None = None) -> Expr:
    return ("attr", variable, index, column)


def agg(function: str, variable: str, members: str, column: str | None = None) -> Expr:
    return ("agg", function, variable, members, column)


def op(left: Expr, symbol: str, right: Expr) -> Expr:
    return ("op", symbol, (left, right))


def seq(text: str) -> tuple[Component, ...]:
    """The components of a pattern such as "A a, ~B b, C+ c, A|B d"."""
    components = []
    for part in text.split(","):
        types, variable = part.split()
        names = tuple(types.strip("~+").split("|"))
        components.append(Component(variable, names, kleene=types.endswith("+"), negated=types.startswith("~")))
    return tuple(components)


def stream(text: str) -> list[Event]:
    """Events from "A A1 B@7 C1@7": type, then the attribute k if any, then the time if it is not the position."""
    events: list[Event] = []
    for position, word in enumerate(text.split()):
        name, _, time = word.partition("@")
        events.append({"type": name[0], "k": name[1:] or None, "time": int(time) if time else position})
    return events


def table(columns: str, rows: Sequence[Sequence[Any]]) -> list[Event]:
    return [dict(zip(columns.split(), row, strict=True)) for row in rows]


def shown(found: list[Match]) -> list[str]:
    return [" ".join(f"{name}={','.join(map(str, positions))}" for name, positions in match) for match in found]


def found(query: EventQuery, events: Sequence[Event]) -> list[str]:
    return shown(matches(query, events))


def all_selected(match: Match) -> list[int]:
    return [position for _, positions in match for position in positions]
