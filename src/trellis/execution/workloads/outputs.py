"""From matches of a workload to Arrow columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from trellis.algebra.scan import First, Gather, ListAggregate, Mark, Number, Output, PatternName
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.chunks import Chunk
from trellis.execution.slices import match_mark
from trellis.execution.workloads.found import Given

__all__ = ["write_workload"]


def write_workload(plan: WorkloadScan, chunk: Chunk, given: Given, *, numbered: bool = True) -> pa.RecordBatch:
    """One record batch with the matches of several patterns."""
    columns = [
        _column(output, plan, chunk, given)
        if numbered or not isinstance(output, Number)
        else pa.nulls(len(given.numbers), pa.int64())
        for _, output in plan.outputs
    ]
    return pa.RecordBatch.from_arrays(columns, [name for name, _ in plan.outputs])


def _column(output: Output, plan: WorkloadScan, chunk: Chunk, given: Given) -> pa.Array:
    firsts, lasts = given.firsts.astype(np.int64), given.lasts.astype(np.int64)
    match output:
        case PatternName():
            return pa.array(plan.patterns, pa.string()).take(pa.array(given.patterns))
        case Number():
            return pa.array(given.numbers)
        case Gather(column=column, place=place) if place < 0 or plan.measure_places[place].from_first:
            return chunk.column(column).take(pa.array(firsts))
        case Gather(column=column):
            return chunk.column(column).take(pa.array(lasts))
        case ListAggregate(columns=(column, *_)):
            events = chunk.column(column).take(pa.array(given.rows))
            return pa.ListArray.from_arrays(pa.array(given.begins.astype(np.int32)), events)
        case First():
            return pa.array(np.ones(len(firsts), np.bool_))
        case Mark(what="row"):
            return pa.array(np.zeros(len(firsts), np.int64))
        case Mark(what=what):
            assert plan.slices is not None
            series = np.searchsorted(chunk.offsets, firsts, side="right") - 1
            return pa.array(match_mark(what, plan.slices, chunk, series, firsts, lasts))
    raise AssertionError(output)
