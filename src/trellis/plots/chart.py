"""What all pictures share: colours, axes, and the frame of one Vega-Lite specification around its panels."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from trellis.plots.frames import Floats, show

__all__ = ["Spec", "domain", "layout", "no_matches", "show_span", "show_x", "whole", "x_encoding"]

Spec: TypeAlias = dict[str, Any]
Zoom: TypeAlias = Literal["together", "apart", "fixed"]

INK, MUTED, GRID = "#1f2933", "#66727f", "#e6e9ed"
LINE, ACCENT, CALM, PALE = "#8794a3", "#c8374a", "#445263", "#c5ccd4"
CLOCK = {"hours": "%H:%M", "minutes": "%H:%M"}
CLOCK |= {"date": "%d %b", "day": "%d %b", "week": "%d %b", "month": "%b", "quarter": "%b"}
"""How an axis of time is written, by the finest unit that its ticks need."""


def no_matches(width: float, height: float) -> list[Spec]:
    """The layers that say so in the middle of a panel where nothing matched; a white rim keeps lines away."""
    mark: Spec = {"type": "text", "text": "no matches", "fontSize": 15, "fontWeight": 600, "baseline": "middle"}
    rim: Spec = {"color": "white", "stroke": "white", "strokeWidth": 6, "strokeJoin": "round", "opacity": 0.9}
    at: Spec = {"x": {"value": width / 2}, "y": {"value": height / 2}}
    return [{"data": {"values": [{}]}, "mark": mark | how, "encoding": at} for how in (rim, {"color": INK})]


def layout(panels: int, apart: bool = False) -> tuple[int, int]:
    """In how many columns so many panels stand, and how wide each is; `apart` if none need be above another."""
    if apart and panels > 1:
        return (2, 430) if panels in (2, 4) else (3, 282)
    return (1, 880) if panels <= 3 else (2, 430)


def whole(title: str | None, subtitle: str, views: list[Spec], columns: int = 1, zoom: Zoom = "together") -> Spec:
    """The whole picture: the panels below the title. Layers called `zoom...` move together, apart, or not at all."""
    names = [f"zoom{number}" for number in range(len(views))]
    groups = {"together": [names], "apart": [[name] for name in names], "fixed": []}[zoom]
    params = [
        {
            "name": "zoom" if zoom == "together" else f"zooming_{group[0]}",
            "select": {"type": "interval", "encodings": ["x"]},
            "bind": "scales",
            "views": group,
        }
        for group in groups
    ]
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
        **({"params": params} if params else {}),
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
    axis: Spec = {"title": _told_time(ends) if temporal else title, "tickCount": width // 90, "grid": False}
    if temporal:
        axis["format"] = CLOCK
    return {"field": "x", "type": "temporal" if temporal else "quantitative", "scale": scale, "axis": axis}


def _told_time(ends: list[float] | None) -> str | None:
    """What the ticks of a time axis leave out: the day, month or year that they have in common."""
    if ends is None:
        return None
    first, last = (pd.Timestamp(round(end), unit="ms") for end in ends)
    if first.year != last.year:
        return None  # a tick at the turn of the year says which
    if first.month != last.month:
        return str(first.year)
    return f"{first:%B %Y}" if first.day != last.day else f"{first.day} {first:%B %Y}"


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


def show_span(first: float, last: float, temporal: bool) -> str:
    """From one place on the horizontal axis to another, without what need not be said twice.

    Examples
    --------
    >>> from trellis.plots.chart import show_span
    >>> show_span(1_714_974_600_000, 1_714_987_200_000, True)
    '2024-05-06 05:50 – 09:20'
    >>> show_span(3, 3, False)
    '3'
    """
    one, other = show_x(first, temporal), show_x(last, temporal)
    if temporal and all(len(text) == 19 and text.endswith(":00") for text in (one, other)):
        one, other = one[:-3], other[:-3]
    if one == other:
        return one
    day, _, clock = other.partition(" ")
    return f"{one} – {clock if temporal and clock and one.startswith(day + ' ') else other}"


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
