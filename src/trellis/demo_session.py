"""A small local session for demonstrations."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

__all__ = ["local_builder"]


def local_builder(name: str) -> SparkSession.Builder:
    """The builder of a session that listens on this machine only and says little."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return (
        SparkSession.builder.master("local[2]")
        .appName(name)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
    )
