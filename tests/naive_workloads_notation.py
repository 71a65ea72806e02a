"""Short ways to write workloads, and the SASE+ text of a pattern.

Structures are read from the text that SASE+ has for them: "SEQ(A a, AND(B b, (A | C)+ c[]), ~(D d))".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from naive_sase import Component, Event, Expr
from naive_workloads import Check, Node, Pattern, Stream, Structure, matches

_WORDS = re.compile(r"[A-Za-z_]\w*|\[\]|[^\s\w]")


def each(variable: str, column: str) -> Expr:
    """b[].x: the column of each member."""
    return ("attr", variable, "each", column)


def structure(text: str) -> Structure:
    words = _WORDS.findall(text)
    read = _structure(words)
    assert not words, f"what is {words} in {text}?"
    return read


def _structure(words: list[str]) -> Structure:
    if words[0] in ("SEQ", "AND", "OR") and words[1] == "(":
        operator = words.pop(0)
        parts = []
        while words.pop(0) != ")":  # an opening bracket or a comma, or the end
            parts.append(_structure(words))
        return Node(operator, tuple(parts))
    if words[0] == "~":
        del words[:2]
        component = _component(words, negated=True)
        assert words.pop(0) == ")"
        return component
    return _component(words, negated=False)


def _component(words: list[str], negated: bool) -> Component:
    types = [words.pop(0)]
    if types == ["("]:
        types = [words.pop(0)]
        while words.pop(0) != ")":  # a bar, or the end
            types.append(words.pop(0))
    kleene = words[0] == "+"
    if kleene:
        words.pop(0)
    variable = words.pop(0)
    assert not kleene or words.pop(0) == "[]"
    return Component(variable, tuple(types), kleene=kleene, negated=negated)


def pattern(text: str, *conditions: Expr | Check, same: str = "", within: Any = None, name: str = "p") -> Pattern:
    """A pattern; a window is a number for one in time, or "3 events"."""
    width = (
        ("events", int(within.split()[0])) if isinstance(within, str) else None if within is None else ("time", within)
    )
    return Pattern(name, structure(text), conditions, tuple(same.split()), width)


def found(sought: Pattern, events: Sequence[Event]) -> list[str]:
    """The matches, as "a=0,1 b=2": variables and the positions of their events, which are given in order."""
    return [
        " ".join(f"{variable}={','.join(map(str, positions))}" for variable, positions in match)
        for match in matches(sought, Stream(tuple(events)))
    ]


# ------------------------------------------------------------------------------------------------------- SASE+ text


def render(sought: Pattern, unit: str = "") -> str:
    """The pattern in SASE+; `unit` is that of the window if times are no numbers, as in "seconds"."""
    conditions = [f"[{', '.join(sought.equivalence)}]"] if sought.equivalence else []
    conditions += [render_expr(condition) for condition in sought.conditions]
    lines = [
        f"PATTERN {render_structure(sought.structure)}",
        f"WHERE skip_till_any_match {{ {' and '.join(conditions)} }}",
    ]
    if sought.within is not None:
        kind, size = sought.within
        lines.append(f"WITHIN {size} {'events' if kind == 'events' else unit}".rstrip())
    return "\n".join(lines)


def render_structure(part: Structure) -> str:
    if isinstance(part, Node):
        return f"{part.operator}({', '.join(map(render_structure, part.parts))})"
    types = part.types[0] if len(part.types) == 1 else f"({' | '.join(part.types)})"
    text = f"{types}+ {part.variable}[]" if part.kleene else f"{types} {part.variable}"
    return f"~({text})" if part.negated else text


def render_expr(expr: Expr | Check) -> str:
    match expr:
        case ("lit", value):
            return str(value)
        case ("attr", variable, None, column):
            return f"{variable}.{column}"
        case ("attr", variable, "each", column):
            return f"{variable}[].{column}"
        case ("attr", variable, "LEN", column):
            return f"{variable}[{variable}.LEN].{column}"
        case ("attr", variable, index, column):
            return f"{variable}[{index}].{column}"
        case ("op", symbol, (left, right)):
            return f"{render_expr(left)} {symbol} {render_expr(right)}"
    raise ValueError(f"no text for {expr!r}")
