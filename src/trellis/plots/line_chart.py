"""Matches on the lines of their series: bands behind, matched and inner stretches in colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.plots.bands import LABEL_ROW, band_layers, inner_colours, placed_labels
from trellis.plots.chart import (
    ACCENT,
    CALM,
    LINE,
    MUTED,
    PALE,
    Spec,
    domain,
    layout,
    no_matches,
    show_x,
    whole,
    x_encoding,
)
from trellis.plots.frames import show, told_count
from trellis.plots.panels import Panel
from trellis.plots.row_lanes import LANE, MOST_JOINED, lane_y

__all__ = ["Look", "line_chart"]

PALETTE = ("#c8374a", "#2a78a8", "#e0a030", "#4f9a6b", "#8a6aa8", "#d9773d", "#3aa6a6", "#b0567f", "#7a7f36", "#5466b0")


_NAME = 9
"""How far above labels and lines the name of a panel stands."""


@dataclass(frozen=True, slots=True)
class Look:
    """The words around the panels, and what they share. `entries` are the legend: the match, then its stretches.

    With `lanes`, heights are lanes with these names. With `own_x` each panel has a horizontal axis of its own.
    """

    title: str | None
    subtitle: str
    x_title: str
    y_title: str
    temporal: bool
    same_y: bool
    entries: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()
    own_x: bool = False


def line_chart(panels: list[Panel], look: Look) -> Spec:
    """The whole picture: the panels in one or more columns below the title."""
    columns, width = layout(len(panels), look.own_x)
    height = 340 if len(panels) == 1 else 190 if columns == 1 else 150
    if look.lanes:
        height = max(60, LANE * len(look.lanes))
    shared = domain([panel.x for panel in panels])
    ends = [domain([panel.x]) if look.own_x else shared for panel in panels]
    written = [
        placed_labels(panel.bands, (end[0], end[1]), width) if end else {}
        for panel, end in zip(panels, ends, strict=True)
    ]
    above = LABEL_ROW * max((label.row + 1 for labels in written for label in labels.values()), default=0)
    none = not any(panel.bands for panel in panels)
    y = lane_y(look.lanes) if look.lanes else _y(panels, look, height)
    variables = list(dict.fromkeys(point.label for panel in panels for point in panel.points))
    views = []
    for number, (panel, end, labels) in enumerate(zip(panels, ends, written, strict=True)):
        x = x_encoding(look.x_title, look.temporal, width, _with_room(end, width) if look.lanes else end)
        if panel.note is not None and look.temporal:
            x["axis"]["title"] = None  # the note says when
        pixel = (end[1] - end[0]) / width if end else 1.0
        layers = [
            *band_layers(panel, labels, x, pixel),
            *([_note_layer(panel, width, above)] if panel.name else []),
            *_panel_layers(number, panel, x, y, variables, look),
            *(no_matches(width, height) if none else []),
        ]
        title = {"text": panel.name, "anchor": "start", "frame": "group", "offset": -_NAME} if panel.name else None
        views.append(
            {"title": title, "width": width, "height": height, "data": {"values": _rows(panel, look)}, "layer": layers}
        )
    return whole(look.title, look.subtitle, views, columns, "apart" if look.own_x else "together")


def _y(panels: list[Panel], look: Look, height: int) -> Spec:
    scale: Spec = {"zero": False, "nice": True}
    ends = domain([panel.y for panel in panels]) if look.same_y else None
    if ends is not None:
        scale["domain"] = ends
    axis = {"title": look.y_title, "tickCount": max(4, height // 55)}
    return {"field": "y", "type": "quantitative", "scale": scale, "axis": axis}


def _with_room(ends: list[float] | None, width: int) -> list[float] | None:
    """So much beyond both ends that no mark is cut."""
    room = 8 * ((ends[1] - ends[0]) / width or 1.0) if ends else 0.0
    return [ends[0] - room, ends[1] + room] if ends else None


def _note_layer(panel: Panel, width: int, above: int) -> Spec:
    """What stands at the upper right of a panel, in line with its name; a space keeps all names at one height."""
    text = told_count(len(panel.bands)) if panel.note is None else panel.note or " "
    mark: Spec = {"type": "text", "align": "right", "baseline": "bottom", "fontSize": 10, "color": MUTED, "clip": False}
    at: Spec = {"x": {"value": width}, "y": {"value": -_NAME - 3 - above}}
    return {"data": {"values": [{}]}, "mark": mark, "encoding": {**at, "text": {"value": text}}}


def _rows(panel: Panel, look: Look) -> list[Spec]:
    """The points of the line; for each depth (the match, then its inner stretches) which stretch they are in."""
    rows: list[Spec] = [
        {"x": a, "y": None if b != b else b} for a, b in zip(panel.x.tolist(), panel.y.tolist(), strict=True)
    ]
    for row in rows:
        height = row["y"]
        row["when"] = show_x(row["x"], look.temporal)
        row["what"] = look.lanes[int(height)] if look.lanes and height is not None else show(height)
    for depth, numbered in enumerate([panel.stretch, *panel.inner]):
        number, alone = _fields(depth)
        seen = np.bincount(numbered[numbered >= 0], minlength=1)
        for row, s in zip(rows, numbered.tolist(), strict=True):
            row[number], row[alone] = s, s >= 0 and bool(seen[s] == 1)
    return rows


def _fields(depth: int) -> tuple[str, str]:
    return ("s", "alone") if depth == 0 else (f"s{depth}", f"alone{depth}")


def _panel_layers(number: int, panel: Panel, x: Spec, y: Spec, variables: list[str], look: Look) -> list[Spec]:
    """One series, from back to front: line, matched and inner stretches, what the pointer finds, points."""
    colours = [CALM if panel.points else ACCENT, *inner_colours(len(panel.inner))]
    tooltip = [
        {"field": "when", "type": "nominal", "title": look.x_title},
        {"field": "what", "type": "nominal", "title": look.y_title},
    ]
    line: Spec = {"type": "line", "color": LINE, "strokeWidth": 1.1, "strokeJoin": "round", "clip": True}
    pointed: Spec = {"type": "circle", "size": 70, "opacity": 0, "clip": True}
    if look.lanes:
        line |= {"color": PALE, "strokeWidth": 1.0, "opacity": 1 if len(panel.x) <= MOST_JOINED else 0}
        pointed |= {"size": 26, "opacity": 1, "color": PALE}
    found: Spec = {"mark": pointed, "encoding": {"x": x, "y": y, "tooltip": tooltip}}
    stretches: list[Spec] = []
    for depth, hue in enumerate(colours):
        stretches += _stretch_layers(_fields(depth), x, y, hue, depth, look)
    layers = [
        {"name": f"zoom{number}", "mark": line, "encoding": {"x": x, "y": y}},
        *([found, *stretches] if look.lanes else [*stretches, found]),
    ]
    if panel.points:
        layers.append(_point_layer(panel, x, y, variables, look))
    return layers


def _stretch_layers(fields: tuple[str, str], x: Spec, y: Spec, colour: str, depth: int, look: Look) -> list[Spec]:
    """The highlighted stretches of the line, and those of a single row; the deeper, the bolder."""
    number, alone = fields
    encoding: Spec = {"x": x, "y": y, "detail": {"field": number}}
    if look.entries:
        encoding["color"] = {
            "datum": look.entries[depth],
            "type": "nominal",
            "scale": {"domain": list(look.entries), "range": [ACCENT, *inner_colours(len(look.entries) - 1)]},
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
                "strokeJoin": "round",
                "clip": True,
            },
            "encoding": encoding,
        },
        {
            # In lanes each row is a mark; a line shows single rows only where it would be too short to be seen.
            "transform": [{"filter": f"datum.{number} >= 0" if look.lanes else f"datum.{alone}"}],
            "mark": {
                "type": "circle",
                "color": colour,
                "size": 40 if depth else 30 if look.lanes else 26,
                "opacity": 1,
                "clip": True,
            },
            "encoding": {"x": x, "y": y},
        },
    ]


def _point_layer(panel: Panel, x: Spec, y: Spec, labels: list[str], look: Look) -> Spec:
    colours = [PALETTE[number % len(PALETTE)] for number in range(len(labels))]
    rows = [
        {
            "x": p.x,
            "y": p.y,
            "label": p.label,
            "when": show_x(p.x, look.temporal),
            "what": look.lanes[int(p.y)] if look.lanes else show(p.y),
        }
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
