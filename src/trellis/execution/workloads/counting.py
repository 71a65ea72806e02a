"""A search that only counts, for `explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.algebra.workload_scan import WorkloadScan
from trellis.execution.chunks import read_chunks

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CountTask"]


@dataclass(frozen=True, slots=True)
class CountTask:
    """The function of `mapInArrow`: a row for each node, with the number of instances in the rows of a partition."""

    scan: WorkloadScan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition in, counts out."""
        import pyarrow as pa

        from trellis.execution.workloads.matcher import WorkloadMatcher

        matcher = WorkloadMatcher(self.scan)
        for chunk in read_chunks(iter(batches), self.scan.keys, self.scan.chunk_rows):
            for _ in matcher.find(chunk):
                pass
        nodes = pa.array(range(len(self.scan.nodes)), pa.int32())
        yield pa.RecordBatch.from_arrays([nodes, pa.array(matcher.instances)], ["node", "instances"])
