"""The tree that would be chosen for some rows, and what it does with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from trellis.algebra.segments import SegmentScan
from trellis.algebra.trial import Trial
from trellis.execution import loading
from trellis.execution.chunks import read_chunks
from trellis.execution.segments.conditions import SegmentTester
from trellis.execution.segments.executor import Executor
from trellis.execution.segments.finder import Choose
from trellis.execution.segments.functions import UserFunction
from trellis.execution.segments.matcher import SegmentMatcher
from trellis.execution.segments.sample import sample_segments

__all__ = ["try_tree"]


def try_tree(
    scan: SegmentScan, table: pa.Table, functions: Mapping[str, UserFunction], choose: Choose, *, run: bool
) -> Trial | None:
    """Choose a tree for some rows, and perhaps `run` it on them; None if there are no rows."""
    if table.num_rows == 0:
        return None
    if scan.slices is not None:
        # The sample is not cut.
        scan = replace(scan, keys=scan.keys[:-1], slices=None)
    batches = [batch for batch in table.combine_chunks().to_batches() if batch.num_rows]
    chunk = next(read_chunks(iter(batches), scan.keys, table.num_rows + 1))
    matcher = SegmentMatcher(scan, functions, choose)
    dictionary = matcher.dictionary(chunk)
    slots = loading.load_slots(chunk, scan.slots, dictionary)
    rows = matcher.finder.rows(chunk.offsets, slots, lambda row: chunk.where(row, scan))
    conditions = SegmentTester(rows, scan.conditions, matcher.program(dictionary), scan.program.depth, functions)
    chosen = choose(scan, sample_segments(scan, rows, conditions), matcher.finder.prices())
    actual: dict[int, tuple[int, int]] | None = None
    if run:
        actual = {}
        Executor(rows, conditions, scan.budget, scan.reach, actual=actual).run(
            chosen.tree, None, frozenset(scan.tracked)
        )
    return Trial(rows.count, len(chunk.offsets) - 1, chosen, actual)
