"""The session that a call of Trellis runs in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession

from trellis.errors import ArgumentError
from trellis.java import require_java
from trellis.spark.inputs import Rows, frame_of

__all__ = ["Args", "session_of"]

Args: TypeAlias = Mapping[str, object]


def session_of(
    spark: SparkSession | None, rows: Mapping[str, Rows], args: Args | None
) -> tuple[SparkSession, dict[str, DataFrame]]:
    """The session that was passed, else that of a DataFrame, else the active one, else a new one; and the rows."""
    if args is not None and not isinstance(args, Mapping):
        raise ArgumentError(
            "Parameters have names: args is a dictionary.", cure="Write :name, and pass args={'name': 3}."
        )
    for one in rows.values():
        spark = spark or getattr(one, "sparkSession", None)
    frames = {name: frame_of(name, one, spark) for name, one in rows.items()}
    spark = spark or next((frame.sparkSession for frame in frames.values()), SparkSession.getActiveSession())
    if spark is None:
        require_java()
        spark = SparkSession.builder.appName("trellis").getOrCreate()
    return spark, frames
