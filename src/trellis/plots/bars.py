"""How far the runs of an event pattern came: a bar for each component, with how many events could take its place."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from trellis.errors import BindingError
from trellis.plots.chart import ACCENT, CALM, INK, MUTED, Spec, whole
from trellis.plots.frames import Frame, Limits, bring, require_columns

__all__ = ["draw_bars"]

_COLUMNS = ("component", "conditions", "events", "runs", "searched", "total")
_WIDTH = 620
_ROW = 58
_UNKNOWN = "#dfe3e8"
_MORE = "more than could be counted"


def draw_bars(progress: Frame, title: str | None, limits: Limits) -> Spec:
    """The picture of the rows that `trellis.progress` returns."""
    try:
        require_columns(progress, _COLUMNS, "rows")
    except BindingError as error:
        raise BindingError(
            "Matches alone cannot be drawn: their rows are missing.",
            cure="Pass the rows or events that the query ran on after the matches. The only DataFrame that is drawn "
            "alone is that of trellis.progress.",
        ) from error
    steps = bring(progress, _COLUMNS, limits.rows, "rows")
    return whole(title, _summary(steps), [_view(_rows(steps))], zoom="fixed")


def _rows(steps: pd.DataFrame) -> list[Spec]:
    """The bars; the first that no event reaches `fails`, and one that could not be counted goes to the end."""
    most = max((int(count) for count in steps["events"].dropna()), default=0) or 1
    columns = (steps[name].tolist() for name in ("component", "conditions", "events", "runs"))
    rows: list[Spec] = []
    for place, (component, conditions, count, runs) in enumerate(zip(*columns, strict=True)):
        known = not pd.isna(count)
        rows.append(
            {
                "component": component,
                "conditions": conditions,
                "events": _many(count),
                "y": place,
                "top": place - 0.17,
                "bottom": place + 0.17,
                "below": place + 0.34,
                # A bar that is there can be seen.
                "length": most if not known else max(float(count), 2 * most / _WIDTH if count else 0.0),
                "told": _told(count) if known else _MORE,
                "runs": _many(runs),
                "known": known,
                "fails": known and count == 0 and not any(row["fails"] for row in rows),
            }
        )
    return rows


def _view(rows: list[Spec]) -> Spec:
    longest = max((row["length"] for row in rows), default=1.0)
    x: Spec = {
        "field": "length",
        "type": "quantitative",
        "scale": {"domain": [0, longest], "nice": False},
        "axis": None,
    }
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": [max(1, len(rows)) - 0.5, -0.5], "nice": False, "zero": False},
        "axis": {
            "title": None,
            "values": [row["y"] for row in rows],
            "labelExpr": f"{json.dumps([row['component'] for row in rows])}[datum.value]",
            "labelFontSize": 12,
            "labelColor": INK,
            "labelLimit": 260,
            "grid": False,
        },
    }
    colour = {"condition": {"test": "datum.known", "value": CALM}, "value": _UNKNOWN}
    told = {"condition": {"test": "datum.fails", "value": ACCENT}, "value": INK}
    below = {"condition": {"test": "datum.fails", "value": ACCENT}, "value": MUTED}
    tooltip = [{"field": name, "type": "nominal"} for name in ("component", "conditions", "events", "runs")]
    layers: list[Spec] = [
        {
            "mark": {"type": "rect"},
            "encoding": {
                "x": x,
                "x2": {"datum": 0},
                "y": {**y, "field": "top"},
                "y2": {"field": "bottom"},
                "color": colour,
                "tooltip": tooltip,
            },
        },
        {
            "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": 7, "fontSize": 12},
            "encoding": {"x": x, "y": y, "text": {"field": "told"}, "color": told},
        },
        {
            "mark": {
                "type": "text",
                "align": "left",
                "baseline": "middle",
                "fontSize": 10.5,
                "font": "monospace",
                "limit": _WIDTH + 120,
            },
            "encoding": {
                "x": {"value": 0},
                "y": {**y, "field": "below"},
                "text": {"field": "conditions"},
                "color": below,
                "tooltip": tooltip,
            },
        },
    ]
    return {"width": _WIDTH, "height": _ROW * max(1, len(rows)), "data": {"values": rows}, "layer": layers}


def _told(count: Any) -> str:
    return "no event" if not count else f"{int(count):,} event{'' if count == 1 else 's'}"


def _many(count: Any) -> str:
    """A number, which may be very large."""
    if pd.isna(count):
        return _MORE
    return f"{int(count):,}" if count < 10**15 else f"{float(count):.3g}"


def _summary(steps: pd.DataFrame) -> str:
    if steps.empty:
        return ""
    searched, total = int(steps["searched"].iloc[0]), int(steps["total"].iloc[0])
    text = "how many events can take each place"
    if searched < total:
        return f"{text}, in a sample of {searched:,} of {total:,} events"
    return f"{text}, of {total:,} event{'' if total == 1 else 's'}"
