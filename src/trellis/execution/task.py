"""What a worker does with the sorted rows of its partition, whatever the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from trellis.algebra.automaton import AutomatonScan
from trellis.algebra.event_scan import EventScan
from trellis.algebra.plan import Scan
from trellis.algebra.segments import SegmentScan
from trellis.algebra.workload_scan import WorkloadScan
from trellis.errors import assert_never
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.pulse import telling

if TYPE_CHECKING:
    import pyarrow as pa

    from trellis.execution.open_series import OpenSeries, Resumed
    from trellis.execution.segments.finder import Choose
    from trellis.execution.segments.functions import UserFunction
    from trellis.execution.workloads.adapting import Adapt
    from trellis.kernels.arrays import Bools

__all__ = ["MatchTask", "Matcher"]


class Matcher(Protocol):
    """A plan as arrays, ready for chunks."""

    def run(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The output rows of a chunk of whole series."""
        ...

    def resume(self, chunk: Chunk, series: OpenSeries, final: Bools, horizon: int) -> Resumed:
        """The output rows of a chunk of series that may go on, as far as they are decided."""
        ...


@dataclass(frozen=True, slots=True)
class MatchTask:
    """The function of `mapInArrow`: workers load it by name, with the plan as data.

    Segment patterns need the registered `functions`, and somebody to `choose` their trees. Somebody may `adapt` the
    plan of a workload to its events. `pulses` is a folder to tell how far the task has come, if it is there.
    """

    scan: Scan
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    choose: Choose | None = None
    adapt: Adapt | None = None
    pulses: str = ""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition in, output rows out."""
        matcher = self.matcher()
        with telling(self.pulses) as pulse:
            for chunk in read_chunks(pulse.reading(batches), self.scan.keys, self.scan.chunk_rows):
                yield from matcher.run(chunk)
                pulse.chunk_is_done(chunk.table.num_rows)

    def matcher(self) -> Matcher:
        """The matcher for the search that the plan names."""
        # Each new worker imports what its search needs, and waits for it.
        match self.scan:
            case AutomatonScan():
                from trellis.execution.rows.matcher import RowMatcher

                return RowMatcher(self.scan)
            case EventScan():
                from trellis.execution.events.matcher import EventMatcher

                return EventMatcher(self.scan)
            case SegmentScan():
                from trellis.execution.segments.matcher import SegmentMatcher

                assert self.choose is not None, "somebody must choose the tree of a segment pattern"
                return SegmentMatcher(self.scan, self.functions, self.choose)
            case WorkloadScan():
                from trellis.execution.workloads.matcher import WorkloadMatcher

                return WorkloadMatcher(self.scan, self.adapt)
        assert_never(self.scan)
