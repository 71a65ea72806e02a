"""Values of neighbouring rows as columns, before rows are dropped that nobody else sees."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.plan import Plan
from trellis.spark.pairs import sort_column, with_one_key
from trellis.spark.session import Session

__all__ = ["sort_and_keep"]

_ONE_SERIES = "__trellis_series"


def sort_and_keep(exchanged: DataFrame, plan: Plan, session: Session) -> DataFrame:
    """The columns that the matcher reads, sorted, of the rows that somebody sees.

    The sort is the one that the window asks for, column by column, so that Spark sorts once and ties stay as they are.
    """
    assert plan.neighbours is not None
    keys = list(plan.scan.keys)
    order = [sort_column(*key) for key in plan.sorted_by[len(keys) :]]
    if not keys:
        keys = [_ONE_SERIES]
        exchanged = with_one_key(exchanged, _ONE_SERIES)
    ordered = exchanged.sortWithinPartitions(*(F.col(key).asc_nulls_first() for key in keys), *order)
    series = Window.partitionBy(*keys).orderBy(*order)
    values = [F.lag(source, -shift).over(series).alias(name) for name, source, shift in plan.neighbours.columns]
    kept = session.where(ordered.select("*", *values), plan.neighbours.keep)
    late = dict(plan.neighbours.projected)
    return session.project(kept, [(name, late.get(name, e.Column((name,)))) for name in plan.shipped])
