"""How a pattern on a stream is doing, from what Spark tells of its micro-batches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

from pyspark.sql.streaming.query import StreamingQuery

from trellis.spark.stream import OBSERVED

__all__ = ["StreamProgress", "read_progress", "watch_progress"]


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """What a pattern on a stream has done in the micro-batches that Spark remembers.

    Attributes
    ----------
    batches : int
        How many micro-batches these are: the last hundred, unless Spark is told otherwise.
    matches, late : int
        How many matches were found, and how many rows came too late, in all of them.
    keys, rows, bytes : int
        What is kept after the last of them that had rows: series that are not settled, rows of these and rows ahead of
        the watermark, and their size as stored. They are counted where the micro-batch had something to do.
    watermark : str
        The watermark of the last one, or nothing.
    """

    batches: int
    matches: int
    late: int
    keys: int
    rows: int
    bytes: int
    watermark: str

    def __str__(self) -> str:
        return (
            f"matches: {self.matches:,}, late rows: {self.late:,}, kept: {self.rows:,} rows ({self.bytes:,} bytes), "
            f"open series: {self.keys:,}, watermark: {self.watermark or 'none yet'}"
        )


def read_progress(query: StreamingQuery) -> StreamProgress:
    """The progress of a streaming query, with all patterns in it together."""
    found = [_counts(progress) for progress in query.recentProgress]
    with_rows = [counts for counts in found if counts["input"]] or found
    last = with_rows[-1] if with_rows else dict.fromkeys(("keys", "rows", "bytes"), 0)
    return StreamProgress(
        batches=len(found),
        matches=sum(int(counts["matches"]) for counts in found),
        late=sum(int(counts["late"]) for counts in found),
        keys=int(last["keys"]),
        rows=int(last["rows"]),
        bytes=int(last["bytes"]),
        watermark=str(found[-1]["watermark"]) if found else "",
    )


def watch_progress(query: StreamingQuery, every: int, out: TextIO) -> None:
    """Show the progress until the query ends: in a line that changes, or where nobody watches, in lines."""
    shown = ""
    terminal = out.isatty()
    with suppress(KeyboardInterrupt):
        while not query.awaitTermination(every):
            text = str(read_progress(query))
            if text != shown:
                out.write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
                out.flush()
            shown = text
    if shown and terminal:
        out.write("\n")


def _counts(progress: Mapping[str, Any]) -> dict[str, Any]:
    observed = [row for name, row in progress["observedMetrics"].items() if name.startswith(OBSERVED)]
    counts: dict[str, Any] = {
        name: sum(row[name] or 0 for row in observed) for name in ("matches", "late", "keys", "rows", "bytes")
    }
    counts["input"] = progress["numInputRows"]
    counts["watermark"] = progress["eventTime"].get("watermark", "")
    return counts
