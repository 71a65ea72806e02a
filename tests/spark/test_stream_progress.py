"""What is told of a stream while it runs, from what Spark reports of micro-batches."""

from __future__ import annotations

import io
from typing import Any

from trellis.spark.stream_progress import read_progress, watch_progress


class Reported:
    """A query by its shape: what it reports, and how long it goes on."""

    def __init__(self, *progress: dict[str, Any]) -> None:
        self.all, self.seen = list(progress), 0

    @property
    def recentProgress(self) -> list[dict[str, Any]]:
        return self.all[: self.seen]

    def awaitTermination(self, seconds: float) -> bool:
        self.seen += 1
        return self.seen > len(self.all)


def batch(brought: int, watermark: str = "", **counts: int | None) -> dict[str, Any]:
    zeros = dict.fromkeys(("matches", "late", "keys", "rows", "bytes"), 0)
    observed = {"trellis 1": {**zeros, **counts}, "another": {"x": 1}}
    times = {"watermark": watermark} if watermark else {}
    return {"numInputRows": brought, "observedMetrics": observed, "eventTime": times}


def test_matches_are_summed_and_what_is_kept_is_that_of_the_last_batch_with_rows() -> None:
    query = Reported(
        batch(5, matches=1, rows=4, keys=2, bytes=100),
        batch(3, "2024-05-01T12:00:00.000Z", matches=2, late=1, rows=6, keys=3, bytes=150),
        batch(0, "2024-05-01T12:05:00.000Z", matches=None, rows=None, keys=None, bytes=None),
    )
    assert read_progress(query).batches == 0  # type: ignore[arg-type]
    query.seen = 3
    found = read_progress(query)  # type: ignore[arg-type]
    assert (found.matches, found.late, found.rows, found.keys, found.bytes) == (3, 1, 6, 3, 150)
    assert found.watermark.endswith("12:05:00.000Z")


def test_a_line_whenever_something_has_changed() -> None:
    out = io.StringIO()
    watch_progress(Reported(batch(1, matches=1), batch(1), batch(1, matches=1)), 0, out)  # type: ignore[arg-type]
    assert [line.split(",")[0] for line in out.getvalue().splitlines()] == ["matches: 1", "matches: 2"]
