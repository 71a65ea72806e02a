"""How many segments each part of a pattern has alone, counted in a worker: sorted rows in, one line of JSON out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from trellis.algebra.segments import SegmentScan
from trellis.errors import DataError, ResourceError
from trellis.execution import loading
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.segments.finder import Choose, Finder
from trellis.execution.segments.functions import UserFunction
from trellis.execution.segments.matcher import SegmentMatcher

__all__ = ["PartsFound", "PartsTask"]


@dataclass(slots=True)
class PartsFound:
    """What was counted in a partition; a count is None where there are too many segments to count."""

    counts: list[int | None]
    rows: int = 0
    series: int = 0
    longest: int = 0
    matches: int | None = 0
    given_up: str = ""

    def add(self, other: PartsFound) -> None:
        """Add what was counted in another partition."""
        self.rows += other.rows
        self.series += other.series
        self.longest = max(self.longest, other.longest)
        self.given_up = self.given_up or other.given_up
        self.matches = _sum(self.matches, other.matches)
        self.counts = [_sum(one, two) for one, two in zip(self.counts, other.counts, strict=True)]


@dataclass(frozen=True, slots=True)
class PartsTask:
    """The function of `mapInArrow`: searches for a pattern, and for each of its parts."""

    scan: SegmentScan
    parts: tuple[SegmentScan, ...]
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    choose: Choose | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition in, the counts out."""
        assert self.choose is not None, "somebody must choose the trees"
        found = PartsFound([0] * len(self.parts))
        whole = SegmentMatcher(self.scan, self.functions, self.choose)
        finders = [Finder(part, self.choose, self.functions) for part in self.parts]
        for chunk in read_chunks(iter(batches), self.scan.keys, self.scan.chunk_rows):
            found.add(self._count(chunk, whole, finders))
        if found.rows:
            text = json.dumps({name: getattr(found, name) for name in PartsFound.__slots__})
            yield pa.record_batch({"found": pa.array([text], pa.string())})

    def _count(self, chunk: Chunk, whole: SegmentMatcher, finders: list[Finder]) -> PartsFound:
        dictionary = whole.dictionary(chunk)
        slots, program = loading.load_slots(chunk, self.scan.slots, dictionary), whole.program(dictionary)

        def name(row: int) -> str:
            return chunk.where(row, self.scan)

        found = PartsFound([], chunk.table.num_rows, len(chunk.offsets) - 1, int(np.diff(chunk.offsets).max(initial=0)))
        try:
            found.matches = len(whole.finder.find(chunk.offsets, slots, program, None, name)[1].starts)
        except (DataError, ResourceError) as error:
            found.matches, found.given_up = None, error.problem
        for finder in finders:
            try:
                found.counts.append(finder.count(chunk.offsets, slots, program, name))
            except ResourceError:
                found.counts.append(None)
        return found


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
