"""Panels that show one match each, with the rows around it."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np

from trellis.errors import BindingError
from trellis.plots.chart import show_span
from trellis.plots.frames import Floats
from trellis.plots.panels import Band, Panel, Point, panel

__all__ = ["Zoom", "check_zoom", "zoomed"]

Zoom: TypeAlias = "bool | int | tuple[int, int]"
_LEAST = 5


def check_zoom(zoom: Zoom) -> None:
    """Refuse what is no number of rows."""
    given = zoom if isinstance(zoom, tuple) else (zoom, zoom)
    if len(given) != 2 or not all(isinstance(rows, int) and rows >= 0 for rows in given):
        raise BindingError(
            f"zoom= needs a number of rows, not {zoom!r}.",
            cure="Write True, or how many rows are shown before and after a match: 20, or (5, 20).",
        )


def zoomed(
    name: str,
    x: Floats,
    y: Floats,
    band: Band,
    points: list[Point],
    zoom: Zoom,
    temporal: bool,
    limits: tuple[int, bool],
) -> Panel:
    """The panel of one match: its rows, and so many before and after; by default as many as it has."""
    known = ~np.isnan(x)
    order = np.argsort(x[known], kind="stable")
    x, y = x[known][order], y[known][order]
    first, behind = int(np.searchsorted(x, band.start)), int(np.searchsorted(x, band.end, side="right"))
    if zoom is True:
        before = after = max(_LEAST, behind - first)
    else:
        before, after = zoom if isinstance(zoom, tuple) else (zoom, zoom)
    shown = slice(max(0, first - before), behind + after)
    inside = [point for point in points if band.start <= point.x <= band.end]
    found = panel(name, x[shown], y[shown], [band], inside, *limits)
    when = show_span(band.start, band.end, temporal)
    return replace(found, name=name or when, note=when if name else "")
