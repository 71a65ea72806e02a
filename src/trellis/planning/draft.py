"""A plan in the making: keys, order, shipped and result columns, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.plan import Fired, GroupedRows, PairPlan, Plan, Scan
from trellis.algebra.prefilter import BeforeMatch
from trellis.algebra.query import RowsPerMatch
from trellis.algebra.scan import Number, Output, SliceSpec
from trellis.analysis.condition_kinds import looks_at_rows
from trellis.planning.before_match.neighbours import Neighbours
from trellis.planning.before_match.slices import slice_columns, sliced_by
from trellis.planning.exchange import check_arrow, check_order, comparable_key, sort_by, tie_breaker
from trellis.planning.expressions.columns import Columns

__all__ = ["Draft", "Series", "bind_keys", "result_columns"]


class Measures(Protocol):
    """What an engine reads of its matches."""

    outputs: dict[Output, str]

    def finish(self, measure: Expression) -> Expression:
        """The measure over the outputs of the worker."""
        ...

    def carried(self, expression: Expression) -> e.Column:
        """The value of an input expression in the row that an output row stands for."""
        ...

    def output(self, output: Output) -> e.Column:
        """The column of an output of the worker."""
        ...


@dataclass(frozen=True, slots=True)
class Series:
    """What every search is told of its rows: the columns that series differ in, slices of them, and what is read."""

    keys: tuple[str, ...]
    slices: SliceSpec | None
    outputs: tuple[tuple[str, Output], ...]


def bind_keys(bound: BoundQuery, columns: Columns) -> tuple[Expression, ...]:
    """The partition keys as Spark groups them; all keys must be of types that Spark can group and sort."""
    keys = tuple(comparable_key(expression, columns) for _, expression in bound.partition_by)
    columns.learn([*keys, *(expression for _, expression in bound.order_by)])
    check_order(bound, columns)
    return keys


def result_columns(
    bound: BoundQuery, measures: Measures, listed: tuple[tuple[str, Expression], ...]
) -> tuple[tuple[str, Expression], ...]:
    """The columns of the result in the standard's order: partition, order, measures, and the rest of the row."""
    partition = {name: measures.carried(expression) for name, expression in bound.partition_by}
    values = [(name, measures.finish(measure)) for name, measure in listed]
    if not bound.all_rows:
        return (*partition.items(), *values)
    if bound.query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        matched = e.Operator("IS NOT NULL", (measures.output(Number(counted=False)),))
        values = [(name, e.Case(((matched, value),))) for name, value in values]
    order = {name: measures.carried(expression) for name, expression in bound.order_by if name not in partition}
    rest = [name for name in bound.columns if name not in partition and name not in order]
    carried = [(name, measures.carried(e.Column((name,)))) for name in rest]
    return (*partition.items(), *order.items(), *values, *carried)


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything of a plan but its search. `finished` are the columns of the result, `outputs` what they read."""

    bound: BoundQuery
    columns: Columns
    keys: tuple[Expression, ...]
    before: BeforeMatch
    outputs: dict[Output, str]
    finished: tuple[tuple[str, Expression], ...]
    pairs: PairPlan | None = None
    neighbours: Neighbours | None = None
    grouped: tuple[GroupedRows, ...] = ()
    ordering: BoundQuery | None = None
    """The query whose columns break ties, if it is another one."""

    def plan(
        self, make_scan: Callable[[Series], Scan], rules: tuple[Fired, ...], warnings: tuple[str, ...] = ()
    ) -> Plan:
        """The plan with its search."""
        columns, pairs = self.columns, self.pairs
        key_names = tuple(columns.ship(key) for key in self.keys)
        order = [expression for _, expression in self.bound.order_by]
        if pairs is not None:
            # The rows are numbered already.
            row = e.Column((pairs.row,))
            columns.types[row] = "int"
            order = [row]
        order_names = [columns.project(expression) for expression in order]
        outputs = tuple((name, output) for output, name in self.outputs.items())
        slices, spec = slice_columns(self.before.slices if pairs is None else None, outputs, columns)
        series = Series(key_names if spec is None else (*key_names, spec.number), spec, outputs)
        if not columns.shipped:
            # Rows without columns would lose their number on the way to Python.
            columns.ship(e.Literal("TRUE"))
        check_arrow(columns)
        neighbours = None if self.neighbours is None else self.neighbours.finish(columns)
        query = self.bound.query
        if pairs is None:
            sorted_by = sort_by(
                query.order_by, series.keys, order_names, columns, tie_breaker(self.ordering or self.bound, columns)
            )
        else:
            sorted_by = sort_by(None, series.keys, order_names, columns, None)
        return Plan(
            projected=tuple((name, expression) for expression, name in columns.names.items()),
            sorted_by=sorted_by,
            shipped=(*columns.shipped, *sliced_by(spec)),
            scan=make_scan(series),
            finished=self.finished,
            rules=rules,
            pairs=pairs,
            before=replace(self.before, slices=slices),
            partition_keys=self.keys,
            order_keys=tuple(expression for _, expression in self.bound.order_by),
            neighbours=neighbours,
            warnings=(*_order_warnings(self.bound), *warnings),
            grouped=self.grouped,
        )


def _order_warnings(bound: BoundQuery) -> tuple[str, ...]:
    """Without ORDER BY, which row stands before another means nothing."""
    if bound.order_by or not looks_at_rows(bound):
        return ()
    return (
        "The query has no ORDER BY, but a condition looks at other rows than its own: "
        "the rows stand in an arbitrary order, the same in every run. Add ORDER BY.",
    )
