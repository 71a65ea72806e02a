"""A plan on a DataFrame: project, exchange and sort, match, finish. Nothing runs before an action."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from trellis.algebra import expression as e
from trellis.algebra.plan import (
    First,
    Gather,
    Label,
    ListAggregate,
    Mark,
    MatchPlan,
    Number,
    Output,
    Present,
    ScanPlan,
    Value,
)
from trellis.algebra.segments import SegmentPlan
from trellis.execution.functions import UserFunction
from trellis.kernels import opcodes as o
from trellis.spark.beside import sort_and_keep
from trellis.spark.counts import Counts
from trellis.spark.groups import group_rows
from trellis.spark.pairs import add_pairs, sort_column
from trellis.spark.prefilter import apply_prefilter
from trellis.spark.projection import Session
from trellis.spark.row_slices import add_row_slices
from trellis.spark.segment_worker import segment_batches
from trellis.spark.slices import add_slices, marks_of, resolve
from trellis.spark.worker import match_batches

__all__ = ["run_scan"]


def run_scan(
    plan: ScanPlan[MatchPlan] | ScanPlan[SegmentPlan],
    frame: DataFrame,
    session: Session,
    counts: Counts | None = None,
    users: Mapping[str, UserFunction] | None = None,
) -> DataFrame:
    """The result of a plan over its input; `counts` watches what goes in and out of the matcher."""
    before = plan.before
    if before.prefilter is not None:
        frame = apply_prefilter(frame, before.prefilter, _read_names(plan, frame), session)
    if before.keep is not None:
        frame = session.where(frame, before.keep)
    if plan.pairs is not None:
        frame = add_pairs(frame, plan.pairs, session)
    match, slices = plan.match, before.slices
    projected = session.project(frame, plan.projected)
    if counts is not None:
        projected = projected if plan.beside is not None else counts.watch(projected, "rows in")
        match = replace(match, outputs=(*match.outputs, ("__first", First())))
    if slices is not None and match.slices is not None:
        spec = match.slices
        if slices.rows is None:
            projected = add_slices(projected, slices, spec)
        else:
            projected = add_row_slices(projected, slices, spec, match.keys[:-1])
        if spec.resolve:
            match = replace(match, outputs=(*match.outputs, *marks_of(match)))
    keys = [F.col(name) for name in plan.match.keys]
    exchanged = projected.repartition(*keys) if keys else projected.repartition(1)
    if plan.beside is not None:
        shipped = sort_and_keep(exchanged, plan, session)
        shipped = shipped if counts is None else counts.watch(shipped, "rows in")
    else:
        order = [sort_column(*key) for key in plan.sorted_by]
        shipped = (exchanged.sortWithinPartitions(*order) if order else exchanged).select(*plan.shipped)
    function = _Match(match) if isinstance(match, MatchPlan) else _Segments(match, dict(users or {}))
    matched = shipped.mapInArrow(function, _schema(match, (projected if plan.beside is None else shipped).schema))
    if slices is not None and match.slices is not None and match.slices.resolve:
        matched = resolve(matched, match)
    if counts is not None:
        matched = counts.watch(counts.watch(matched, "matches", F.col("__first")), "rows out")
    if plan.grouped:
        matched = group_rows(matched, plan.grouped, session)
    return _finish(matched, plan, session)


def _finish(matched: DataFrame, plan: ScanPlan[MatchPlan] | ScanPlan[SegmentPlan], session: Session) -> DataFrame:
    """The columns of the result.

    A plain column stands beside them: if one of them were an aggregate for Spark after all, Spark would then refuse it,
    where alone it would make one row of the whole result.
    """
    if any(isinstance(expression, e.Column) for _, expression in plan.finished):
        return session.project(matched, plan.finished)
    names = [name for group in plan.grouped for name, _ in group.aggregates] or [name for name, _ in plan.match.outputs]
    plain = names[0] if names else "__m0"
    return session.project(matched, (*plan.finished, ("__plain", e.Column((plain,))))).drop("__plain")


def _read_names(plan: ScanPlan[MatchPlan] | ScanPlan[SegmentPlan], frame: DataFrame) -> list[str]:
    """The columns that are read after the prefilter: columns that nobody reads may have one name."""
    if plan.pairs is not None:
        return frame.columns
    expressions = [expression for _, expression in plan.projected]
    expressions += [*plan.partition_keys, *([] if plan.before.keep is None else [plan.before.keep])]
    read = {node.path[0] for expression in expressions for node in e.walk(expression) if isinstance(node, e.Column)}
    texts = [
        part
        for expression in expressions
        for node in e.walk(expression)
        if isinstance(node, e.Raw)
        for part in node.parts
        if isinstance(part, str)
    ]
    # Text that only Spark understands may name columns, too; but none that has its name twice.
    names = Counter(name.lower() for name in frame.columns)

    def is_named(name: str) -> bool:
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        return names[name.lower()] == 1 and any(word.search(text) for text in texts)

    return [name for name in frame.columns if name in read or is_named(name)]


class _Match:
    """The function that workers run. A class of the package: workers load it by name, with the plan as data."""

    def __init__(self, plan: MatchPlan) -> None:
        self.plan = plan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return match_batches(self.plan, iter(batches))


class _Segments:
    """As `_Match`, for segment queries; with the segment functions of the user's."""

    def __init__(self, plan: SegmentPlan, users: dict[str, UserFunction]) -> None:
        self.plan, self.users = plan, users

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return segment_batches(self.plan, self.users, iter(batches))


def _schema(plan: MatchPlan | SegmentPlan, projected: StructType) -> StructType:
    types = {field.name: field.dataType for field in projected}
    fields = [StructField(name, _type(output, plan, types)) for name, output in plan.outputs]
    return StructType(fields or [StructField("__m0", LongType())])


def _type(output: Output, plan: MatchPlan | SegmentPlan, types: dict[str, DataType]) -> DataType:
    match output:
        case Gather(column=column):
            return types[column]
        case Present() | First():
            return BooleanType()
        case Label():
            return StringType()
        case Number() | Mark():
            return LongType()
        case Value(aggregate=number, columns=()) if isinstance(plan, SegmentPlan):
            name = plan.values[number].name
            whole = name in ("rows", "count", "sum_int")
            return BooleanType() if name == "equal_up_down_ticks" else LongType() if whole else DoubleType()
        case Value(aggregate=number, columns=()):
            assert isinstance(plan, MatchPlan)
            return LongType() if plan.measure_aggregates[number].kind < o.SUM_FLOAT else DoubleType()
        case Value(columns=columns):
            return types[columns[0]]
        case ListAggregate(columns=columns):
            return ArrayType(types[columns[0]])
