"""The middle of a plan on a stream: rows are packed by buckets of keys, and searched by a stateful function.

Spark calls such a function once for each group and hands it rows one by one. So groups are buckets of keys, not keys,
and a row that it sees is the rows of a bucket in one value (trellis.execution.streams.packing).
"""

from __future__ import annotations

from importlib import import_module
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from trellis.algebra.plan import LATE, Plan
from trellis.errors import BindingError, UnsupportedError
from trellis.execution.streams.packing import BUCKET, ROWS, Pack, Unpack
from trellis.execution.task import MatchTask
from trellis.spark.match import output_schema
from trellis.spark.prepare import project_input
from trellis.spark.session import Session

__all__ = ["OBSERVED", "match_stream", "watermark_of"]

OBSERVED = "trellis"
"""How the names of the metrics begin that Spark observes."""

_DELAY = "spark.watermarkDelayMs"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def watermark_of(frame: DataFrame) -> str:
    """The column of event times that the watermark of a stream follows."""
    names = [field.name for field in frame.schema if _DELAY in field.metadata]
    if not names:
        raise BindingError(
            "The stream has no watermark, so nobody knows when its rows are complete.",
            cure="Add one: df.withWatermark('time', '10 minutes').",
        )
    return names[0]


def match_stream(plan: Plan, frame: DataFrame, session: Session, task: MatchTask) -> DataFrame:
    """The outputs of the search, a row for each row of the result."""
    spec = plan.stream
    assert spec is not None
    # They import pandas, which takes a while.
    from trellis.spark.bucket_processor import BucketProcessor
    from trellis.spark.bucket_steps import COUNTS, FOUND

    _check_store(session)
    _check_messages()
    names = [name for name, _ in spec.columns]
    rows = project_input(plan, frame, session).select(*names, *([LATE] if spec.late == "column" else []))
    keys = [F.col(name) for name in plan.scan.keys]
    bucket = F.pmod(F.xxhash64(*keys), F.lit(spec.buckets)) if keys else F.lit(0)
    packed = rows.withColumn(BUCKET, bucket.cast("int")).mapInArrow(Pack(), f"{BUCKET} int, {ROWS} binary")
    found = packed.groupBy(BUCKET).transformWithStateInPandas(BucketProcessor(task, spec), FOUND, "Append", "EventTime")
    counted = found.observe(f"{OBSERVED} {uuid4()}", *(F.sum(name).alias(name) for name in COUNTS))
    late = [StructField(LATE, field.dataType) for field in rows.schema if field.name == LATE]
    outputs = StructType([*output_schema(plan.scan, rows.schema), *late])
    # An empty DataFrame tells how Spark writes these types for Arrow.
    types = session.spark.createDataFrame([], outputs).toArrow().schema
    return counted.where(F.col(ROWS).isNotNull()).select(ROWS).mapInArrow(Unpack(types), outputs)


def _check_messages() -> None:
    """Spark talks to functions with state in messages. Where it cannot, workers end without a word of why."""
    try:
        import_module("pyspark.sql.streaming.proto.StateMessage_pb2")
    except Exception as problem:  # the package is missing, or refuses what PySpark was made with
        raise UnsupportedError(
            f"Spark's functions with state do not work here: {problem}",
            cure="Install a version of protobuf that this PySpark can use: pip install 'protobuf>=6.33,<7'.",
        ) from problem


def _check_store(session: Session) -> None:
    if "RocksDB" not in (session.spark.conf.get(_PROVIDER, "") or ""):
        raise UnsupportedError(
            "Patterns on a stream need a state store with timers, RocksDB, which this session does not have.",
            cure=f'Set {_PROVIDER} to "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider".',
        )
