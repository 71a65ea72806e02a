"""The report that `trellis.why` gives: plain values, with a text, a page and a dictionary of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from trellis.reasons.page import report_html
from trellis.reasons.text import report_text

__all__ = ["End", "Miss", "MissRow", "Part", "Step", "Variable", "Why", "Words"]


@dataclass(frozen=True, slots=True)
class Words:
    """Headings of a report; `{}` is the number of starts.

    `shares`: counts in the funnel are shares of the starts. `whole` is said of variables without a condition.
    """

    alone: str = "Rows that satisfy the condition of a variable alone"
    funnel: str = "How far partial matches come from {} as starts"
    ends: str = "What ended those without a match, where they were nearest to one"
    match: str = "a match"
    shares: bool = True
    whole: str = "always true"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a condition, and how many rows pass it and the parts before it; None if it looks at the match."""

    text: str
    rows: int | None


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, its condition, and how many rows satisfy that alone: without what of it looks at the match.

    `parts` are those of the condition in the order in which they are tested. Of segments, `rows` is how many segments
    there are, None if too many to count, and each of the `parts` is counted for itself.
    """

    name: str
    condition: str
    rows: int | None
    parts: tuple[Part, ...] = ()

    @property
    def looks_at_match(self) -> bool:
        """Whether a part of the condition looks at the match so far, so that `rows` is not the whole truth."""
        return any(part.rows is None for part in self.parts)


@dataclass(frozen=True, slots=True)
class Step:
    """A place in the pattern, and how many starts have a partial match that reaches it.

    Of event patterns, how many events runs take there, and how many `runs` these are; None is too many to count. Of
    segments, how many there are.
    """

    text: str
    count: int | None
    runs: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """What ended partial matches, and how many of them.

    `reason` is `condition`, `within`, `rows` (the partition has no more) or `anchor`; `text` is the part of the
    condition, or says the rest.
    """

    element: str
    reason: str
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class MissRow:
    """A row of a miss: its number in its partition, what it was taken for ("" for the one that failed), its values."""

    number: int
    element: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """A partial match that nearly became a match.

    `missing` is how many rows it is short of a match at least; `end` is what ended it. Of the `taken` rows, `gap` are
    left out in `rows`, behind the third.
    """

    keys: tuple[tuple[str, str], ...]
    taken: int
    missing: int
    end: End
    rows: tuple[MissRow, ...]
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Why:
    """Why nothing matched, or what fails beside the matches that there are.

    Attributes
    ----------
    pattern : str
        The pattern.
    rows, total : int
        How many rows were looked at, and how many there are; the same unless a sample was asked for.
    partitions, longest, shortest : int
        How many partitions there are, how many rows the longest has, and how many the shortest match needs.
    matches : int or None
        How many matches the query finds in these rows; None if the search was given up.
    starts, matched : int
        How many rows were tried as the first row of a match, and from how many of them there is one.
    findings : tuple of str
        What to look at first.
    variables : tuple of Variable
        How many rows satisfy the condition of each variable alone.
    funnel : tuple of Step
        How far partial matches come, along the pattern.
    ends : tuple of End
        What ended them: each start without a match is told once, by what was nearest to a match.
    cut : int
        Of these, how many would have gone on, had WITHIN not ended them.
    nearest : tuple of Miss
        The nearest misses.
    columns : tuple of str
        What the values in their rows are.
    notes : tuple of str
        What is not exact, and why.
    """

    pattern: str
    rows: int
    total: int
    partitions: int
    longest: int
    shortest: int
    matches: int | None
    starts: int
    matched: int
    findings: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    funnel: tuple[Step, ...] = ()
    ends: tuple[End, ...] = ()
    cut: int = 0
    within: str = ""
    nearest: tuple[Miss, ...] = ()
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    words: Words = field(default=Words(), repr=False)

    def __str__(self) -> str:
        return report_text(self)

    def _repr_html_(self) -> str:
        """The report as notebooks show it."""
        return report_html(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return asdict(self)
