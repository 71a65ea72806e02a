"""Slices of series whose matches are bounded in rows: pieces of the order key are counted first.

The counts say which rows a slice has, and how many pieces behind it make up its halo. They are few, so every worker
gets them; the rows themselves are read once more.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from trellis.algebra.prefilter import Slices
from trellis.algebra.scan import SliceSpec
from trellis.spark.slices import lateness

__all__ = ["add_row_slices"]

_LEAST, _MOST = "-9223372036854775808", "9223372036854775807"


def add_row_slices(projected: DataFrame, slices: Slices, spec: SliceSpec, keys: tuple[str, ...]) -> DataFrame:
    """Each row once for its slice, and once more for every slice whose halo it lies in.

    `keys` are the columns of the partition keys.
    """
    assert slices.rows is not None
    columns = projected.columns
    # Rows without a key stand before or behind all others, as the query says.
    late = f"coalesce({lateness(slices, spec.key)}, {_LEAST if slices.nulls_first else _MOST})"
    rows = projected.selectExpr("*", f"({late}) DIV {slices.width}L AS __piece")
    places = _places(rows, slices, keys)
    same: list[Column] = [rows[name].eqNullSafe(places[f"__k{number}"]) for number, name in enumerate(keys)]
    condition = reduce(lambda one, other: one & other, same, rows["__piece"] == places["__at"])
    joined = rows.join(F.broadcast(places), condition)
    copied = joined.selectExpr(
        *columns, "__own", "__base", "__halos", "explode(concat(array(__own), __halos)) AS __number"
    )
    return copied.selectExpr(
        *columns,
        f"__number AS {spec.number}",
        f"CAST(IF(__number <> __own, 0, IF(size(__halos) > 0, 2, 1)) AS TINYINT) AS {spec.part}",
        f"__base AS {spec.base}",
    )


def _places(rows: DataFrame, slices: Slices, keys: tuple[str, ...]) -> DataFrame:
    """For each piece: its slice, how many rows come before that, and the slices whose halo it belongs to.

    A slice ends where the next one begins. A piece lies in the halo of those slices that end fewer rows before it than
    a match may still have.
    """
    assert slices.rows is not None
    named = [F.col(name).alias(f"__k{number}") for number, name in enumerate(keys)]
    counted = rows.groupBy(*named, F.col("__piece").alias("__at")).agg(F.count(F.lit(1)).alias("__n"))
    if not keys:
        # One series: a key that is the same everywhere, but not a constant, which Spark would warn about.
        counted = counted.withColumn("__k0", F.col("__n") < 0)
    series = Window.partitionBy(*(f"__k{number}" for number in range(max(1, len(keys)))))
    before = series.orderBy("__at").rowsBetween(Window.unboundedPreceding, -1)
    summed = counted.withColumn("__before", F.coalesce(F.sum("__n").over(before), F.lit(0)))
    owned = summed.withColumn("__own", F.expr(f"__before DIV {slices.window}"))
    earlier = owned.withColumn("__last", F.lag("__own").over(series.orderBy("__at")))
    begins = earlier.withColumn("__begins", F.expr("__last IS NULL OR __last <> __own"))
    up_to = series.orderBy("__at").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    near = series.orderBy("__before").rangeBetween(-max(0, slices.rows - 2), Window.currentRow)
    ended = F.expr("IF(__begins, __last, NULL)")
    return begins.select(
        *(f"__k{number}" for number in range(len(keys))),
        "__at",
        "__own",
        F.max(F.expr("IF(__begins, __before, NULL)")).over(up_to).alias("__base"),
        (F.collect_list(ended).over(near) if slices.rows > 1 else F.expr("array_remove(array(0L), 0L)")).alias(
            "__halos"
        ),
    )
