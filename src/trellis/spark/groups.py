"""Aggregates over the rows of matches, computed by Spark: the rows are laid out one by one, and grouped again.

Every output row of the matcher gets a number, and its rows are exploded beside that number, in their order. The other
outputs travel with the first of them only. Grouped by the number, rows of the same output row come together again. An
exchange is needed once, whatever the number of groups: grouping keeps rows where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.plan import ROW, GroupedRows
from trellis.spark.session import Session

__all__ = ["group_rows"]

_NUMBER, _AT, _REST, _SOME = "__output", "__at", "__rest", "__some"
_ALL_ROWS = f" OVER (PARTITION BY {_NUMBER} ORDER BY {_AT} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"


def group_rows(matched: DataFrame, groups: Sequence[GroupedRows], session: Session) -> DataFrame:
    """The outputs of the matcher, and beside them the aggregates over the rows that each sees."""
    frame = matched.select("*", F.monotonically_increasing_id().alias(_NUMBER)).repartition(_NUMBER)
    for number, group in enumerate(groups):
        later = {name for other in groups[number + 1 :] for name in (other.rows, other.instead)}
        done = {group.rows, group.instead, _NUMBER} - later
        frame = _grouped(frame, group, [name for name in frame.columns if name not in done], session)
    return frame.drop(_NUMBER)


def _grouped(frame: DataFrame, group: GroupedRows, kept: list[str], session: Session) -> DataFrame:
    rows = _laid_out(frame, group, kept)
    some = e.Column((_SOME,))
    if group.alone:
        of_all = [(name, e.Case(((some, e.Raw((aggregate, _ALL_ROWS))),))) for name, aggregate in group.aggregates]
        columns = [(name, e.Column((name,))) for name in (_NUMBER, _AT, _REST)]
        grouped = session.project(rows, [*columns, *of_all]).where(f"{_AT} = 0")
    else:
        counted = [(name, _of_rows(aggregate, some)) for name, aggregate in group.aggregates]
        rest: Expression = e.Raw((f"any_value({_REST}, TRUE)",))
        grouped = session.group(rows, _NUMBER, [(_REST, rest), *counted])
    return grouped.select(_NUMBER, *(f"{_REST}.{name}" for name in kept), *(name for name, _ in group.aggregates))


def _laid_out(frame: DataFrame, group: GroupedRows, kept: list[str]) -> DataFrame:
    """A row for each row of a match, in order; at least one for each output row."""
    instead = group.instead or f"CASE WHEN FALSE THEN get({group.rows}, 0) END"
    rows = f"IF(size({group.rows}) > 0, {group.rows}, array({instead}))"
    rest = f"CASE WHEN at = 0 THEN struct({', '.join(kept) or 'TRUE'}) END"
    rows = f"transform({rows}, (r, at) -> named_struct('at', at, 'row', r, 'rest', {rest}))"
    aggregates = [aggregate for _, aggregate in group.aggregates]
    read = {node.path[0] for aggregate in aggregates for node in e.walk(aggregate) if isinstance(node, e.Column)}
    return frame.selectExpr(
        _NUMBER,
        f"size({group.rows}) > 0 AS {_SOME}",
        *sorted(read - {ROW}),
        f"inline({rows}) AS ({_AT}, {ROW}, {_REST})",
    ).sortWithinPartitions(_NUMBER, _AT)


def _of_rows(aggregate: e.Aggregate, some: Expression) -> e.Aggregate:
    """The aggregate without the row that only stands in place of rows."""
    if aggregate.condition is not None:
        return replace(aggregate, condition=e.Operator("AND", (some, aggregate.condition)))
    if not (aggregate.distinct and aggregate.order):
        return replace(aggregate, condition=some)

    # Spark has no FILTER for DISTINCT with an order; but such aggregates pass over NULLs.
    def if_some(value: Expression) -> Expression:
        return e.Case(((some, value),)) if any(isinstance(node, e.Column) for node in e.walk(value)) else value

    changed = e.rebuild(aggregate, if_some)
    assert isinstance(changed, e.Aggregate)
    return changed
