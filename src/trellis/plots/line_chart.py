"""Matches on the lines of their series: bands behind, matched and inner stretches in colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.plots.chart import ACCENT, CALM, LINE, Spec, domain, layout, show_x, whole, x_encoding
from trellis.plots.frames import Floats, show
from trellis.plots.panels import Band, Panel

__all__ = ["Look", "line_chart"]

PALETTE = ("#c8374a", "#2a78a8", "#e0a030", "#4f9a6b", "#8a6aa8", "#d9773d", "#3aa6a6", "#b0567f", "#7a7f36", "#5466b0")
INNER = ("#0b4a9e", "#f0a202", "#000000")
"""Of inner stretches: blue, amber, black; colour-blind readers too tell them from each other and from `ACCENT`."""


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


def line_chart(panels: list[Panel], look: Look) -> Spec:
    """The whole picture: the panels in one or two columns below the title."""
    columns, width = layout(len(panels))
    height = 340 if len(panels) == 1 else 190 if columns == 1 else 150
    y_scale: Spec = {"zero": False, "nice": True}
    y_domain = domain([panel.y for panel in panels]) if look.same_y else None
    if y_domain is not None:
        y_scale["domain"] = y_domain
    labels = list(dict.fromkeys(point.label for panel in panels for point in panel.points))
    x = x_encoding(look.x_title, look.temporal, width, domain([panel.x for panel in panels]))
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "scale": y_scale,
        "axis": {"title": look.y_title, "tickCount": max(4, height // 55)},
    }
    views = [_panel(number, panel, x, y, (width, height), labels, look) for number, panel in enumerate(panels)]
    return whole(look.title, look.subtitle, views, columns)


def _panel(number: int, panel: Panel, x: Spec, y: Spec, size: tuple[int, int], labels: list[str], look: Look) -> Spec:
    """One series, from back to front: bands, line, matched and inner stretches, what the pointer finds, points."""
    width, height = size
    rows: list[Spec] = [
        {"x": a, "y": None if b != b else b} for a, b in zip(panel.x.tolist(), panel.y.tolist(), strict=True)
    ]
    for row in rows:
        row["when"], row["what"] = show_x(row["x"], look.temporal), show(row["y"])
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
            "name": f"zoom{number}",
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
        {"x": p.x, "y": p.y, "label": p.label, "when": show_x(p.x, look.temporal), "what": show(p.y)}
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
