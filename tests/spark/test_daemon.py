"""The process from which workers are forked."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING
from unittest import mock

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_it_starts_even_if_the_kernels_cannot_be_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    sys.modules.pop("trellis.spark.daemon", None)
    with (
        mock.patch("trellis.execution.warmup.warmup", side_effect=RuntimeError("no room on the disk")),
        mock.patch("pyspark.daemon.manager") as manager,
    ):
        runpy.run_module("trellis.spark.daemon", run_name="__main__")
    manager.assert_called_once_with()
    said = capsys.readouterr()
    assert said.out == "" and "no room on the disk" in said.err  # Spark reads a port from the standard output


def test_workers_start_with_the_kernels(spark: SparkSession) -> None:
    """The parent of a worker is the daemon of this package, and a new worker has what it loaded."""

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import psutil

        found = sys.modules.get("trellis.kernels.matches")
        compiled = found is not None and len(found.find_matches.signatures) == 2
        parent = " ".join(psutil.Process().parent().cmdline())
        yield pa.RecordBatch.from_pydict({"compiled": [compiled], "parent": [parent]})
        for _ in batches:
            pass

    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise ValueError("this worker ends")

    one = spark.range(1).coalesce(1)
    for _ in range(4):  # more than there are idle workers
        with pytest.raises(Exception, match="this worker ends"):
            one.mapInArrow(fail, "id long").collect()
    (row,) = one.mapInArrow(look, "compiled boolean, parent string").collect()
    assert row.compiled and "trellis.spark.daemon" in row.parent
