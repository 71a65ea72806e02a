"""What the search for events knows beyond the rows of a chunk."""

from __future__ import annotations

import numpy as np

from trellis.algebra.event_scan import EventScan
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.open_series import NEVER, OpenSeries
from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.event_arrays import Growth

__all__ = ["growing", "whole"]


def whole(plan: EventScan, chunk: Chunk) -> Growth:
    """Nothing: the series are whole, or slices."""
    final = np.ones(len(chunk.offsets) - 1, np.bool_)
    low = chunk.offsets[:-1].copy()
    return _growth(low, loading.load_starts(chunk, plan.slices).ends, low.copy(), final, np.zeros_like(low), False)


def growing(plan: EventScan, chunk: Chunk, series: OpenSeries, final: Bools, horizon: int) -> Growth:
    """What is known of series that may go on; of each the chunk has the rows from `first` on."""
    in_chunk = chunk.offsets[:-1] - series.first
    ends_absent = any(one.after == len(plan.parts) - 1 for one in plan.absences)
    return _growth(
        series.start + in_chunk,
        chunk.offsets[1:].copy(),
        series.shown + in_chunk,
        np.array(final, np.bool_),
        _horizons(plan, chunk, horizon),
        ends_absent,
    )


def _growth(begins: Ints, stops: Ints, shown: Ints, final: Bools, horizon: Ints, ends_absent: bool) -> Growth:
    grows = ~final
    # As if nothing were left; the search corrects it for series that grow.
    ends, starts, firsts = stops.copy(), stops.copy(), stops.copy()
    due = np.full(len(final), NEVER)
    return Growth(begins, stops, shown, grows, grows & ends_absent, horizon, ends, starts, firsts, due)


def _horizons(plan: EventScan, chunk: Chunk, horizon: int) -> Ints:
    """For each series the least time of rows to come: they come in the order of time, so after those that are here."""
    horizons = np.full(len(chunk.offsets) - 1, horizon, np.int64)
    within = loading.load_within(chunk, plan.within)
    if within.active:
        owners = np.repeat(np.arange(len(horizons)), np.diff(chunk.offsets))
        np.maximum.at(horizons, owners[within.known], within.key[within.known])
    return horizons
