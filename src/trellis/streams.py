"""How patterns on streams are doing. Wiring; the work is in `trellis.spark`."""

from __future__ import annotations

import sys

from pyspark.sql.streaming.query import StreamingQuery

from trellis.spark.stream_progress import StreamProgress, read_progress, watch_progress

__all__ = ["stream_progress", "watch"]


def stream_progress(query: StreamingQuery) -> StreamProgress:
    """Tell how the patterns of a streaming query are doing.

    Parameters
    ----------
    query : StreamingQuery
        What `writeStream.start()` gave.

    Returns
    -------
    StreamProgress
        Matches found, rows that came too late, and what is kept; as text, one line.

    Examples
    --------
    >>> import trellis as tr
    >>> ticks = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    >>> pair = tr.pattern("A B").measures(first="A.value")
    >>> found = ticks.transform(pair.match, order_by="timestamp")  # doctest: +SKIP
    >>> query = found.writeStream.format("noop").start()  # doctest: +SKIP
    >>> print(tr.stream_progress(query))  # doctest: +SKIP
    matches: 2, late rows: 0, kept: 1 rows (1,310 bytes), open series: 1, watermark: 2024-05-01T12:00:00.000Z
    """
    return read_progress(query)


def watch(query: StreamingQuery, *, every: int = 1) -> None:
    """Show how the patterns of a streaming query are doing, in a line on the terminal, until the query ends.

    Ctrl-C ends the watching, not the query. Where no terminal is, a line is printed whenever something has changed.

    Parameters
    ----------
    query : StreamingQuery
        What `writeStream.start()` gave. If it fails, its error is raised here.
    every : int
        How often to look, in seconds.

    Examples
    --------
    >>> import trellis as tr
    >>> query = found.writeStream.format("noop").start()  # doctest: +SKIP
    >>> tr.watch(query)  # doctest: +SKIP
    matches: 2, late rows: 0, kept: 1 rows (1,310 bytes), open series: 1, watermark: 2024-05-01T12:00:00.000Z
    """
    watch_progress(query, every, sys.stderr)
