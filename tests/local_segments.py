"""Segment queries without Spark: the same parser, binder, planner, worker and kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

import local
from trellis.algebra.expression import Expression
from trellis.algebra.plan import ScanPlan
from trellis.algebra.query import Query
from trellis.algebra.segments import Choices, SegmentPlan
from trellis.analysis.schema import Schema
from trellis.analysis.segments import bind_segments
from trellis.execution.segments.matcher import segment_batches
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.hints import Hints
from trellis.planning.segments.plan import plan_segments

Row = Mapping[str, Any]


def plan_clause(
    clause: str | Query, schema: Sequence[tuple[str, str]], args: Mapping[str, object], choices: Choices | None = None
) -> ScanPlan[SegmentPlan]:
    """Parse, bind and plan a clause."""
    query = parse_clause_text(clause) if isinstance(clause, str) else clause
    bound = bind_segments(query, Schema(tuple(schema)), args, {})
    types = dict(schema)

    def types_of(expressions: Sequence[Expression]) -> list[str]:
        return [local.type_of(expression, types) for expression in expressions]

    plan = plan_segments(bound, types_of, Hints())
    assert isinstance(plan.match, SegmentPlan)
    return replace(plan, match=replace(plan.match, choices=choices or Choices()))


def run(
    clause: str | Query,
    rows: Sequence[Row],
    schema: Sequence[tuple[str, str]],
    args: Mapping[str, object] | None = None,
    choices: Choices | None = None,
    batch_rows: int = 1000,
) -> list[dict[str, Any]]:
    """The result of a clause over rows."""
    plan = plan_clause(clause, schema, args or {}, choices)
    projected = [{name: local.evaluate(expression, row) for name, expression in plan.projected} for row in rows]
    for name, descending, nulls_first in reversed(plan.sorted_by):
        projected.sort(key=local._sort_key(name, descending, nulls_first), reverse=descending)
    types = dict(schema)
    columns = {
        name: pa.array([row[name] for row in projected], local._arrow_type(local.type_of(expression, types)))
        for name, expression in plan.projected
    }
    table = pa.table(columns)
    assert isinstance(plan.match, SegmentPlan)
    matched: list[dict[str, Any]] = []
    for batch in segment_batches(plan.match, {}, iter(table.to_batches(max_chunksize=batch_rows))):
        matched.extend(batch.to_pylist())
    return [{name: local.evaluate(expression, row) for name, expression in plan.finished} for row in matched]
