"""Tables of functions of two rows, for conditions that only Spark can compute. Slow, and right.

Every row gets, for each pair function, an array with one value for each row of its series.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.plan import PairPlan
from trellis.spark.session import Session

__all__ = ["add_pairs", "sort_column", "with_one_key"]


def add_pairs(frame: DataFrame, plan: PairPlan, session: Session) -> DataFrame:
    """The frame with its rows numbered in the order of their series, and one array for each pair function."""
    keys = [(f"__k{number}", key) for number, key in enumerate(plan.keys)]
    order = [(f"__o{number}", key) for number, (key, _, _) in enumerate(plan.order)]
    columns = [(name, e.Column((name,))) for name in frame.columns]
    named = session.project(frame, [*columns, *keys, *order])
    if not keys:
        keys = [("__k0", e.Literal("FALSE"))]
        named = with_one_key(named, "__k0")
    sort = [sort_column(name, *key[1:]) for (name, _), key in zip(order, plan.order, strict=True)]
    series = Window.partitionBy(*(name for name, _ in keys))
    # A query that reads nothing but keys may have no order at all, and a window must have one.
    number = F.row_number().over(series.orderBy(*(sort or [F.lit(0)]))) - 1
    numbered = named.withColumn(plan.row, number)
    if not plan.values:
        return numbered.select(*map(_named, frame.columns), plan.row)
    first = F.struct(plan.row, *map(_named, plan.first))
    # Sorted by number alone: not every type has an order.
    whole = F.array_sort(F.collect_list(first).over(series), lambda a, b: a[plan.row] - b[plan.row])
    paired = numbered.withColumn("__rows", whole).select("*", F.explode("__rows").alias(plan.struct)).drop("__rows")
    carried = [name for name in numbered.columns if name not in dict(keys)]
    values = session.project(paired, [*((name, e.Column((name,))) for name in (*paired.columns,)), *plan.values])
    together = F.struct(F.col(f"{plan.struct}.{plan.row}").alias("at"), *(name for name, _ in plan.values))
    grouped = values.groupBy(*(name for name, _ in keys), plan.row).agg(
        F.first(F.struct(*(_named(name) for name in carried if name != plan.row))).alias("__carried"),
        F.array_sort(F.collect_list(together), lambda a, b: a["at"] - b["at"]).alias("__pairs"),
    )
    arrays = [F.col(f"__pairs.{name}").alias(name) for name, _ in plan.values]
    return grouped.select(
        *(F.col("__carried").getField(name).alias(name) for name in frame.columns), F.col(plan.row), *arrays
    )


def _named(name: str) -> Column:
    return F.col(str(e.Column((name,))))


def with_one_key(frame: DataFrame, name: str) -> DataFrame:
    """One series: a key that is the same in all rows, but not a constant, which Spark would warn about."""
    return frame.withColumn(name, F.monotonically_increasing_id() < 0)


def sort_column(name: str, descending: bool, nulls_first: bool) -> Column:
    """A column as a sort key."""
    column = F.col(name)
    if descending:
        return column.desc_nulls_first() if nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if nulls_first else column.asc_nulls_last()
