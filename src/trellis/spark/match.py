"""The middle of a plan: sorted rows through the search, by Python workers."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from trellis.algebra.automaton import MatchScan
from trellis.algebra.plan import Scan
from trellis.algebra.scan import (
    First,
    Gather,
    Label,
    ListAggregate,
    Mark,
    Number,
    OfGraph,
    Output,
    PatternName,
    Present,
    Value,
)
from trellis.algebra.segments import SegmentScan
from trellis.execution.slices import marks_of
from trellis.execution.task import MatchTask
from trellis.kernels import opcodes as o
from trellis.spark.counts import Counts
from trellis.spark.slices import resolve

__all__ = ["match_rows", "output_schema"]


def match_rows(task: MatchTask, prepared: DataFrame, counts: Counts | None = None) -> DataFrame:
    """The outputs of the search, a row for each row of the result."""
    scan = task.scan
    if counts is not None:
        scan = replace(scan, outputs=(*scan.outputs, ("__first", First())))
    resolves = scan.slices is not None and scan.slices.resolve
    if resolves:
        scan = replace(scan, outputs=(*scan.outputs, *marks_of(scan)))
    matched = prepared.mapInArrow(replace(task, scan=scan), output_schema(scan, prepared.schema))
    if resolves:
        matched = resolve(matched, scan)
    if counts is not None:
        matched = counts.watch(counts.watch(matched, "matches", F.col("__first")), "rows out")
    return matched


def output_schema(scan: Scan, prepared: StructType) -> StructType:
    """The columns that a search gives, of prepared rows with these."""
    types = {field.name: field.dataType for field in prepared}
    fields = [StructField(name, _type(output, scan, types)) for name, output in scan.outputs]
    return StructType(fields or [StructField("__m0", LongType())])


def _type(output: Output, scan: Scan, types: dict[str, DataType]) -> DataType:
    match output:
        case Gather(column=column):
            return types[column]
        case Present() | First():
            return BooleanType()
        case Label() | PatternName():
            return StringType()
        case Number() | Mark():
            return LongType()
        case Value(aggregate=number, columns=()) if isinstance(scan, SegmentScan):
            name = scan.values[number].name
            whole = name in ("rows", "count", "sum_int")
            return BooleanType() if name == "equal_up_down_ticks" else LongType() if whole else DoubleType()
        case Value(aggregate=number, columns=()):
            assert isinstance(scan, MatchScan)
            return LongType() if scan.measure_aggregates[number].kind < o.SUM_FLOAT else DoubleType()
        case Value(columns=columns):
            return types[columns[0]]
        case ListAggregate(columns=columns):
            return ArrayType(types[columns[0]])
        case OfGraph(what="matches"):
            return DecimalType(38, 0)
        case OfGraph(column=column):
            return ArrayType(types[column] if column else IntegerType())
