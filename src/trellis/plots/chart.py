"""What all pictures share: colours, axes, and the frame of one Vega-Lite specification around its panels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from trellis.plots.frames import Floats, show

__all__ = ["Spec", "domain", "layout", "show_x", "whole", "x_encoding"]

Spec: TypeAlias = dict[str, Any]

INK, MUTED, GRID = "#1f2933", "#66727f", "#e6e9ed"
LINE, ACCENT, CALM = "#8794a3", "#c8374a", "#445263"
CLOCK = {"hours": "%H:%M", "minutes": "%H:%M"}
CLOCK |= {"date": "%d %b", "day": "%d %b", "week": "%d %b", "month": "%b", "quarter": "%b"}
"""How an axis of time is written, by the finest unit that its ticks need."""


def layout(panels: int) -> tuple[int, int]:
    """In how many columns so many panels stand, and how wide each is."""
    return (1, 880) if panels <= 3 else (2, 430)


def whole(title: str | None, subtitle: str, views: list[Spec], columns: int = 1, zoomed: bool = True) -> Spec:
    """The whole picture: the panels below the title. If `zoomed`, all layers called `zoom...` move together."""
    zoom = {
        "name": "zoom",
        "select": {"type": "interval", "encodings": ["x"]},
        "bind": "scales",
        "views": [f"zoom{number}" for number in range(len(views))],
    }
    return {
        "title": {
            # Without a text there would be no subtitle, either; so it is a space that takes no room.
            "text": title or " ",
            "subtitle": subtitle,
            "anchor": "start",
            "fontSize": 17 if title else 1,
            "subtitleFontSize": 12,
            "subtitleColor": MUTED,
            "subtitlePadding": 5,
            "offset": 18,
        },
        "background": "white",
        "padding": 18,
        "columns": columns,
        "spacing": {"row": 22, "column": 26},
        **({"params": [zoom]} if zoomed else {}),
        "concat": views,
        "resolve": {"scale": {"color": "shared"}},
        "config": _config(),
        "usermeta": {
            "embedOptions": {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
        },
    }


def x_encoding(title: str, temporal: bool, width: int, ends: list[float] | None) -> Spec:
    """The horizontal axis of a panel, from one end to the other."""
    scale: Spec = {"nice": False, "type": "utc" if temporal else "linear"}
    if ends is not None:
        scale["domain"] = ends
    axis: Spec = {"title": None if temporal else title, "tickCount": width // 90, "grid": False}
    if temporal:
        axis["format"] = CLOCK
    return {"field": "x", "type": "temporal" if temporal else "quantitative", "scale": scale, "axis": axis}


def domain(arrays: list[Floats]) -> list[float] | None:
    """From the smallest to the largest number; None if there is none."""
    known = [array[np.isfinite(array)] for array in arrays]
    known = [array for array in known if len(array)]
    if not known:
        return None
    return [min(float(array.min()) for array in known), max(float(array.max()) for array in known)]


def show_x(x: float, temporal: bool) -> str:
    """A place on the horizontal axis as a reader likes to see it."""
    return show(pd.Timestamp(round(x * 1000), unit="us")) if temporal else show(x)


def _config() -> Spec:
    font = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
    return {
        "font": font,
        "view": {"stroke": None},
        "title": {"font": font, "fontSize": 12, "fontWeight": 600, "color": INK, "offset": 8},
        "axis": {
            "labelColor": MUTED,
            "titleColor": MUTED,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelFontSize": 10,
            "titleFontSize": 11,
            "domainColor": "#c3cad2",
            "tickColor": "#c3cad2",
            "gridColor": GRID,
        },
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "legend": {"labelColor": INK, "labelFontSize": 11, "symbolType": "circle"},
        "concat": {"spacing": 20},
    }
