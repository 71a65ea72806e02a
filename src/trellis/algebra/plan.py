"""A query as Spark runs it: what is prepared, which search matches, what is finished. Plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from trellis.algebra.automaton import AutomatonScan
from trellis.algebra.event_scan import EventScan
from trellis.algebra.expression import Aggregate, Expression
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.segments import SegmentScan
from trellis.algebra.workload_scan import WorkloadScan

__all__ = [
    "LATE",
    "ROW",
    "Fired",
    "GroupedRows",
    "NeighbourPlan",
    "PairPlan",
    "Plan",
    "Remembered",
    "Scan",
    "StreamSpec",
]

Scan: TypeAlias = AutomatonScan | SegmentScan | EventScan | WorkloadScan
"""The search of a plan: what workers do with sorted rows."""


@dataclass(frozen=True, slots=True)
class PairPlan:
    """Functions of two rows that Spark computes for all pairs of rows of a series.

    `keys` are those of the query, `order` is its order with what breaks ties, `first` the columns that are read of the
    first row (in the struct `struct`), `values` the functions, `row` the number of a row in its series. Without
    functions, rows are numbered only.
    """

    keys: tuple[Expression, ...]
    order: tuple[tuple[Expression, bool, bool], ...]
    first: tuple[str, ...]
    values: tuple[tuple[str, Expression], ...]
    struct: str
    row: str


@dataclass(frozen=True, slots=True)
class NeighbourPlan:
    """Values of neighbouring rows as columns, computed of the sorted rows before some of them are dropped.

    `columns` are named values of other rows: a column before the exchange, and how many rows on (back, if negative).
    `projected` are columns for the matcher that read them, `keep` is the condition of rows that somebody sees.
    """

    columns: tuple[tuple[str, str, int], ...]
    projected: tuple[tuple[str, Expression], ...]
    keep: Expression


@dataclass(frozen=True, slots=True)
class Fired:
    """A rule that changed something: its name, what it did, and the seconds that it took."""

    rule: str
    note: str
    seconds: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        return f"{self.rule}: {self.note}"


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


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is kept of a series beside its open rows: so many `rows` before them, and, if `numbers`, of its matches."""

    rows: int
    numbers: bool


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """How rows that keep coming are searched.

    `time` is the column of event times, which a watermark follows; `sorted_by` the order within a series (column,
    descending, nulls first), and `columns` what is kept of a row: names, and what they are. Keys are spread over so
    many `buckets`. `late` says what becomes of rows that come behind the watermark: `drop`, `error` or `column`.

    What has kept rows for another query is of no use to this one: `query` is its text without measures, `keys` what
    says which series a row belongs to, `order` the keys of ORDER BY, and `ties` the hash behind these. What it looks
    back at is `remembered`; None where nobody has asked the search.
    """

    time: str
    sorted_by: tuple[tuple[str, bool, bool], ...]
    columns: tuple[tuple[str, str], ...]
    buckets: int
    late: str
    query: str
    keys: tuple[str, ...]
    order: tuple[str, ...]
    ties: str
    remembered: Remembered | None = None


LATE = "__late"
"""The name of the struct that holds a row of the input that came too late."""

ROW = "__row"
"""The name of the struct that holds a row of a match."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A query as Spark runs it: drop rows, project, exchange and sort, search, finish.

    `before` says which rows are dropped, and how series are cut; `neighbours` what happens between sort and search;
    `partition_keys` and `order_keys` are those of the query.

    `projected` are the columns before the exchange, `sorted_by` the sort (column, descending, nulls first),
    `shipped` the columns that the search (`scan`) reads, `finished` the columns of the result over its outputs and over
    the aggregates of `grouped`. `warnings` are for the user, whether the plan runs or not. With `stream`, the input is
    one.
    """

    projected: tuple[tuple[str, Expression], ...]
    sorted_by: tuple[tuple[str, bool, bool], ...]
    shipped: tuple[str, ...]
    scan: Scan
    finished: tuple[tuple[str, Expression], ...]
    rules: tuple[Fired, ...] = ()
    pairs: PairPlan | None = None
    before: BeforeMatch = field(default_factory=BeforeMatch)
    partition_keys: tuple[Expression, ...] = ()
    order_keys: tuple[Expression, ...] = ()
    neighbours: NeighbourPlan | None = None
    warnings: tuple[str, ...] = ()
    grouped: tuple[GroupedRows, ...] = ()
    stream: StreamSpec | None = None
