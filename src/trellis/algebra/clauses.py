"""Clauses: what is left of an event pattern when OR is split and nested AND and SEQ are flattened.

A clause has events that must be there (its *parts*), events that must not, a strict order between parts, and
conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression, Identifier, Literal, Member, Name
from trellis.algebra.literals import MICROSECONDS, read_interval, read_number

__all__ = ["Absence", "Clause", "Condition", "Part", "Window", "condition_of", "rename", "variable_of"]

_FLIPPED = {">": "<", ">=": "<="}
_SYMMETRIC = frozenset({"=", "<>", "<=>"})
# Units whose length the clock decides: such windows are equal or not, and neither is known to be the larger.
_BY_CLOCK = ("DAY", "WEEK", "MONTH", "YEAR")


@dataclass(frozen=True, slots=True)
class Window:
    """The last event is at most `width` later than the first, or among `events` with it; neither: there is no bound."""

    width: Expression | None = None
    events: int | None = None

    def __str__(self) -> str:
        return f"{self.events} EVENTS" if self.events is not None else str(self.width or "unbounded")

    @property
    def scale(self) -> str:
        """What the window is measured in: only windows of one scale can be compared."""
        if self.events is not None:
            return "events"
        if self.width is None:
            return "unbounded"
        text = str(self.width)
        if isinstance(self.width, Literal) and read_number(text) is not None:
            return "number"
        fixed = read_interval(text) is not None and not any(unit in text.upper() for unit in _BY_CLOCK)
        return "time" if fixed else f"by the clock: {text}"

    @property
    def size(self) -> float | None:
        """How large it is on its scale, in microseconds if that is time; None if that is not known."""
        if self.events is not None:
            return float(self.events)
        if not isinstance(self.width, Literal):
            return None
        number = read_number(self.width.text)
        if number is not None:
            return float(number)
        interval = read_interval(self.width.text)
        return None if interval is None else float(interval.micros + 30 * interval.months * MICROSECONDS["DAY"])


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in one form of its many: `>` is written as `<`, and both sides of `=` are in a fixed order.

    `variables` are those that it reads, in the order of their first appearance; `template` is its text with `?0`, `?1`,
    ... in their places. Two conditions of one template say the same of their variables. `symmetric`: also of the same
    variables in the other order.
    """

    expression: Expression
    variables: tuple[str, ...]
    template: str
    symmetric: bool = False

    def __str__(self) -> str:
        return str(self.expression)

    @property
    def sides(self) -> tuple[Condition, Condition] | None:
        """The two sides of an equation between two variables, each of which reads one of them; None for others."""
        match self.expression:
            case e.Operator(symbol="=", operands=(left, right)) if len(self.variables) == 2:
                one, other = condition_of(left, self.variables), condition_of(right, self.variables)
                return (one, other) if len(one.variables) == len(other.variables) == 1 else None
        return None


@dataclass(frozen=True, slots=True)
class Part:
    """Events that must be there: one of the types, or one or more (`repeated`). `tests` read this part alone."""

    variable: str
    types: tuple[str, ...]
    repeated: bool = False
    tests: tuple[Condition, ...] = ()

    @property
    def label(self) -> str:
        """What the part is, without the name of its variable."""
        types = " | ".join(str(Identifier(name)) for name in self.types)
        typed = types if len(self.types) == 1 else f"({types})"
        tests = " AND ".join(test.template for test in self.tests)
        return f"{typed}{'+' if self.repeated else ''}{f' {{{tests}}}' if tests else ''}"


@dataclass(frozen=True, slots=True)
class Absence:
    """An event that must not be there: after all of some parts, and before all of others (by number).

    `event` has the tests on it alone; `conditions` compare it with parts.
    """

    event: Part
    after: tuple[int, ...]
    before: tuple[int, ...]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """One alternative of a pattern. `order` has all pairs of parts (by number) of which the first is the earlier.

    All events agree in the columns `keys`. `conditions` read two parts or more.
    """

    pattern: str
    parts: tuple[Part, ...]
    order: tuple[tuple[int, int], ...] = ()
    conditions: tuple[Condition, ...] = ()
    absences: tuple[Absence, ...] = ()
    keys: tuple[Name, ...] = ()
    window: Window = Window()
    number: int = 0

    def __str__(self) -> str:
        names = [part.variable for part in self.parts]
        parts = [f"{part.label} {part.variable}" for part in self.parts]
        for one in self.absences:
            after, before = (", ".join(names[part] for part in side) for side in (one.after, one.before))
            between = f"{f' after {after}' if after else ''}{f' before {before}' if before else ''}"
            tests = "".join(f" AND {test}" for test in one.conditions)
            parts.append(f"~({one.event.label} {one.event.variable}{between}{tests})")
        order = [f"{names[first]} -> {names[second]}" for first, second in self.order]
        keys = [f"[{', '.join(map(str, self.keys))}]"] if self.keys else []
        lines = [", ".join(parts), ", ".join(order), " AND ".join([*keys, *map(str, self.conditions)])]
        return " | ".join(line for line in (*lines, f"WITHIN {self.window}") if line)


def variable_of(node: Expression, variables: frozenset[str]) -> str | None:
    """The variable that a name or member begins with; None for what has none."""
    match node:
        case Name(parts=(first, _, *_)) | Member(variable=first):
            name = first.text if first.quoted else first.text.upper()
            return name if name in variables else None
    return None


def rename(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with other names for its variables."""
    variable = variable_of(expression, frozenset(names))
    if variable is None:
        return e.rebuild(expression, lambda child: rename(child, names))
    identifier = Identifier(names[variable], quoted=True)
    if isinstance(expression, Name):
        return replace(expression, parts=(identifier, *expression.parts[1:]))
    assert isinstance(expression, Member)
    return replace(expression, variable=identifier)


def condition_of(expression: Expression, variables: tuple[str, ...]) -> Condition:
    """A condition over some of the variables, in its one form.

    Examples
    --------
    >>> from trellis.languages.sase import parse_sase_text
    >>> where = parse_sase_text("PATTERN SEQ(A a, B b) WHERE { b.x > a.x and b.y = a.x }").events.where
    >>> for one in where:
    ...     print(condition_of(one, ("A", "B")), "|", condition_of(one, ("A", "B")).template)
    a.x < b.x | `?0`.x < `?1`.x
    a.x = b.y | `?0`.x = `?1`.y
    """
    known = frozenset(variables)
    symmetric = False
    match expression:
        case e.Operator(symbol=symbol, operands=(left, right)) if symbol in _FLIPPED:
            expression = e.Operator(_FLIPPED[symbol], (right, left), expression.span)
        case e.Operator(symbol=symbol, operands=(left, right)) if symbol in _SYMMETRIC:
            texts = [_masked(side, known) for side in (left, right)]
            if (not _reads(right, known), texts[1]) < (not _reads(left, known), texts[0]):
                expression = e.Operator(symbol, (right, left), expression.span)
            # Where both sides read the same of two variables, neither comes first.
            symmetric = texts[0] == texts[1] and all(len(_reads(side, known)) == 1 for side in (left, right))
    reads = _reads(expression, known)
    template = str(rename(expression, {variable: f"?{number}" for number, variable in enumerate(reads)}))
    return Condition(expression, reads, template, symmetric and len(reads) == 2)


def _reads(expression: Expression, variables: frozenset[str]) -> tuple[str, ...]:
    found = (variable_of(node, variables) for node in e.walk(expression))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _masked(expression: Expression, variables: frozenset[str]) -> str:
    reads = _reads(expression, variables)
    return str(rename(expression, {variable: f"?{number}" for number, variable in enumerate(reads)}))
