"""What is drawn for one series: the thinned line, the stretches of it that matched, the bands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from trellis.plots.frames import Floats

__all__ = ["Band", "Panel", "Point", "Positions", "Span", "panel", "thin"]

Positions: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Span: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Band:
    """One match: where it starts and ends, what is written over it and what its tooltip says.

    `inner` has a span for each kind of inner stretch, None where this match has none.
    """

    start: float
    end: float
    label: str
    tooltip: dict[str, str]
    inner: tuple[Span | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One row of a match with the variable that it was matched to."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One series, ready to draw.

    A `note` stands beside the name, by default how many matches there are.

    `stretch` numbers the matched stretches of the line; -1 is outside. `inner` does so for each kind of inner stretch.
    """

    name: str
    x: Floats
    y: Floats
    stretch: Positions
    bands: list[Band]
    points: list[Point] = field(default_factory=list)
    rows: int = 0
    inner: tuple[Positions, ...] = ()
    note: str | None = None


def panel(
    name: str, x: Floats, y: Floats, bands: list[Band], points: list[Point], max_points: int, lanes: bool = False
) -> Panel:
    """Sort, thin, and mark what matched. Bands that lie wholly outside the line are left out.

    With `lanes` the heights are those of lanes, and each is thinned by itself.
    """
    known = ~np.isnan(x)
    order = np.argsort(x[known], kind="stable")
    x, y = x[known][order], y[known][order]
    if len(x):
        bands = [band for band in bands if band.end >= x[0] and band.start <= x[-1]]
        points = [point for point in points if x[0] <= point.x <= x[-1]]
    else:
        bands, points = [], []
    stretch = _stretches(x, [(band.start, band.end) for band in bands])
    inner = [_stretches(x, [span for span in spans if span]) for spans in zip(*(b.inner for b in bands), strict=True)]
    inside = stretch >= 0
    if inside.sum() > 4 * max_points:  # matched nearly everywhere: keep only the borders of the stretches whole
        inside &= np.any([_borders(numbered) for numbered in [stretch, *inner]], axis=0)
    kept = (_thin_lanes if lanes else thin)(x, y, max_points, keep=inside)
    inner_kept = tuple(numbered[kept] for numbered in inner)
    return Panel(name, x[kept], y[kept], stretch[kept], bands, points, rows=len(x), inner=inner_kept)


def thin(x: Floats, y: Floats, max_points: int, keep: np.ndarray[Any, np.dtype[np.bool_]] | None = None) -> Positions:
    """The positions of the rows that show the same line with about `max_points` points.

    The axis is cut into buckets, and from each the first, last, lowest and highest row stay (M4: Jugel et al., VLDB
    2014), so that no peak is lost; a gap (NaN) in a bucket stays as well. Rows in `keep` stay in any case. `x` must be
    sorted.
    """
    if len(x) <= max_points:
        return np.arange(len(x), dtype=np.int64)
    buckets = max(1, max_points // 4)
    width = (x[-1] - x[0]) / buckets or 1.0
    bucket = np.minimum(((x - x[0]) / width).astype(np.int64), buckets - 1)
    known = np.flatnonzero(~np.isnan(y))
    by_height = known[np.lexsort((y[known], bucket[known]))]
    chosen = [_edges(np.arange(len(x)), bucket), _edges(by_height, bucket), _edges(np.flatnonzero(np.isnan(y)), bucket)]
    if keep is not None:
        chosen.append(np.flatnonzero(keep))
    return np.unique(np.concatenate(chosen)).astype(np.int64)


def _thin_lanes(x: Floats, y: Floats, max_points: int, keep: np.ndarray[Any, np.dtype[np.bool_]]) -> Positions:
    """As `thin`, of rows in lanes: of those of one lane and one stretch of the axis the first stays."""
    if len(x) <= max_points:
        return np.arange(len(x), dtype=np.int64)
    buckets = max(1, max_points // max(1, len(np.unique(y[~np.isnan(y)]))))
    width = (x[-1] - x[0]) / buckets or 1.0
    _, first = np.unique(np.stack([((x - x[0]) / width).astype(np.int64), y]), axis=1, return_index=True)
    return np.unique(np.concatenate([first, np.flatnonzero(keep)])).astype(np.int64)


def _edges(positions: Positions, bucket: Positions) -> Positions:
    """The first and the last position of each bucket; the positions come grouped by bucket."""
    if not len(positions):
        return positions
    change = np.diff(bucket[positions]) != 0
    edges: Positions = positions[np.r_[True, change] | np.r_[change, True]]
    return edges


def _borders(stretch: Positions) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows are the first or the last one of a stretch, or of what is between two."""
    borders: np.ndarray[Any, np.dtype[np.bool_]]
    borders = (np.diff(stretch, prepend=-2) != 0) | (np.diff(stretch, append=-2) != 0)
    return borders


def _stretches(x: Floats, spans: list[Span]) -> Positions:
    """For each row the number of the stretch that it lies in: overlapping spans make one stretch."""
    starts: list[float] = []
    ends: list[float] = []
    for start, end in sorted(spans):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    if not starts:
        return np.full(len(x), -1, dtype=np.int64)
    at = np.searchsorted(np.array(starts), x, side="right") - 1
    return np.where((at >= 0) & (x <= np.array(ends)[np.maximum(at, 0)]), at, -1).astype(np.int64)
