"""The session that a call of Trellis runs in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession

from trellis.errors import BindingError
from trellis.java import require_java

__all__ = ["Args", "session_of"]

Args: TypeAlias = Mapping[str, object]


def session_of(spark: SparkSession | None, frames: Mapping[str, DataFrame], args: Args | None) -> SparkSession:
    """The session that was passed, or that of the first DataFrame, else the active one, else a new one."""
    if args is not None and not isinstance(args, Mapping):
        raise BindingError("Parameters have names.", cure="Write :name, and pass args={'name': value}.")
    for name, frame in frames.items():
        if not hasattr(frame, "sparkSession"):
            raise BindingError(f"{name} is not a DataFrame of Spark.", cure="Use spark.createDataFrame(...) first.")
        spark = spark or frame.sparkSession
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        require_java()
        spark = SparkSession.builder.appName("trellis").getOrCreate()
    return spark
