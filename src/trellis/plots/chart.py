"""One Vega-Lite specification, written as HTML, PNG or SVG. No network and no browser is needed for any of them."""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from trellis.errors import ResourceError, UnsupportedError
from trellis.plots.frames import show
from trellis.plots.panels import Band, Floats, Panel

__all__ = ["Look", "check_target", "specification", "write"]

Spec: TypeAlias = dict[str, Any]

INK, MUTED, GRID = "#1f2933", "#66727f", "#e6e9ed"
LINE, ACCENT, CALM = "#8794a3", "#c8374a", "#445263"
PALETTE = ("#c8374a", "#2a78a8", "#e0a030", "#4f9a6b", "#8a6aa8", "#d9773d", "#3aa6a6", "#b0567f", "#7a7f36", "#5466b0")
INNER = ("#0b4a9e", "#f0a202", "#000000")
"""Of inner stretches: blue, amber, black; colour-blind readers too tell them from each other and from `ACCENT`."""
CLOCK = {"hours": "%H:%M", "minutes": "%H:%M"}
CLOCK |= {"date": "%d %b", "day": "%d %b", "week": "%d %b", "month": "%b", "quarter": "%b"}
"""How an axis of time is written, by the finest unit that its ticks need."""
SUFFIXES = (".html", ".png", ".svg")


@dataclass(frozen=True, slots=True)
class Look:
    """The words around the panels, and what they share. `entries` are the legend: the match, then its stretches."""

    title: str | None
    subtitle: str
    x_title: str
    y_title: str
    temporal: bool
    same_y: bool
    entries: tuple[str, ...] = ()


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path, if its suffix says what to write."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UnsupportedError(
            f"Cannot tell from {target.name!r} what kind of picture to write.",
            cure=f"Let the path end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.",
        )
    return target


def write(spec: Spec, target: Path) -> Path:
    """Write the picture, in the form that the suffix names."""
    try:
        import vl_convert
    except ImportError:
        raise ResourceError(
            "Drawing needs the package vl-convert-python, which is not installed.",
            cure="Install it with: pip install 'trellis-spark[plot]'",
        ) from None
    target.parent.mkdir(parents=True, exist_ok=True)
    match target.suffix.lower():
        case ".png":
            target.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
        case ".svg":
            target.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
        case _:
            target.write_text(_page(spec, _library()), encoding="utf-8")
    return target


@cache
def _library() -> str:
    """The JavaScript that draws, bundled with all that it needs."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def _page(spec: Spec, library: str) -> str:
    """A page that holds everything it needs. `<` is escaped, so that no value can end the script."""
    data = json.dumps(spec, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{html.escape(spec["title"]["text"] or "Matches")}</title>
<style>body {{ margin: 0; }} #chart {{ display: flex; justify-content: center; }}</style>
<script>{library}</script>
</head>
<body>
<div id="chart"></div>
<script>
vegaEmbed("#chart", {data}, {{mode: "vega-lite", renderer: "canvas"}}).catch(console.error);
</script>
</body>
</html>
"""


def specification(panels: list[Panel], look: Look) -> Spec:
    """The whole picture: the panels in one or two columns below the title."""
    columns = 1 if len(panels) <= 3 else 2
    width = 880 if columns == 1 else 430
    height = 340 if len(panels) == 1 else 190 if columns == 1 else 150
    x_domain = _domain([panel.x for panel in panels])
    x_scale: Spec = {"nice": False, "type": "utc" if look.temporal else "linear"}
    if x_domain is not None:
        x_scale["domain"] = x_domain
    y_scale: Spec = {"zero": False, "nice": True}
    y_domain = _domain([panel.y for panel in panels]) if look.same_y else None
    if y_domain is not None:
        y_scale["domain"] = y_domain
    labels = list(dict.fromkeys(point.label for panel in panels for point in panel.points))
    x: Spec = {
        "field": "x",
        "type": "temporal" if look.temporal else "quantitative",
        "scale": x_scale,
        "axis": {"title": None if look.temporal else look.x_title, "tickCount": width // 90, "grid": False},
    }
    if look.temporal:
        x["axis"]["format"] = CLOCK
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "scale": y_scale,
        "axis": {"title": look.y_title, "tickCount": max(4, height // 55)},
    }
    zoom = {
        "name": "zoom",
        "select": {"type": "interval", "encodings": ["x"]},
        "bind": "scales",
        "views": [f"line{number}" for number in range(len(panels))],
    }
    return {
        "title": {
            "text": look.title or "",
            "subtitle": look.subtitle,
            "anchor": "start",
            "fontSize": 17,
            "subtitleFontSize": 12,
            "subtitleColor": MUTED,
            "subtitlePadding": 5,
            "offset": 18,
        },
        "background": "white",
        "padding": 18,
        "columns": columns,
        "spacing": {"row": 22, "column": 26},
        "params": [zoom],
        "concat": [_panel(number, panel, x, y, (width, height), labels, look) for number, panel in enumerate(panels)],
        "resolve": {"scale": {"color": "shared"}},
        "config": _config(),
        "usermeta": {
            "embedOptions": {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
        },
    }


def _panel(number: int, panel: Panel, x: Spec, y: Spec, size: tuple[int, int], labels: list[str], look: Look) -> Spec:
    """One series, from back to front: bands, line, matched and inner stretches, what the pointer finds, points."""
    width, height = size
    rows: list[Spec] = [
        {"x": a, "y": None if b != b else b} for a, b in zip(panel.x.tolist(), panel.y.tolist(), strict=True)
    ]
    for row in rows:
        row["when"], row["what"] = _place(row["x"], look.temporal), show(row["y"])
    colour = CALM if panel.points else ACCENT  # coloured points need a calm ground
    colours = [colour, *_inner_colours(len(panel.inner))]
    stretches: list[Spec] = []
    for depth, (numbered, hue) in enumerate(zip([panel.stretch, *panel.inner], colours, strict=True)):
        number_field, alone = ("s", "alone") if depth == 0 else (f"s{depth}", f"alone{depth}")
        seen = np.bincount(numbered[numbered >= 0], minlength=1)
        for row, s in zip(rows, numbered.tolist(), strict=True):
            row[number_field], row[alone] = s, s >= 0 and bool(seen[s] == 1)
        stretches += _stretch_layers((number_field, alone), x, y, hue, depth, look)
    layers: list[Spec] = [
        *_band_layers(panel, x, width, colour),
        {
            "name": f"line{number}",
            "mark": {"type": "line", "color": LINE, "strokeWidth": 1.1, "clip": True},
            "encoding": {"x": x, "y": y},
        },
        *stretches,
        {
            "mark": {"type": "circle", "size": 70, "opacity": 0, "clip": True},
            "encoding": {
                "x": x,
                "y": y,
                "tooltip": [
                    {"field": "when", "type": "nominal", "title": look.x_title},
                    {"field": "what", "type": "nominal", "title": look.y_title},
                ],
            },
        },
    ]
    if panel.points:
        layers.append(_point_layer(panel, x, y, labels, look))
    title = {"text": panel.name, "anchor": "start"} if panel.name else None
    return {"title": title, "width": width, "height": height, "data": {"values": rows}, "layer": layers}


def _stretch_layers(fields: tuple[str, str], x: Spec, y: Spec, colour: str, depth: int, look: Look) -> list[Spec]:
    """The highlighted stretches of the line, and those of a single row; the deeper, the bolder."""
    number, alone = fields
    encoding: Spec = {"x": x, "y": y, "detail": {"field": number}}
    if look.entries:
        encoding["color"] = {
            "datum": look.entries[depth],
            "type": "nominal",
            "scale": {"domain": list(look.entries), "range": [ACCENT, *_inner_colours(len(look.entries) - 1)]},
            "legend": {"title": None, "orient": "top", "labelLimit": 0, "symbolType": "stroke", "symbolStrokeWidth": 4},
        }
    return [
        {
            "transform": [{"filter": f"datum.{number} >= 0"}],
            "mark": {
                "type": "line",
                "color": colour,
                "strokeWidth": 3.2 if depth else 1.9,
                "strokeCap": "round",
                "clip": True,
            },
            "encoding": encoding,
        },
        {
            "transform": [{"filter": f"datum.{alone}"}],
            "mark": {"type": "circle", "color": colour, "size": 40 if depth else 26, "opacity": 1, "clip": True},
            "encoding": {"x": x, "y": y},
        },
    ]


def _inner_colours(count: int) -> list[str]:
    return [INNER[number % len(INNER)] for number in range(count)]


def _band_layers(panel: Panel, x: Spec, width: int, colour: str) -> list[Spec]:
    if not panel.bands:
        return []
    told = list(panel.bands[0].tooltip)
    written = _readable(panel.bands, panel.x, width)
    rows = [
        {
            "x": band.start,
            "x2": band.end,
            "middle": (band.start + band.end) / 2,
            "label": band.label if place in written else "",
            **{f"t{number}": band.tooltip[name] for number, name in enumerate(told)},
        }
        for place, band in enumerate(panel.bands)
    ]
    kinds = [(rows, colour, 0.13, 0.22)]
    for number, hue in enumerate(_inner_colours(len(panel.inner))):
        spans = [(row, band.inner[number]) for row, band in zip(rows, panel.bands, strict=True)]
        kinds.append(([{**row, "x": span[0], "x2": span[1]} for row, span in spans if span], hue, 0.2, 0.0))
    tooltip = [{"field": f"t{number}", "type": "nominal", "title": name} for number, name in enumerate(told)]
    layers: list[Spec] = [
        {
            "data": {"values": values},
            "mark": {
                "type": "rect",
                "color": hue,
                "fillOpacity": fill,
                "stroke": hue,
                "strokeOpacity": border,
                "strokeWidth": 0.8,
                "clip": True,
            },
            "encoding": {"x": x, "x2": {"field": "x2"}, "tooltip": tooltip},
        }
        for values, hue, fill, border in kinds
    ]
    if written:
        layers.append(
            {
                "data": {"values": [row for row in rows if row["label"]]},
                "mark": {"type": "text", "color": colour, "fontSize": 10, "baseline": "bottom", "clip": False},
                "encoding": {"x": {**x, "field": "middle"}, "y": {"value": -2}, "text": {"field": "label"}},
            }
        )
    return layers


def _point_layer(panel: Panel, x: Spec, y: Spec, labels: list[str], look: Look) -> Spec:
    colours = [PALETTE[number % len(PALETTE)] for number in range(len(labels))]
    rows = [
        {"x": p.x, "y": p.y, "label": p.label, "when": _place(p.x, look.temporal), "what": show(p.y)}
        for p in panel.points
        if p.y == p.y
    ]
    return {
        "data": {"values": rows},
        "mark": {"type": "circle", "size": 34, "opacity": 1, "stroke": "white", "strokeWidth": 0.7, "clip": True},
        "encoding": {
            "x": x,
            "y": y,
            "color": {
                "field": "label",
                "type": "nominal",
                "scale": {"domain": labels, "range": colours},
                "legend": {"title": None, "orient": "top", "symbolSize": 70, "symbolOpacity": 1},
            },
            "tooltip": [
                {"field": "label", "type": "nominal", "title": "variable"},
                {"field": "when", "type": "nominal", "title": look.x_title},
                {"field": "what", "type": "nominal", "title": look.y_title},
            ],
        },
    }


def _readable(bands: list[Band], x: Floats, width: int) -> set[int]:
    """Which labels can be written side by side: the widest bands first, each label that touches none before it."""
    chosen: dict[int, tuple[float, float]] = {}
    scale = width / ((x[-1] - x[0]) or 1.0)
    for place in sorted(range(len(bands)), key=lambda place: bands[place].start - bands[place].end):
        band = bands[place]
        half = 2.8 * len(band.label) + 1
        middle = ((band.start + band.end) / 2 - x[0]) * scale
        taken = any(middle - half < right and left < middle + half for left, right in chosen.values())
        if band.label and not taken:
            chosen[place] = (middle - half, middle + half)
    return set(chosen)


def _domain(arrays: list[Floats]) -> list[float] | None:
    """From the smallest to the largest number; None if there is none."""
    known = [array[np.isfinite(array)] for array in arrays]
    known = [array for array in known if len(array)]
    if not known:
        return None
    return [min(float(array.min()) for array in known), max(float(array.max()) for array in known)]


def _place(x: float, temporal: bool) -> str:
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
