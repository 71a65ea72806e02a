"""The pictures of the page on prefilters: Vega-Lite specifications, written as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

import vl_convert

from benchmarks.pages import percentile
from benchmarks.prefilter.figures import Case, Figures
from benchmarks.prefilter.queries import DEFINITIONS, PATTERNS
from benchmarks.prefilter.records import CHOSEN, NONE
from benchmarks.prefilter.tables import points

__all__ = ["draw"]

Spec = dict[str, Any]

_INK, _MUTED, _GRID = "#1f2933", "#66727f", "#e6e9ed"
_COLOURS = {NONE: "#8794a3", CHOSEN: "#c8374a"}
_SERIES = ("#c8374a", "#2a78a8", "#e0a030")


def draw(figures: Figures, folder: Path) -> list[Path]:
    """Write every picture that there are figures for."""
    specs = {
        "speedups": _speed_ups(figures),
        "windows": _lines(figures, "windows", "window, hours"),
        "lengths": _lines(figures, "lengths", "defined reports in a match"),
        "sizes": _sizes(figures),
    }
    written = []
    for name, spec in specs.items():
        if spec is not None:
            target = folder / f"prefilter_{name}.svg"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
            written.append(target)
    return written


def _whole(spec: Spec) -> Spec:
    quiet = {"labelColor": _MUTED, "titleColor": _INK, "gridColor": _GRID, "domainColor": _GRID, "tickColor": _GRID}
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
        **spec,
    }


def _table(figures: Figures, section: str) -> str | None:
    """The table that is drawn: the generated one where there is a choice."""
    return next((name for name in figures.tables(section) if figures.pairs(section, name)), None)


def _speed_ups(figures: Figures) -> Spec | None:
    """Boxes as in the paper: quarter, median, three quarters; whiskers at 5 % and 95 %; the rest as dots."""
    name = _table(figures, "speed")
    if name is None:
        return None
    cases = figures.pairs("speed", name)
    by_pattern = [(one, [case for case in cases if case.pattern == one]) for one in PATTERNS]
    by_definition = [(one, [case for case in cases if case.definition == one]) for one in DEFINITIONS]
    return _whole({"hconcat": [_boxes("pattern", by_pattern), _boxes("definition", by_definition)]})


def _boxes(title: str, groups: list[tuple[str, list[Case]]]) -> Spec:
    boxes, dots = [], []
    for name, cases in groups:
        ups = [case.speed_up for case in cases]
        if not ups:
            continue
        five, low, middle, high, most = (percentile(ups, share) for share in (5, 25, 50, 75, 95))
        shown = {"group": name, "5": five, "25": low, "50": middle, "75": high, "95": most, "label": f"{middle:.1f}×"}
        boxes.append(shown)
        dots += [{"group": name, "up": up} for up in ups if not five <= up <= most]
    x = {"field": "group", "type": "nominal", "sort": None, "axis": {"title": title, "labelAngle": -35, "grid": False}}

    def y(field: str) -> Spec:
        return {
            "field": field,
            "type": "quantitative",
            "scale": {"type": "log", "nice": False},
            "axis": {"title": "speed-up"},
        }

    data = {"values": boxes}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "color": _MUTED}, "data": data, "encoding": {"y": y("5"), "y2": {"field": "95"}}},
        {
            "mark": {"type": "bar", "width": 22, "color": "#e7b3ba"},
            "data": data,
            "encoding": {"y": y("25"), "y2": {"field": "75"}},
        },
        {
            "mark": {"type": "tick", "width": 22, "thickness": 2, "color": _COLOURS[CHOSEN]},
            "data": data,
            "encoding": {"y": y("50")},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 13, "fontSize": 10, "color": _INK},
            "data": data,
            "encoding": {"y": y("50"), "text": {"field": "label"}},
        },
        {"mark": {"type": "point", "size": 8, "color": _MUTED}, "data": {"values": dots}, "encoding": {"y": y("up")}},
        {"mark": {"type": "rule", "strokeDash": [4, 3], "color": _INK}, "data": {"values": [{"one": 1}]}},
    ]
    for layer in layers[:-1]:
        layer["encoding"]["x"] = x
    layers[-1]["encoding"] = {"y": y("one")}
    return {"width": 62 * len(groups), "height": 260, "layer": layers}


def _lines(figures: Figures, section: str, axis: str) -> Spec | None:
    """A panel for each family: median times with and without."""
    name = _table(figures, section)
    if name is None:
        return None
    return _whole(
        {"hconcat": [_panel(title, axis, held.items()) for title, held in points(figures, section, name).items()]}
    )


def _panel(title: str, axis: str, held: Iterable[tuple[int, list[Case]]]) -> Spec:
    values: list[Spec] = [
        {"at": at, "seconds": median(case.seconds[variant] for case in cases), "plan": variant}
        for at, cases in sorted(held)
        for variant in (NONE, CHOSEN)
    ]
    ticks = sorted({value["at"] for value in values})
    return {
        "title": {"text": title, "anchor": "start", "color": _INK},
        "width": 330,
        "height": 220,
        "data": {"values": values},
        "mark": {"type": "line", "point": True, "strokeWidth": 2},
        "encoding": {
            "x": {"field": "at", "type": "quantitative", "axis": {"title": axis, "values": ticks, "grid": False}},
            "y": {"field": "seconds", "type": "quantitative", "axis": {"title": "median, s"}, "scale": {"zero": True}},
            "color": {
                "field": "plan",
                "type": "nominal",
                "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
            },
        },
    }


def _sizes(figures: Figures) -> Spec | None:
    """Each prefilter a dot; on the line the estimate is right."""
    name = next((name for name in figures.tables("sizes") if figures.sizes(name)), None)
    if name is None:
        return None
    values: list[Spec] = [
        {"rows": max(size.rows, 1), "estimate": max(size.estimate, 1.0), "definition": size.definition}
        for size in figures.sizes(name)
    ]
    ends = [min(min(v["rows"], v["estimate"]) for v in values), max(max(v["rows"], v["estimate"]) for v in values)]
    scale = {"type": "log", "domain": ends, "nice": True}
    x = {"field": "rows", "type": "quantitative", "scale": scale, "axis": {"title": "rows left", "format": "~s"}}
    y = {"field": "estimate", "type": "quantitative", "scale": scale, "axis": {"title": "estimated", "format": "~s"}}
    colour = {"domain": list(DEFINITIONS), "range": list(_SERIES)}
    return _whole(
        {
            "width": 360,
            "height": 360,
            "layer": [
                {
                    "data": {"values": [{"rows": end, "estimate": end} for end in ends]},
                    "mark": {"type": "line", "strokeDash": [4, 3], "color": _MUTED},
                    "encoding": {"x": x, "y": y},
                },
                {
                    "data": {"values": values},
                    "mark": {"type": "point", "filled": True, "opacity": 0.6},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "color": {"field": "definition", "type": "nominal", "scale": colour},
                    },
                },
            ],
        }
    )
