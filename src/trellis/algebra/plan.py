"""Physical plans: what Spark projects, what the matcher runs, what Spark finishes.

Plain values; no arrays, no Spark.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

from trellis.algebra.expression import Aggregate, Expression, Place
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.query import RowsPerMatch, SkipTo

__all__ = [
    "ROW",
    "AggregateSpec",
    "BesidePlan",
    "Condition",
    "First",
    "Gather",
    "GroupedRows",
    "Instruction",
    "Label",
    "ListAggregate",
    "Mark",
    "MatchPlan",
    "Merge",
    "Number",
    "Op",
    "Output",
    "PairPlan",
    "Present",
    "ProgramSpec",
    "Register",
    "ScanPlan",
    "SliceSpec",
    "SlotSource",
    "Value",
    "WindowSpec",
]


class Op(IntEnum):
    """What an instruction of the automaton does."""

    CONSUME = 0
    SPLIT = 1
    JUMP = 2
    ANCHOR_START = 3
    ANCHOR_END = 4
    ACCEPT = 5


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of the automaton: CONSUME a row of `variable`; go on at `x`, or for SPLIT at `x` or else `y`."""

    op: Op
    variable: int = -1
    excluded: bool = False
    x: int = -1
    y: int = -1


@dataclass(frozen=True, slots=True)
class SlotSource:
    """Where a slot of the kernel comes from: a column of the sorted rows, held as `int`, `float` or `code` (strings).

    `previous` instead numbers, for each row, the row before it with an equal value in slot `of`. `pair int` and
    `pair float` are arrays with a value for each row of the series.
    """

    column: str
    held: str
    of: int = -1


@dataclass(frozen=True, slots=True)
class Condition:
    """How a variable is tested. `where` is `always`, `spark` (a column), `bit` (a program for each row) or `kernel`.

    A column of Spark's may hold several conditions, `mask` is the number of this one's bit; or one truth value, and
    `mask` is -1. `slow`: it reads functions of two rows that Spark computes for all pairs.
    """

    variable: str
    where: str
    text: str
    column: str = ""
    begin: int = 0
    end: int = 0
    slow: bool = False
    mask: int = -1


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
class AggregateSpec:
    """A kernel aggregate.

    Kind, set of variables, slot for each variable, slot of MAX_BY's value, chain for DISTINCT.
    """

    kind: int
    variables: frozenset[str] | None
    slots: tuple[int, ...]
    second: tuple[int, ...] = ()
    previous: int = -1
    final: bool = False


@dataclass(frozen=True, slots=True)
class Register:
    """A part of the match so far that a later condition may read: kind, set or aggregate, depth."""

    kind: int
    number: int
    depth: int


@dataclass(frozen=True, slots=True)
class Merge:
    """When two search states at an instruction are the same: `kind` is PURE, KEYED (by registers) or NEVER."""

    kind: int
    registers: tuple[Register, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """WITHIN: the columns of the order key and of the last key allowed from there; `descending` turns both round.

    Without a column `deadline`, the last key is `width` units further (or less far, where int64 ends).
    """

    key: str
    deadline: str
    descending: bool
    width: int = 0


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
    goes on; below 0 it cannot), `rows` (how many rows the slice has without its halo) or `row` (the output row within
    its match). Where the rows before each slice are counted, rows are counted in the series, as if it were one slice.
    """

    what: str


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
class Number:
    """The number of the match."""


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


Output = Gather | Present | First | Label | Mark | Number | Value | ListAggregate


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """Everything the matcher needs to turn sorted rows into output rows; pickled to the workers.

    `dropped`: rows may be missing, so that numbers of rows are not those of the input.
    """

    keys: tuple[str, ...]
    variables: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    conditions: tuple[Condition, ...]
    slots: tuple[SlotSource, ...]
    program: ProgramSpec
    places: tuple[Place, ...]
    aggregates: tuple[AggregateSpec, ...]
    merges: tuple[Merge, ...]
    window: WindowSpec | None
    skip: SkipTo
    skip_to: frozenset[str]
    rows_per_match: RowsPerMatch
    measure_slots: tuple[SlotSource, ...]
    measure_places: tuple[Place, ...]
    measure_aggregates: tuple[AggregateSpec, ...]
    outputs: tuple[tuple[str, Output], ...]
    budget: int
    by_table: bool
    chunk_rows: int
    slices: SliceSpec | None = None
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class PairPlan:
    """Functions of two rows that Spark computes for all pairs of rows of a series.

    `keys` and `order` are those of the query, `first` the columns that are read of the first row (in the struct
    `struct`), `values` the functions, `row` the number of a row in its series.
    """

    keys: tuple[Expression, ...]
    order: tuple[tuple[Expression, bool, bool], ...]
    first: tuple[str, ...]
    values: tuple[tuple[str, Expression], ...]
    struct: str
    row: str


@dataclass(frozen=True, slots=True)
class BesidePlan:
    """What stands beside a row, computed of the sorted rows before some of them are dropped.

    `columns` are named values of other rows: a column before the exchange, and how many rows on (back, if negative).
    `projected` are columns for the matcher that read them, `keep` is the condition of rows that somebody sees.
    """

    columns: tuple[tuple[str, str, int], ...]
    projected: tuple[tuple[str, Expression], ...]
    keep: Expression


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """Aggregates that Spark computes after the match, by grouping the rows that an output row sees.

    `rows` is the output of the matcher that holds these rows, as an array of structs; grouped, each is the struct
    `ROW`. `aggregates` are named aggregates over its fields and over other outputs. Where there are no rows, there is
    one in their place that nobody counts: the struct in the output `instead`, or NULL. `alone`: these aggregates, one
    by one, take no other aggregate beside them; of no rows they are NULL. `texts` is what they were, for people.
    """

    rows: str
    aggregates: tuple[tuple[str, Aggregate], ...]
    instead: str = ""
    alone: bool = False
    texts: tuple[str, ...] = ()


ROW = "__row"
"""The name of the struct that holds a row of a match."""

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class ScanPlan(Generic[M]):
    """A query as Spark runs it: drop rows, project, exchange and sort, match, finish.

    `before` says which rows are dropped, and how series are cut; `beside` what happens between sort and match;
    `partition_keys` are those of the query.

    `projected` are the columns before the exchange, `sorted_by` the sort (column, descending, nulls first),
    `shipped` the columns that the matcher (`match`) reads, `finished` the columns of the result over its outputs and
    over the aggregates of `grouped`.
    """

    projected: tuple[tuple[str, Expression], ...]
    sorted_by: tuple[tuple[str, bool, bool], ...]
    shipped: tuple[str, ...]
    match: M
    finished: tuple[tuple[str, Expression], ...]
    rules: tuple[str, ...] = ()
    pairs: PairPlan | None = None
    before: BeforeMatch = field(default_factory=BeforeMatch)
    partition_keys: tuple[Expression, ...] = ()
    beside: BesidePlan | None = None
    grouped: tuple[GroupedRows, ...] = ()
