"""The tree that would be chosen for a DataFrame, from a sample of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from trellis.algebra.plan import ScanPlan
from trellis.algebra.segments import SegmentPlan
from trellis.execution import loading
from trellis.execution.chunks import read_chunks
from trellis.execution.segments.conditions import Conditions
from trellis.execution.segments.executor import Executor
from trellis.execution.segments.functions import UserFunction
from trellis.execution.segments.matcher import SegmentMatcher, costs_of
from trellis.execution.segments.sample import sample_segments
from trellis.planning.before_match.slices import sliced_by
from trellis.planning.describe.segments import describe_tree
from trellis.planning.segments.estimates import estimate_tree
from trellis.planning.segments.optimizer import optimize
from trellis.spark.pairs import sort_column
from trellis.spark.session import Session

__all__ = ["sampled_tree"]

_ROWS = 50_000


def sampled_tree(
    plan: ScanPlan[SegmentPlan],
    frame: DataFrame,
    session: Session,
    users: Mapping[str, UserFunction],
    *,
    analyze: bool = False,
) -> list[str]:
    """The chosen tree as text; with `analyze` it runs on the sample, and real counts stand beside the estimates."""
    match = plan.match
    shipped = plan.shipped
    if match.slices is not None:
        # The sample is not cut.
        shipped = tuple(name for name in shipped if name not in sliced_by(match.slices))
        match = replace(match, keys=match.keys[:-1], slices=None)
    projected = session.project(frame, plan.projected).limit(_ROWS)
    order = [sort_column(*key) for key in plan.sorted_by if key[0] in projected.columns]
    table: pa.Table = (projected.orderBy(*order) if order else projected).select(*shipped).toArrow()
    if table.num_rows == 0:
        return ["there are no rows to choose a tree for"]
    chunk = next(read_chunks(iter(_whole(table)), match.keys, table.num_rows + 1))
    matcher = SegmentMatcher(match, users)
    dictionary = matcher.dictionary(chunk)
    rows = matcher.finder.rows(chunk.offsets, loading.load_slots(chunk, match.slots, dictionary))
    program = matcher.program(dictionary)
    conditions = Conditions(rows, match.conditions, program, match.program.depth, users)
    statistics = sample_segments(match, rows, conditions)
    chosen = optimize(match.tree, match.conditions, match.tracked, statistics, costs_of(match, users), match.choices)
    estimates = estimate_tree(chosen.tree, statistics)
    actual: dict[int, tuple[int, int]] | None = None
    if analyze:
        actual = {}
        executor = Executor(rows, conditions, match.budget, match.reach, actual=actual)
        executor.run(chosen.tree, None, frozenset(match.tracked))
    series = len(np.diff(chunk.offsets))
    head = f"for a sample of {rows.count:,} rows in {series:,} series; about {chosen.cost / 1e6:,.1f} ms"
    return [head, *describe_tree(chosen.tree, estimates, actual)]


def _whole(table: pa.Table) -> list[pa.RecordBatch]:
    return [batch for batch in table.combine_chunks().to_batches() if batch.num_rows]
