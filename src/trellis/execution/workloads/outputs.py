"""From matches of a workload to Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from trellis.algebra.scan import First, Gather, ListAggregate, Mark, Number, Output, PatternName
from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.chunks import Chunk
from trellis.execution.slices import match_mark
from trellis.execution.workloads.found import Given
from trellis.kernels.arrays import Ints

__all__ = ["write_workload"]


def write_workload(
    plan: WorkloadScan, chunk: Chunk, given: Sequence[tuple[int, Given]], *, numbered: bool = True
) -> pa.RecordBatch:
    """One record batch with the matches of several patterns."""
    columns = [
        _column(output, plan, chunk, given)
        if numbered or not isinstance(output, Number)
        else pa.nulls(sum(len(one.numbers) for _, one in given), pa.int64())
        for _, output in plan.outputs
    ]
    return pa.RecordBatch.from_arrays(columns, [name for name, _ in plan.outputs])


def _column(output: Output, plan: WorkloadScan, chunk: Chunk, given: Sequence[tuple[int, Given]]) -> pa.Array:
    firsts = np.concatenate([matches.firsts for _, matches in given]).astype(np.int64)
    match output:
        case PatternName():
            numbers = np.repeat([pattern for pattern, _ in given], [len(one.numbers) for _, one in given])
            return pa.array(plan.patterns, pa.string()).take(pa.array(numbers))
        case Number():
            return pa.array(np.concatenate([matches.numbers for _, matches in given]))
        case Gather(column=column, place=place) if place < 0 or plan.measure_places[place].from_first:
            return chunk.column(column).take(pa.array(firsts))
        case Gather(column=column):
            return chunk.column(column).take(pa.array(_lasts(given)))
        case ListAggregate(columns=(column, *_)):
            rows = np.concatenate([matches.rows for _, matches in given])
            lengths = np.concatenate([np.diff(matches.begins) for _, matches in given])
            offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
            return pa.ListArray.from_arrays(pa.array(offsets), chunk.column(column).take(pa.array(rows)))
        case First():
            return pa.array(np.ones(len(firsts), np.bool_))
        case Mark(what="row"):
            return pa.array(np.zeros(len(firsts), np.int64))
        case Mark(what=what):
            assert plan.slices is not None
            series = np.searchsorted(chunk.offsets, firsts, side="right") - 1
            return pa.array(match_mark(what, plan.slices, chunk, series, firsts, _lasts(given)))
    raise AssertionError(output)


def _lasts(given: Sequence[tuple[int, Given]]) -> Ints:
    lasts: Ints = np.concatenate([matches.lasts for _, matches in given]).astype(np.int64)
    return lasts
