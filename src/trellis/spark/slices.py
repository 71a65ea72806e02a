"""Long series in slices: rows get the number of their slice, and a last pass decides between the slices' matches."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from trellis.algebra.event_scan import EventScan
from trellis.algebra.plan import Scan
from trellis.algebra.prefilter import Scale, Slices
from trellis.algebra.scan import Number, PatternName, SliceSpec
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.slices import ENDS, MARKS, NumberTask, ResolveTask, marks_of
from trellis.spark.prefilter import units_of

__all__ = ["add_slices", "lateness", "resolve"]


def add_slices(projected: DataFrame, slices: Slices, spec: SliceSpec) -> DataFrame:
    """Each row once for its slice, and once more for the slice before if it lies in that one's halo.

    Rows without an order key are in no match with a window.
    """
    if slices.scale is not Scale.NUMBER:
        # Sliding windows are slices with their halo. Spark computes them at a fraction of what its other functions of
        # times cost. In descending order a slice has its halo before it.
        begin = (slices.width - slices.window) % slices.width if slices.descending else 0
        durations = [f"{units} microseconds" for units in (slices.width + slices.window, slices.width, begin)]
        window = F.window(F.col(spec.key), *durations)
        return projected.select("*", window.getField("start").alias(spec.number))
    late = lateness(slices, spec.key)
    width = f"{slices.width}L"
    offset = f"pmod({late}, {width})"
    own = f"({late}) DIV {width} - IF({late} < 0 AND {offset} <> 0, 1L, 0L)"
    placed = projected.where(f"{spec.key} IS NOT NULL").selectExpr("*", f"{own} AS __own", f"{offset} AS __offset")
    copies = f"IF(__offset < {slices.window}L, array(0, 1), array(0))"
    copied = placed.selectExpr(*projected.columns, "__own", f"explode({copies}) AS __back")
    return copied.selectExpr(*projected.columns, f"__own - __back AS {spec.number}")


def lateness(slices: Slices, key: str) -> str:
    """SQL for a whole number that is greater for later rows.

    Turned round, later rows have greater keys in descending order too; unlike a sign, `~` never overflows.
    """
    units = units_of(slices.scale, key)
    return f"~({units})" if slices.descending else units


def resolve(matched: DataFrame, scan: Scan) -> DataFrame:
    """The matches that a search through the whole series finds, with their numbers."""
    keys = [f"__key{number}" for number in range(len(scan.keys) - 1)]
    together = matched.repartition(*keys) if keys else matched.repartition(1)
    marks = {name for name, _ in marks_of(scan)}
    schema = StructType([field for field in matched.schema if field.name not in marks])
    numbered = [name for name, output in scan.outputs if isinstance(output, Number) and name not in marks]
    # Of a workload, the matches of each pattern are numbered.
    keys += [name for name, output in scan.outputs if isinstance(output, PatternName)]
    if isinstance(scan, EventScan | WorkloadScan):
        ordered = together.sortWithinPartitions(*keys, *map(F.expr, ENDS), *MARKS)
        return ordered.mapInArrow(NumberTask(keys, schema.names, numbered), schema)
    ordered = together.sortWithinPartitions(*keys, *MARKS)
    targets = scan.skip_to if isinstance(scan.skip_to, str) else "|".join(sorted(scan.skip_to))
    skip = f"AFTER MATCH {scan.skip.value} {targets}".rstrip()
    return ordered.mapInArrow(ResolveTask(keys, schema.names, numbered, skip), schema)
