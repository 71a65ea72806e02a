"""What users pass as a DataFrame: one of Spark, or rows of pandas or Arrow that become one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from trellis.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Rows", "frame_of"]

Rows: TypeAlias = "DataFrame | pd.DataFrame | pa.Table"
"""Rows that Trellis takes, wherever it takes a DataFrame."""


def frame_of(name: str, rows: object, spark: SparkSession | None = None) -> DataFrame:
    """The rows as a DataFrame of Spark; `name` is what errors call them.

    Rows of pandas and Arrow go to `spark`, or to the active session. None is started: that is the user's to do.
    """
    if hasattr(rows, "sparkSession"):
        return rows  # type: ignore[return-value]
    if not _is_local(rows):
        kind = type(rows).__name__
        cure = f"Pass spark.table({rows!r})." if isinstance(rows, str) else "Use spark.createDataFrame(...) first."
        shown = f": {rows!r}" if len(repr(rows)) <= 60 else ""
        what = "None" if rows is None else f"of type {kind}{shown}"
        subject = name[0].upper() + name[1:] if " " in name else name
        raise ArgumentError(
            f"{subject} is not a DataFrame of Spark, pandas or Arrow, but {what}.",
            cure=cure,
        )
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        raise ArgumentError(
            f"There is no Spark session that could read {name}.",
            cure="Start one first: spark = SparkSession.builder.getOrCreate().",
        )
    local: Any = rows.combine_chunks() if isinstance(rows, pa.Table) else rows
    return spark.createDataFrame(local)


def _is_local(rows: object) -> bool:
    """Whether these are rows of pandas or Arrow. Who never imported pandas has none of its."""
    pandas = sys.modules.get("pandas")
    return isinstance(rows, pa.Table) or (pandas is not None and isinstance(rows, pandas.DataFrame))
