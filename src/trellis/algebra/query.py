"""What a row pattern query is, without its input: equal queries are equal values, however they were written."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from trellis.algebra.events import EventClauses, event_text
from trellis.algebra.expression import Expression, Identifier
from trellis.algebra.pattern import Pattern, Var, combines_segments
from trellis.algebra.words import OF_ROWS, Words
from trellis.errors import Span

__all__ = [
    "Boundary",
    "Definition",
    "Measure",
    "Query",
    "RowsPerMatch",
    "Selection",
    "Skip",
    "SkipTo",
    "SortKey",
    "Subset",
    "VariableKind",
    "Wanted",
]


class VariableKind(Enum):
    """What a variable of the pattern stands for."""

    ROW = "row"
    SEGMENT = "segment"
    EVENT = "event"


class Wanted(Enum):
    """Which of all matches the query asks for."""

    PREFERRED = "preferred"
    """From each start the most preferred one; then AFTER MATCH SKIP says where the search goes on."""
    EACH = "each"
    """The same for each alternative of the pattern, searched by itself; what several find is given out once."""
    ALL = "all"
    """Every match, also several from one row."""
    NON_OVERLAPPING = "non-overlapping"
    """The first to end in its series wins, and those that overlap it are dropped."""


class Selection(Enum):
    """Which rows may lie between two neighbouring rows of a match."""

    STRICT_CONTIGUITY = "strict contiguity"
    """None at all, of any partition."""
    PARTITION_CONTIGUITY = "partition contiguity"
    """None of the same partition."""
    SKIP_TILL_NEXT_MATCH = "skip till next match"
    """Those that cannot go on with the match."""
    SKIP_TILL_ANY_MATCH = "skip till any match"
    """Any."""


class RowsPerMatch(Enum):
    """What the output holds."""

    ONE = "ONE ROW PER MATCH"
    ALL = "ALL ROWS PER MATCH SHOW EMPTY MATCHES"
    ALL_OMIT_EMPTY = "ALL ROWS PER MATCH OMIT EMPTY MATCHES"
    ALL_WITH_UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS"


class SkipTo(Enum):
    """Where the search goes on after a match."""

    PAST_LAST_ROW = "SKIP PAST LAST ROW"
    NEXT_ROW = "SKIP TO NEXT ROW"
    FIRST = "SKIP TO FIRST"
    LAST = "SKIP TO LAST"


@dataclass(frozen=True, slots=True)
class Skip:
    """AFTER MATCH. `variable` (a variable or a subset) stands with FIRST and LAST only; TO v is TO LAST v."""

    to: SkipTo = SkipTo.PAST_LAST_ROW
    variable: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.to.value if self.variable is None else f"{self.to.value} {Var(self.variable)}"


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of ORDER BY. Nulls come first in ascending and last in descending order unless said otherwise."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = True

    def __str__(self) -> str:
        direction = "DESC" if self.descending else "ASC"
        return f"{self.expression} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True, slots=True)
class Measure:
    """A named value of each match (or of each of its rows)."""

    name: str
    expression: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Subset:
    """A union variable: the rows of any of the variables."""

    name: str
    variables: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Definition:
    """The condition of a variable: of single rows, of whole segments, or of events."""

    variable: str
    condition: Expression
    span: Span | None = field(default=None, compare=False, repr=False)
    kind: VariableKind = VariableKind.ROW

    def __str__(self) -> str:
        return f"{'SEGMENT ' if self.kind is VariableKind.SEGMENT else ''}{Var(self.variable)} AS {self.condition}"


@dataclass(frozen=True, slots=True)
class Boundary:
    """The first (`at_start`) or last row of a variable, or the last of the match (None): later is better, or not."""

    variable: str | None
    at_start: bool
    latest: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A pattern query. `within` bounds last minus first of the first order key, inclusive.

    `after_match` speaks of the preferred matches alone; where others are `wanted`, nothing is skipped. `rows_span` is
    where the words of `rows_per_match` stand. `preference` orders the matches of a segment query that start in the same
    row, where that is not just by length; rules write it. `timeouts` asks for beginnings of matches, too, whose window
    closed before they were whole (SHOW TIMEOUT MATCHES). `words` are those of the language it is written in.
    """

    pattern: Pattern
    definitions: tuple[Definition, ...] = ()
    measures: tuple[Measure, ...] = ()
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    rows_per_match: RowsPerMatch = RowsPerMatch.ONE
    after_match: Skip = Skip()
    subsets: tuple[Subset, ...] = ()
    within: Expression | None = None
    rows_span: Span | None = field(default=None, compare=False, repr=False)
    preference: tuple[Boundary, ...] = ()
    wanted: Wanted = Wanted.PREFERRED
    selection: Selection = Selection.PARTITION_CONTIGUITY
    events: EventClauses | None = None
    timeouts: bool = False
    words: Words = field(default=OF_ROWS, compare=False, repr=False)

    @property
    def segments(self) -> frozenset[str]:
        """The variables that stand for segments."""
        return frozenset(one.variable for one in self.definitions if one.kind is VariableKind.SEGMENT)

    @property
    def kind(self) -> VariableKind:
        """What the variables stand for: one of another kind than a row decides for all."""
        kinds = {definition.kind for definition in self.definitions} - {VariableKind.ROW}
        if not kinds and combines_segments(self.pattern):
            return VariableKind.SEGMENT
        return kinds.pop() if kinds else VariableKind.ROW

    def __str__(self) -> str:
        if self.events is not None:
            return event_text(self, self.events)
        lines = []
        if self.partition_by:
            lines.append("PARTITION BY " + ", ".join(map(str, self.partition_by)))
        if self.order_by:
            lines.append("ORDER BY " + ", ".join(map(str, self.order_by)))
        if self.measures:
            measures = (f"{m.expression} AS {Identifier(m.name, quoted=True)}" for m in self.measures)
            lines.append("MEASURES " + ", ".join(measures))
        lines.append(f"{self.rows_per_match.value}{' SHOW TIMEOUT MATCHES' if self.timeouts else ''}")
        if self.wanted in (Wanted.PREFERRED, Wanted.EACH):
            lines.append(f"AFTER MATCH {self.after_match}")
        lines.append(f"PATTERN {'EACH ' if self.wanted is Wanted.EACH else ''}({self.pattern})")
        if self.within is not None:
            lines.append(f"WITHIN {self.within}")
        if self.subsets:
            subsets = (f"{Var(s.name)} = ({', '.join(str(Var(v)) for v in s.variables)})" for s in self.subsets)
            lines.append("SUBSET " + ", ".join(subsets))
        if self.definitions:
            lines.append("DEFINE " + ", ".join(map(str, self.definitions)))
        return "\n".join(lines)
