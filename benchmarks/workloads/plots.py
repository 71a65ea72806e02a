"""The pictures of the page, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["lines"]

_INK, _MUTED, _GRID = "#1f2933", "#66727f", "#e6e9ed"
_COLOURS = ("#8794a3", "#2a78a8", "#e0a030", "#5b8f5b", "#c8374a", "#7a4b94")


def lines(
    points: Sequence[tuple[float, str, float]], x: str, series: Sequence[str], y: str = "throughput over none"
) -> dict[str, Any]:
    """A line for each series of points (x, series, y); both scales are logarithmic."""
    values = [{"x": at, "series": name, "y": value} for at, name, value in points]
    quiet = {"labelColor": _MUTED, "titleColor": _INK, "gridColor": _GRID, "domainColor": _GRID, "tickColor": _GRID}
    colours = {"domain": list(series), "range": list(_COLOURS[-len(series) :])}
    ticks = sorted({at for at, _, _ in points})

    def axis(field: str, title: str, **more: object) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "scale": {"type": "log"}, "axis": {"title": title, **more}}

    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 12,
        "config": {
            "axis": quiet,
            "view": {"stroke": None},
            "legend": {"title": None, "orient": "top"},
            "font": "Helvetica, Arial, sans-serif",
        },
        "width": 420,
        "height": 260,
        "data": {"values": values},
        "mark": {"type": "line", "point": True, "strokeWidth": 2},
        "encoding": {
            "x": axis("x", x, values=ticks, grid=False),
            "y": axis("y", y),
            "color": {"field": "series", "type": "nominal", "scale": colours},
        },
    }
