"""From matches of rows and their series to panels: each series a line or lanes, each match a band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from trellis.plots.chart import Spec, domain
from trellis.plots.frames import (
    Floats,
    Frame,
    Key,
    Limits,
    bring,
    choose_series,
    name_of,
    numbers,
    only_series,
    require_columns,
    split_series,
    told_count,
    told_matches,
)
from trellis.plots.line_chart import Look, line_chart
from trellis.plots.matched import Inner, Matched, inner_parts, matches_by_rows, matches_in_rows
from trellis.plots.panels import Panel, panel
from trellis.plots.row_lanes import RowLanes, is_text, row_lanes
from trellis.plots.zooms import Zoom, check_zoom, zoomed

__all__ = ["LinePicture", "Lines", "draw_lines", "read_lines"]

_PLACE = "place on the axis"
_TOGETHER = 0.2
"""Panels have one axis if half of them fill at least this part of it; else each has its own."""


@dataclass(frozen=True, slots=True)
class LinePicture:
    """What a picture of lines shows; the fields are arguments of `plot`."""

    x: str
    y: str
    keys: list[str]
    start: str
    end: str
    match: str | None
    label: str | None
    inner: Inner
    outer: str
    title: str | None
    y_title: str | None
    same_y: bool
    zoom: Zoom


@dataclass(frozen=True, slots=True)
class Lines:
    """The rows of each series, in the order of their places on the axis, and how their values become heights."""

    rows: dict[Key, pd.DataFrame]
    y: str
    heights: Callable[[pd.Series[Any]], Floats]
    temporal: bool
    lanes: tuple[str, ...]
    points: int

    @property
    def limits(self) -> tuple[int, bool]:
        """How a panel is thinned."""
        return self.points, bool(self.lanes)

    def of(self, key: Key) -> tuple[Floats, Floats]:
        """The places and heights of a series."""
        if key not in self.rows:
            return np.empty(0), np.empty(0)
        return self.rows[key][_PLACE].to_numpy(dtype=np.float64), self.heights(self.rows[key][self.y])


def draw_lines(matches: Frame, series: Frame, wanted: LinePicture, limits: Limits) -> Spec:
    """The picture of matches on the lines of their series."""
    keys, x, y, label = wanted.keys, wanted.x, wanted.y, wanted.label
    require_columns(series, [*keys, x, y], "series")
    check_zoom(wanted.zoom)
    parts = inner_parts(wanted.inner, wanted.outer, wanted.match)
    if wanted.match is None:
        names = (wanted.start, wanted.end, label)
        matched = matches_by_rows(matches, keys, names, list(parts.values()), limits.rows)
    else:
        matched = matches_in_rows(matches, keys, (x, y), wanted.match, label, limits.rows)
    total, hit = len(matched.placed), len(split_series(matched.placed, keys))
    zoom = wanted.zoom if total else False
    if zoom is False:
        chosen, left_out = choose_series(matched.found, series, keys, limits.series)
    else:
        matched = matched.first(limits.series)
        chosen, left_out = list(split_series(matched.found, keys)), False
    lines = read_lines(series, matched, chosen, (x, y), limits)
    temporal = lines.temporal
    points = matched.points(x, y, lines.heights)
    if zoom is False:
        bands = matched.bands()
        panels = [
            panel(name_of(key), *lines.of(key), bands.get(key, []), points.get(key, []), *lines.limits)
            for key in chosen
        ]
    else:
        panels = [
            zoomed(name_of(key), *lines.of(key), band, points.get(key, []), zoom, temporal, lines.limits)
            for key, band in matched.one_by_one()
        ]
    look = Look(
        wanted.title,
        _summary(panels, (total, hit) if left_out else None) if zoom is False else _summary_of_zoomed(panels, total),
        x,
        wanted.y_title or y,
        temporal,
        wanted.same_y,
        (wanted.outer, *parts) if parts else (),
        lines.lanes,
        zoom is not False or _hardly_overlap(panels),
    )
    return line_chart(panels, look)


def read_lines(
    series: Frame, matched: Matched, chosen: Sequence[Key], places: tuple[str, str], limits: Limits
) -> Lines:
    """The rows of the chosen series; `places` are the columns of x and y."""
    x, y = places
    keys = matched.keys
    rows = bring(only_series(series, keys, chosen), [*keys, x, y], limits.rows, "series")
    at, temporal = numbers(rows[x], f"Column {x!r}")
    matched.check_kind(x, temporal)
    by_series = split_series(rows.assign(**{_PLACE: at}).iloc[np.argsort(at, kind="stable")], keys)
    if is_text(rows[y]):
        lanes = _lanes(by_series, matched, y)
        return Lines(by_series, y, lanes.heights, temporal, lanes.names, limits.points)
    return Lines(by_series, y, lambda values: numbers(values, f"Column {y!r}")[0], temporal, (), limits.points)


def _lanes(series: dict[Key, pd.DataFrame], matched: Matched, y: str) -> RowLanes:
    """The lanes of all series; those of what matched come first where there are too many."""
    hits = []
    for key, bands in matched.bands().items():
        if key in series:
            at = series[key][_PLACE].to_numpy()
            inside = np.zeros(len(at), dtype=bool)
            for band in bands:
                inside |= (at >= band.start) & (at <= band.end)
            hits.append(series[key][y][inside])
    return row_lanes([rows[y] for rows in series.values()], hits)


def _hardly_overlap(panels: list[Panel]) -> bool:
    """Whether most series are so short beside the time of all, such as visits to a shop, that nothing would be seen."""
    ends = domain([panel.x for panel in panels])
    spans = [float(panel.x[-1] - panel.x[0]) for panel in panels if len(panel.x)]
    return len(spans) > 1 and ends is not None and float(np.median(spans)) < _TOGETHER * (ends[1] - ends[0])


def _summary(panels: list[Panel], left_out: tuple[int, int] | None) -> str:
    """What the picture shows, in a sentence."""
    return told_matches([len(panel.bands) for panel in panels], left_out) + _thinned(panels)


def _summary_of_zoomed(panels: list[Panel], total: int) -> str:
    text = told_count(total)
    if len(panels) < total:
        text += f", the first {len(panels)} drawn"
    return f"{text}, with the rows around {'it' if total == 1 else 'them'}{_thinned(panels)}"


def _thinned(panels: list[Panel]) -> str:
    rows, drawn = sum(panel.rows for panel in panels), sum(len(panel.x) for panel in panels)
    return f" · {rows:,} rows drawn as {drawn:,} points, peaks kept" if drawn < rows else ""
