"""What the plans of all searches share: slots, programs, slices, and the outputs that Spark finishes.

Plain values; no arrays, no Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "First",
    "Gather",
    "Label",
    "ListAggregate",
    "Mark",
    "Number",
    "OfGraph",
    "Output",
    "PatternName",
    "Present",
    "ProgramSpec",
    "SliceSpec",
    "SlotSource",
    "Value",
]


@dataclass(frozen=True, slots=True)
class SlotSource:
    """Where a slot of the kernel comes from: a column of the sorted rows, held as `int`, `float` or `code` (strings).

    A decimal of more than 18 digits has two slots, `low` and behind it `high`.
    `previous` instead numbers, for each row, the row before it with an equal value in slot `of`. `pair int`,
    `pair float` and `pair code` are arrays with a value for each row of the series.
    """

    column: str
    held: str
    of: int = -1


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """All expression programs: instructions (op, a, b), constants, and the strings among the integer constants."""

    code: tuple[tuple[int, int, int], ...] = ()
    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    strings: tuple[tuple[int, str], ...] = ()
    depth: int = 1
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class SliceSpec:
    """How the matcher knows slices: `number` is the last column of `keys`.

    Either columns say the `part` of a slice that a row is (0 for the halo, 1 for the slice, 2 for its first rows, which
    are in the halo of a slice before) and in `base` how many rows of the series come before the slice. Or both follow
    from the order key (`key`): a slice is `width` units of it, its halo a `window` more; `number` is where the slice
    begins for times, and counts slices for numbers.
    """

    number: str
    resolve: bool
    part: str = ""
    base: str = ""
    key: str = ""
    width: int = 0
    window: int = 0
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Gather:
    """The value of a column in the row that a place means."""

    column: str
    place: int


@dataclass(frozen=True, slots=True)
class Present:
    """Whether the row that a place means exists."""

    place: int


@dataclass(frozen=True, slots=True)
class Label:
    """The name of the variable of the row that a place means."""

    place: int


@dataclass(frozen=True, slots=True)
class First:
    """Whether an output row is the first one of its match."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a match of a slice stands, for the pass that decides between slices.

    `what` is `slice` (its number), `start` (its first row, counted in the slice), `next` (the row at which the search
    goes on; below 0 it cannot; of events, the last row), `rows` (how many rows the slice has without its halo) or `row`
    (the output row within its match). Where the rows before each slice are counted, rows are counted in the series, as
    if it were one slice.
    """

    what: str


@dataclass(frozen=True, slots=True)
class Number:
    """The number of the match; if it is not `counted`, all that matters is whether there is one."""

    counted: bool = True


@dataclass(frozen=True, slots=True)
class PatternName:
    """The name of the pattern of a workload that was matched."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an aggregate; for extremes, the value of a column in the row that the kernel found.

    `columns` holds one column for each variable, for values that depend on CLASSIFIER().
    """

    aggregate: int
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListAggregate:
    """The values of a column (for each variable) in all rows of a set, as an array."""

    variables: frozenset[str] | None
    columns: tuple[str, ...]
    final: bool


@dataclass(frozen=True, slots=True)
class OfGraph:
    """Of all matches that end at one event, what their graph says.

    `what` is `matches` (how many there are), `parts` (the component of each node, counted from 0; below 0 for a
    choice), `events` (the value of `column` in each node, NULL for a choice), `sources` or `targets` (the nodes that
    each edge leads from, and to).
    """

    what: str
    column: str = ""


Output: TypeAlias = Gather | Present | First | Label | Mark | Number | PatternName | Value | ListAggregate | OfGraph
