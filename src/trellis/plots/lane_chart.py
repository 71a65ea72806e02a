"""Matches with gaps: the events that each match chose, on the lanes of their variables, joined by a line."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from trellis.plots.chart import INK, PALE, Spec, domain, layout, no_matches, show_x, whole, x_encoding
from trellis.plots.lane_panels import Chain, LanePanel, Mark

__all__ = ["LaneLook", "lane_chart"]

CHAINS = ("#0b4a9e", "#c8374a", "#f0a202", "#7700dd", "#5599dd", "#000000")
"""Of matches, in turn: blue, red, amber, violet, sky, black; colour-blind readers too tell them from each other."""
_SPREAD, _WIDEST = 0.66, 0.2
"""The part of a lane's height that its tracks share, and how far two of them are apart at most."""
_LOW = 0.3
"""Half the height of the lane of other types."""
_READABLE = 9.4
"""How many pixels tracks must be apart for the numbers of matches to be written."""


@dataclass(frozen=True, slots=True)
class LaneLook:
    """The words around the panels. `names` are the lines of the lanes' labels, `variables` what tooltips call them."""

    title: str | None
    subtitle: str
    x_title: str
    temporal: bool
    names: list[list[str]]
    variables: list[str]


def lane_chart(panels: list[LanePanel], look: LaneLook) -> Spec:
    """The whole picture: the panels in one or two columns below the title."""
    columns, width = layout(len(panels))
    places = [_height_of(lane, look) for lane in range(len(look.names))]
    bottom = places[-1] + (_LOW if len(places) > len(look.variables) else 0.5) if places else 0.5
    tracks = max((panel.tracks for panel in panels), default=1)
    lane_height = 42 + 5.5 * (max(1, tracks) - 1)
    ends = domain([np.array([mark.x for mark in _all_marks(panel)], dtype=np.float64) for panel in panels])
    x = x_encoding(look.x_title, look.temporal, width, _with_room(ends, width))
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": [bottom, -0.5], "nice": False, "zero": False},
        "axis": {
            "title": None,
            "values": places,
            "labelExpr": f"{json.dumps(look.names)}[ceil(datum.value)]",
            "labelFontSize": 11,
            "labelColor": INK,
            "labelLimit": 190,
            "labelLineHeight": 13,
            "labelOffset": -6.5 if any(len(lines) > 1 for lines in look.names) else 0,
            "grid": True,
        },
    }
    size = (width, lane_height * (bottom + 0.5))
    views = [_panel(number, panel, x, y, size, lane_height, look) for number, panel in enumerate(panels)]
    if not any(panel.chains for panel in panels):
        for view in views:
            view["layer"] += no_matches(*size)
    return whole(look.title, look.subtitle, views, columns)


def _height_of(lane: int, look: LaneLook) -> float:
    """Where the middle of a lane is; the last one, of other types, has no tracks and is lower than the others."""
    return lane if lane < len(look.variables) else lane - 0.5 + _LOW


def _all_marks(panel: LanePanel) -> list[Mark]:
    return [*panel.pale, *(mark for chain in panel.chains for mark in chain.marks)]


def _with_room(ends: list[float] | None, width: int) -> list[float] | None:
    """So much beyond both ends that no mark is cut, and that the number of a match fits before the first."""
    if ends is None:
        return None
    pixel = (ends[1] - ends[0]) / width or 1.0
    return [ends[0] - 26 * pixel, ends[1] + 10 * pixel]


def _panel(
    number: int, panel: LanePanel, x: Spec, y: Spec, size: tuple[int, float], lane_height: float, look: LaneLook
) -> Spec:
    """One series, from back to front: pale events, the lines of matches, their events, their numbers."""
    width, height = size
    apart = lane_height * _apart(panel.tracks)
    pale = [
        {
            "x": mark.x,
            "y": _height_of(mark.lane, look),
            "type": mark.type,
            "when": show_x(mark.x, look.temporal),
        }
        for mark in panel.pale
    ]
    rows = [row for place, chain in enumerate(panel.chains) for row in _rows(place, chain, panel.tracks, look)]
    colour: Spec = {
        "field": "colour",
        "type": "nominal",
        "scale": {"domain": list(range(len(CHAINS))), "range": list(CHAINS)},
        "legend": None,
    }
    when = {"field": "when", "type": "nominal", "title": look.x_title}
    kind = {"field": "type", "type": "nominal", "title": "type"}
    diameter = min(10.0, max(4.0, 1.4 * apart))
    layers: list[Spec] = [
        {
            "name": f"zoom{number}",
            "data": {"values": pale},
            "mark": {"type": "circle", "color": PALE, "size": 30, "opacity": 1, "clip": True},
            "encoding": {"x": x, "y": y, "tooltip": [{**kind, "title": "passed over"}, when]},
        },
        {
            "mark": {"type": "line", "strokeWidth": 1.5, "strokeJoin": "round", "strokeOpacity": 0.6, "clip": True},
            "encoding": {"x": x, "y": y, "detail": {"field": "match"}, "order": {"field": "order"}, "color": colour},
        },
        {
            "mark": {
                "type": "circle",
                "size": diameter**2 * 0.79,
                "opacity": 1,
                "stroke": "white",
                "strokeWidth": 0.8,
                "clip": True,
            },
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "tooltip": [
                    {"field": "number", "type": "nominal", "title": "match"},
                    {"field": "variable", "type": "nominal", "title": "variable"},
                    kind,
                    when,
                ],
            },
        },
    ]
    if len(panel.chains) > 1 and (panel.tracks == 1 or apart >= _READABLE):
        layers.append(
            {
                "transform": [{"filter": "datum.order == 0"}],
                "mark": {"type": "text", "align": "right", "dx": -diameter / 2 - 3, "fontSize": 9, "color": INK},
                "encoding": {"x": x, "y": y, "text": {"field": "number"}},
            }
        )
    title = {"text": panel.name, "anchor": "start"} if panel.name else None
    return {"title": title, "width": width, "height": height, "data": {"values": rows}, "layer": layers}


def _apart(tracks: int) -> float:
    """How far tracks are apart, as a part of a lane's height."""
    return min(_WIDEST, _SPREAD / max(1, tracks - 1))


def _rows(place: int, chain: Chain, tracks: int, look: LaneLook) -> list[Spec]:
    """The events of a match, on its track."""
    # From the middle of the lane to both sides in turn: a chain that is alone stands in the middle.
    above = (chain.track + 1) // 2 * (-1 if chain.track % 2 else 1) * _apart(tracks)
    return [
        {
            "match": place,
            "order": order,
            "colour": place % len(CHAINS),
            "number": chain.number or str(place + 1),
            "x": mark.x,
            "y": round(mark.lane + above, 4),
            "variable": look.variables[mark.lane],
            "type": mark.type,
            "when": show_x(mark.x, look.temporal),
        }
        for order, mark in enumerate(chain.marks)
    ]
