"""A part of an input that is small enough to look at: whole partitions of it, where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

__all__ = ["Excerpt", "excerpt_of"]

_BUCKETS = 1024


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some rows of an input: so many of its `total`. `whole`: of each partition that is there, all rows are."""

    frame: DataFrame
    rows: int
    total: int
    whole: bool = True


def excerpt_of(frame: DataFrame, keys: Sequence[str], order: Sequence[str], most: int) -> Excerpt:
    """All rows if there are at most so many, else whole partitions by `keys`, else the first rows in `order`, if any.

    Keys and order are SQL. Counting is a job of Spark.
    """
    # Which partitions are taken must depend on their keys alone, and a hash has nothing to do with what is in them.
    bucket = F.pmod(F.xxhash64(*map(F.expr, keys)), F.lit(_BUCKETS)) if keys else F.lit(0)
    found = frame.groupBy(bucket.alias("bucket")).count().collect()
    counts = {int(row["bucket"]): int(row["count"]) for row in found}
    total = sum(counts.values())
    if total <= most:
        return Excerpt(frame, total, total)
    chosen, rows = [], 0
    for number, count in sorted(counts.items()):
        if rows + count <= most:
            chosen.append(number)
            rows += count
    if chosen:
        return Excerpt(frame.where(bucket.isin(chosen)), rows, total)
    first = frame.orderBy(*map(F.expr, order)) if order else frame
    return Excerpt(first.limit(most), most, total, whole=False)
