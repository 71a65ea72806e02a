"""The search of a query in this process, on the rows that Spark would hand to a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import trellis as tr
from benchmarks.events.stream import Template, stock_stream
from benchmarks.shipments import ship
from trellis.algebra.event_scan import EventResult, EventScan, EventSearch
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.events.matcher import EventMatcher
from trellis.execution.task import MatchTask

__all__ = ["Bench", "Found", "Search"]

# The paper's streams have so many windows for each symbol.
_WINDOWS = 200
_SYMBOLS = 2


@dataclass(frozen=True, slots=True)
class Found:
    """The number of matches, of their events, and a digest of all."""

    matches: int
    events: int
    digest: str

    @property
    def length(self) -> float:
        """The mean length of a match."""
        return self.events / max(1, self.matches)


@dataclass(frozen=True, slots=True)
class Search:
    """The rows of a stream and a plan for them; the rows are loaded."""

    chunks: tuple[Chunk, ...]
    scan: EventScan
    events: int

    def job(
        self, search: EventSearch = EventSearch.MERGED, result: EventResult = EventResult.MATCHES
    ) -> Callable[[], tuple[int, int]]:
        """The search; it gives the number of matches and that of their events."""
        matcher = EventMatcher(replace(self.scan, search=search, result=result))

        def run() -> tuple[int, int]:
            matches = events = 0
            for chunk in self.chunks:
                for matched, _ in matcher.find(chunk, matcher.dictionary(chunk)):
                    matches += len(matched.starts)
                    events += len(matched.rows)
            return matches, events

        return run

    def found(self, search: EventSearch) -> Found:
        """What a search gives."""
        matcher = EventMatcher(replace(self.scan, search=search))
        # Blocks of matches are cut where they may, so what is one stretch in a block has a digest of its own.
        rows, variables = hashlib.blake2b(digest_size=8), hashlib.blake2b(digest_size=8)
        matches = events = 0
        for chunk in self.chunks:
            for matched, _ in matcher.find(chunk, matcher.dictionary(chunk)):
                matches += len(matched.starts)
                events += len(matched.rows)
                rows.update(matched.rows.tobytes())
                variables.update(matched.variables.tobytes())
        return Found(matches, events, rows.hexdigest() + variables.hexdigest())


@dataclass(slots=True)
class Bench:
    """A run: its session, where its data lies, how large and how often."""

    spark: SparkSession
    folder: Path
    scale: float
    repeats: int

    def size(self, full: int) -> int:
        """A number of events at the scale of this run."""
        return max(1_000, round(full * self.scale))

    def stream(self, symbols: int, events: int, rising: float = 0.7) -> DataFrame:
        """A stock stream, written once."""
        path = self.folder / f"stocks_{symbols}_{events}_{rising}.parquet"
        if not path.exists():
            pq.write_table(stock_stream(symbols, events, rising), path, row_group_size=500_000)
        return self.spark.read.parquet(str(path))

    def search(self, template: Template, window: int, *, windows: int = _WINDOWS, rising: float = 0.7) -> Search:
        """The search of a template in a stream of the paper's size."""
        events = self.size(_SYMBOLS * windows * window)
        stream = self.stream(_SYMBOLS, events, rising)
        shipment = ship(lambda: tr.sase(template.text(window), events=stream))
        task = shipment.function
        assert isinstance(task, MatchTask) and isinstance(task.scan, EventScan)
        batches = shipment.batches(1_000_000)
        return Search(tuple(read_chunks(iter(batches), task.scan.keys, 10**9)), task.scan, events)
