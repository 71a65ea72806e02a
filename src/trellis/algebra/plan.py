"""A query as Spark runs it: what is prepared, which search matches, what is finished. Plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from trellis.algebra.automaton import AutomatonScan
from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.segments import SegmentScan

__all__ = ["Fired", "NeighbourPlan", "PairPlan", "Plan", "Scan"]

Scan: TypeAlias = AutomatonScan | SegmentScan
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
class Plan:
    """A query as Spark runs it: drop rows, project, exchange and sort, search, finish.

    `before` says which rows are dropped, and how series are cut; `neighbours` what happens between sort and search;
    `partition_keys` and `order_keys` are those of the query.

    `projected` are the columns before the exchange, `sorted_by` the sort (column, descending, nulls first),
    `shipped` the columns that the search (`scan`) reads, `finished` the columns of the result over its outputs.
    `warnings` are for the user, whether the plan runs or not.
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
