"""The search of a query in this process, on the rows that Spark would hand to a worker: by skipping, and otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import trellis as tr
from benchmarks.shipments import ship
from benchmarks.sqlts.patterns import walk
from trellis.algebra.automaton import AutomatonScan, SkipSpec
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.rows.matcher import RowMatcher
from trellis.execution.task import MatchTask
from trellis.kernels.arrays import Matches

__all__ = ["Bench", "Search", "Tested", "naive"]


@dataclass(frozen=True, slots=True)
class Tested:
    """What a search found, and how often it tested an element."""

    matches: tuple[tuple[int, int], ...]
    tests: int
    seconds: float


def naive(skips: SkipSpec) -> SkipSpec:
    """The tables of a search that knows nothing, and tries every row."""
    ignorant = (0, *[-1] * len(skips.elements))
    return replace(skips, next=ignorant, sure_shift=(), sure_next=(), sure_passes=(), positive=(), present=())


@dataclass(frozen=True, slots=True)
class Search:
    """A plan, and the rows that it is for, loaded."""

    chunks: tuple[Chunk, ...]
    scan: AutomatonScan

    @property
    def rows(self) -> int:
        return sum(chunk.table.num_rows for chunk in self.chunks)

    def tested(self, skips: SkipSpec | None) -> Tested:
        """Search by these tables, or by the automaton."""
        matcher = _Timed(replace(self.scan, skips=skips))
        found: list[tuple[int, int]] = []
        for chunk in self.chunks:
            matches = matcher.find(chunk, matcher.dictionary(chunk))
            count = int(matches.progress[2])
            found += zip(matches.starts[:count].tolist(), matches.stops[:count].tolist(), strict=True)
        return Tested(tuple(found), int(matcher.tests[0]), matcher.seconds)

    def kernel(self, skips: SkipSpec | None) -> Callable[[], float]:
        """A job that searches, and gives the seconds that were spent in the search itself."""

        def run() -> float:
            matcher = _Timed(replace(self.scan, skips=skips))
            for chunk in self.chunks:
                matcher.find(chunk, matcher.dictionary(chunk))
            return matcher.seconds

        return run


class _Timed(RowMatcher):
    """A matcher that knows how long its kernels searched; conditions are bits by then."""

    seconds = 0.0

    def _skip(self, *args: object, **options: object) -> Matches:
        return self._timed(super()._skip, *args, **options)

    def _search(self, *args: object, **options: object) -> Matches:
        return self._timed(super()._search, *args, **options)

    def _timed(self, search: Callable[..., Matches], *args: object, **options: object) -> Matches:
        began = time.perf_counter()
        found = search(*args, **options)
        self.seconds += time.perf_counter() - began
        return found


@dataclass(slots=True)
class Bench:
    """A run: its session, where its data and its files lie, how large and how often."""

    spark: SparkSession
    folder: Path
    data: Path
    scale: float
    repeats: int

    def size(self, full: int) -> int:
        """A number of rows at the scale of this run."""
        return max(1_000, round(full * self.scale))

    def djia(self, first: int, last: int) -> DataFrame:
        """The Dow Jones average of some years, both included."""
        rows = self.spark.read.parquet(str(self.data / "djia.parquet"))
        return rows.where(f"year(date) BETWEEN {first} AND {last}")

    def walks(self, series: int, rows: int) -> DataFrame:
        """Made-up prices, written once."""
        path = self.folder / f"walks_{series}_{rows}.parquet"
        if not path.exists():
            pq.write_table(walk(series, rows), path, row_group_size=500_000)
        return self.spark.read.parquet(str(path))

    def search(self, text: str, prices: DataFrame, *, off: tuple[str, ...] = ()) -> Search:
        """The search of a query."""
        hints = {"off": off, "statistics": "off"}
        shipment = ship(lambda: tr.sql(text, djia=prices, hints=hints))
        task = shipment.function
        assert isinstance(task, MatchTask) and isinstance(task.scan, AutomatonScan)
        batches = shipment.batches(1_000_000)
        return Search(tuple(read_chunks(iter(batches), task.scan.keys, 10**9)), task.scan)
