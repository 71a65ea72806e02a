"""Row patterns: regular expressions over pattern variables, with `&` and `~` where variables match segments.

The text form of a pattern is SQL:2016's, with no more brackets than needed: `str(pattern)` can be parsed back. What
binds tightest comes first: quantifiers, `~`, `&`, concatenation, `|`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import chain
from typing import TypeAlias

from trellis.errors import BindingError, Span, assert_never

__all__ = [
    "MAX_COUNT",
    "Alt",
    "Anchor",
    "And",
    "Check",
    "Concat",
    "CountParameter",
    "Empty",
    "Exclude",
    "Mode",
    "Not",
    "Pattern",
    "Permute",
    "Repeat",
    "Var",
    "children",
    "combines_segments",
    "counts",
    "flatten",
    "is_possessive",
    "rebuild",
    "variables_of",
    "walk",
    "with_counts",
]

# The largest number in a quantifier.
MAX_COUNT = 10_000


# PERMUTE before a bracket is a keyword; the others are refused, since they are operators elsewhere.
_KEYWORDS = frozenset({"PERMUTE", "AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class Var:
    """One row that satisfies the condition of a variable."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        plain = self.name.isidentifier() and self.name.isupper() and self.name not in _KEYWORDS
        return self.name if plain else f"`{self.name.replace('`', '``')}`"


@dataclass(frozen=True, slots=True)
class Empty:
    """No row at all: `()`."""

    def __str__(self) -> str:
        return "()"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The place before the first row (`^`) or after the last row (`$`) of a series."""

    at_start: bool

    def __str__(self) -> str:
        return "^" if self.at_start else "$"


@dataclass(frozen=True, slots=True)
class Check:
    """No row, but a condition on the match so far, as DEFINE has it for a variable; it has no words in SQL."""

    name: str

    def __str__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True)
class Concat:
    """The parts, one after the other; at least two.

    A `Concat` inside a `Concat` is not the same as all parts in one: where variables match segments, each level
    decides for itself whether its parts share their boundary rows. `apart`: they never do, whatever the variables
    match; that has no words in SQL, only rules write it, and it is shown with commas.
    """

    parts: tuple[Pattern, ...]
    apart: bool = False

    def __str__(self) -> str:
        shown = (f"({part})" if isinstance(part, (Alt, Concat)) else str(part) for part in self.parts)
        return (", " if self.apart else " ").join(shown)


@dataclass(frozen=True, slots=True)
class Alt:
    """One of the options, the earlier preferred; at least two."""

    options: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " | ".join(str(option) for option in self.options)


@dataclass(frozen=True, slots=True)
class And:
    """A stretch of rows that all the parts match; at least two."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " & ".join(f"({part})" if isinstance(part, (Alt, Concat)) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """A stretch of rows that the body does not match."""

    body: Pattern

    def __str__(self) -> str:
        return f"~({self.body})" if isinstance(self.body, (Alt, Concat, And)) else f"~{self.body}"


@dataclass(frozen=True, slots=True)
class CountParameter:
    """A parameter of the statement where a quantifier has a number: `{:name}`."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f":{self.name}"


class Mode(Enum):
    """How many times a repetition goes round, and the sign after its quantifier.

    POSSESSIVE takes as many as it can and never gives one back.
    """

    GREEDY = ""
    RELUCTANT = "?"
    POSSESSIVE = "+"


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body, `least` to `most` times (`None`: without bound); greedy prefers more, reluctant fewer.

    A number can be a parameter until `with_counts` gives it its value; `counts` reads the numbers after that.
    """

    body: Pattern
    least: int | CountParameter
    most: int | CountParameter | None
    mode: Mode = Mode.GREEDY

    def __str__(self) -> str:
        bare = isinstance(self.body, (Var, Permute, Empty, Exclude))
        body = str(self.body) if bare else f"({self.body})"
        match (self.least, self.most):
            case (0, None):
                count = "*"
            case (1, None):
                count = "+"
            case (0, 1):
                count = "?"
            case (least, None):
                count = f"{{{least},}}"
            case (least, most) if least == most:
                count = f"{{{least}}}"
            case (least, most):
                count = f"{{{least},{most}}}"
        return f"{body}{count}{self.mode.value}"


@dataclass(frozen=True, slots=True)
class Permute:
    """All orders of the parts; the order as written is preferred, then lexicographically."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"PERMUTE({', '.join(str(part) for part in self.parts)})"


@dataclass(frozen=True, slots=True)
class Exclude:
    """Rows that belong to the match but not to the output of ALL ROWS PER MATCH: `{- body -}`."""

    body: Pattern

    def __str__(self) -> str:
        return f"{{- {self.body} -}}"


Pattern: TypeAlias = Var | Empty | Anchor | Check | Concat | Alt | And | Not | Repeat | Permute | Exclude


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns that stand directly inside."""
    match pattern:
        case Concat(parts) | And(parts) | Permute(parts):
            return parts
        case Alt(options):
            return options
        case Repeat(body=body) | Exclude(body) | Not(body):
            return (body,)
        case Var() | Empty() | Anchor() | Check():
            return ()
    assert_never(pattern)


def rebuild(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """The same pattern with each direct child replaced by `change(child)`."""
    match pattern:
        case Concat(parts):
            return replace(pattern, parts=tuple(map(change, parts)))
        case And(parts):
            return And(tuple(map(change, parts)))
        case Permute(parts):
            return Permute(tuple(map(change, parts)))
        case Alt(options):
            return Alt(tuple(map(change, options)))
        case Repeat(body=body):
            return replace(pattern, body=change(body))
        case Exclude(body):
            return Exclude(change(body))
        case Not(body):
            return Not(change(body))
        case Var() | Empty() | Anchor() | Check():
            return pattern
    assert_never(pattern)


def walk(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern and all its parts, outermost first, left to right."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def variables_of(pattern: Pattern) -> tuple[str, ...]:
    """The names of the variables, in the order of their first appearance."""
    return tuple(dict.fromkeys(node.name for node in walk(pattern) if isinstance(node, (Var, Check))))


def combines_segments(pattern: Pattern) -> bool:
    """Whether `&` or `~` stands in the pattern: then it speaks of segments, whatever its variables are."""
    return any(isinstance(node, (And, Not)) for node in walk(pattern))


def is_possessive(pattern: Pattern) -> bool:
    """Whether a repetition in the pattern never gives a row back: then not every way through it is a match."""
    return any(isinstance(node, Repeat) and node.mode is Mode.POSSESSIVE for node in walk(pattern))


def flatten(pattern: Pattern) -> Pattern:
    """The pattern without brackets that mean nothing where variables match single rows: `(A B) C` is `A B C`."""
    pattern = rebuild(pattern, flatten)
    if not isinstance(pattern, (Concat, Alt)):
        return pattern
    kind = type(pattern)
    nested = (children(part) if isinstance(part, kind) else (part,) for part in children(pattern))
    return kind(tuple(chain.from_iterable(nested)))


def counts(repeat: Repeat) -> tuple[int, int | None]:
    """The numbers of a repetition, all parameters of which have their values."""
    least, most = repeat.least, repeat.most
    assert not isinstance(least, CountParameter) and not isinstance(most, CountParameter)
    return least, most


def with_counts(pattern: Pattern, values: Mapping[str, object]) -> Pattern:
    """The pattern with the values of parameters in its quantifiers; they follow the rules for written numbers."""
    pattern = rebuild(pattern, partial(with_counts, values=values))
    return _with_numbers(pattern, values) if isinstance(pattern, Repeat) else pattern


def _with_numbers(repeat: Repeat, values: Mapping[str, object]) -> Repeat:
    if not isinstance(repeat.least, CountParameter) and not isinstance(repeat.most, CountParameter):
        return repeat
    least = _number(repeat.least, values)
    if repeat.least == repeat.most:
        return replace(repeat, least=least, most=least)
    if repeat.most is None:
        return replace(repeat, least=least)
    most = _number(repeat.most, values)
    last = repeat.most if isinstance(repeat.most, CountParameter) else repeat.least
    span = last.span if isinstance(last, CountParameter) else None
    if most == 0:
        raise BindingError(
            "The upper bound of a quantifier must be at least 1.", cure=f"Pass 1 or more as {repeat.most}.", span=span
        )
    if most < least:
        raise BindingError(
            f"The quantifier {{{repeat.least},{repeat.most}}} asks for at least {least} and at most {most}.",
            cure="Pass values for which the first number is not above the second.",
            span=span,
        )
    return replace(repeat, least=least, most=most)


def _number(count: int | CountParameter, values: Mapping[str, object]) -> int:
    if not isinstance(count, CountParameter):
        return count
    if count.name not in values:
        raise BindingError(
            f"The parameter {count} has no value.", cure=f"Pass args={{{count.name!r}: ...}}.", span=count.span
        )
    value = values[count.name]
    number = _whole(value)
    if number is not None and 0 <= number <= MAX_COUNT:
        return number
    # The value itself is not shown: it can be longer than any message should be.
    wrong = f"of type {type(value).__name__}" if number is None else "negative" if number < 0 else f"above {MAX_COUNT}"
    raise BindingError(
        f"The parameter {count} of a quantifier is {wrong}.",
        cure=f"Pass a whole number from 0 to {MAX_COUNT}.",
        span=count.span,
    )


def _whole(value: object) -> int | None:
    """The value as a number, None if it is not whole. NumPy's whole numbers are, 2.0 and True are not."""
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
