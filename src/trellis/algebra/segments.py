"""Segment queries as plans: what conditions and measures read of segments, and the search for them.

A segment runs from a start row to an end row of one series, both included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from trellis.algebra.logical_tree import LogicalNode
from trellis.algebra.query import Boundary, RowsPerMatch, SkipTo, Wanted
from trellis.algebra.scan import Output, ProgramSpec, SliceSpec, SlotSource

__all__ = [
    "WHOLE_MATCH",
    "Choices",
    "Function",
    "Price",
    "Read",
    "SegmentCondition",
    "SegmentRow",
    "SegmentScan",
    "SegmentValue",
    "Threshold",
]


@dataclass(frozen=True, slots=True)
class Choices:
    """What is forced instead of chosen by cost; "" chooses. For experiments, tests and support.

    `order`: `left`, `right` (deep); `join`: `merge`, `probe`; `negation`: `materialize`, `probe`; `generator`: `index`,
    `filter`; `sets`: `bands`, `pairs`.
    """

    order: str = ""
    join: str = ""
    negation: str = ""
    generator: str = ""
    sets: str = ""


WHOLE_MATCH = " match"
"""The variable that stands for the whole match; no variable of a pattern can be called so."""


@dataclass(frozen=True, slots=True)
class Read:
    """A slot in one row of the segment of a variable (`""`: the segment under test).

    The row is `offset` rows from the start (`from_first`) or back from the end, then `shift` rows on in the series.
    """

    slot: int
    variable: str
    from_first: bool
    offset: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A row of a segment, as `Read` finds it. As a value: whether it exists."""

    variable: str
    from_first: bool
    offset: int = 0
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """A function of whole segments: slots, the variable that each slot is read from, and constants."""

    name: str
    slots: tuple[int, ...]
    variables: tuple[str, ...]
    constants: tuple[float, ...] = ()


SegmentValue: TypeAlias = Read | SegmentRow | Function


@dataclass(frozen=True, slots=True)
class Price:
    """What a registered function costs: nanoseconds that are `constant`, or grow with the rows or their square."""

    growth: str
    nanoseconds: float
    has_index: bool


@dataclass(frozen=True, slots=True)
class Threshold:
    """A condition of the commonest shape: a number of the segment against a constant.

    `step` is `-` or `/` between the last and the first value of slot `slots[0]` (`turned`: first before last), the
    name of a function, or `row` for a truth value of the last (`turned`: first) row. `comparison` is the number of the
    comparison in programs.
    """

    step: str
    slots: tuple[int, ...]
    comparison: int
    bound: float
    turned: bool = False


@dataclass(frozen=True, slots=True)
class SegmentCondition:
    """A condition: values of segments, and the program over them. `reads` are the variables in it.

    With an `owner` it is tested beside others, of the segment of that variable; where the owner has none, it holds.
    """

    values: tuple[SegmentValue, ...]
    floats: tuple[bool, ...]
    begin: int
    end: int
    text: str
    reads: frozenset[str] = frozenset()
    owner: str = ""
    threshold: Threshold | None = None


@dataclass(frozen=True, slots=True)
class SegmentScan:
    """Everything a worker needs to find segments and to write them out; pickled to the workers.

    `tracked` are the variables whose segments are kept beside each match: those that outputs or the skip read.
    `places` are the rows and `values` the functions that outputs read. `reach` is how many rows before and after a
    segment conditions may read. `choices` are what the user forces of the physical plan, `costs` the
    constants of the cost model as JSON. `dropped`: rows may be missing, as for an `AutomatonScan`. On a stream, `time`
    is the column of event times.
    """

    keys: tuple[str, ...]
    tree: LogicalNode
    conditions: tuple[SegmentCondition, ...]
    slots: tuple[SlotSource, ...]
    scales: tuple[float, ...]
    program: ProgramSpec
    tracked: tuple[str, ...]
    places: tuple[SegmentRow, ...]
    values: tuple[Function, ...]
    outputs: tuple[tuple[str, Output], ...]
    wanted: Wanted
    skip: SkipTo
    skip_to: str
    preference: tuple[Boundary, ...]
    rows_per_match: RowsPerMatch
    reach: int
    budget: int
    chunk_rows: int
    choices: Choices
    costs: str | None = None
    slices: SliceSpec | None = None
    dropped: bool = False
    time: str = ""
