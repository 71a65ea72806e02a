"""The plan of many patterns as a graph: leaves below, what is made of them above, and on top the patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p
from textwrap import wrap

from trellis.plots.chart import INK, LINE, MUTED, Spec, whole
from trellis.plots.layers import Layout, layered
from trellis.plots.plan_graph import PlanGraph, PlanNode

__all__ = ["draw_plan"]

SHARES = ("#c5ccd4", "#f8d95a", "#ee8a2c", "#cf4436", "#98205f", "#5a1a7c", "#180c44")
"""Of nodes by how many patterns use them: grey for one; then, for twice as many each, from yellow to dark violet."""
_LEAST, _MOST = 560, 1360
_UNIT = 118
"""How wide a picture is, and how many pixels a node has, if there is so much room."""
_MARGIN = 66
_ROW, _BELOW = 104, 60
_LABEL, _NAME = 20, 20
"""How many characters a line of a label has at most, and how many of the name of a pattern are shown."""
_LETTER = 5.7
"""About how wide a character is."""
_VISIBLE = 3.0
"""How large a circle is at least, even if it touches others."""
_UPRIGHT = 0.35
"""For which part of the way to the next row an edge is drawn upwards."""


def draw_plan(plan: PlanGraph, title: str) -> Spec:
    """The whole picture."""
    names = plan.patterns
    places = {name: len(plan.nodes) + place for place, name in enumerate(names)}
    results = [(number, places[name]) for number, node in enumerate(plan.nodes) for name in node.results]
    absences = [(leaf, places[name]) for leaf, name in plan.absences if name in places]
    edges = [*plan.edges, *results, *absences]
    layout = layered(_rows(plan, len(names)), edges)
    unit = min(_UNIT, (_MOST - 2 * _MARGIN) / max(1.0, layout.width))
    canvas = _Canvas(layout, unit, max((_LEAST - unit * layout.width) / 2, _MARGIN))
    view = _view(plan, names, canvas, len(edges) - len(absences))
    return whole(title, _summary(plan, len(names)), [view])


@dataclass(frozen=True, slots=True)
class _Canvas:
    """A layout in pixels: `unit` for each vertex of a row, `margin` on both sides."""

    layout: Layout
    unit: float
    margin: float

    @property
    def width(self) -> float:
        return self.unit * self.layout.width + 2 * self.margin

    def x(self, place: float) -> float:
        """A place in a row."""
        return round(self.margin + self.unit * place, 1)

    @property
    def top(self) -> int:
        """The highest row."""
        return max(self.layout.y, default=0)


def _rows(plan: PlanGraph, patterns: int) -> list[int]:
    """A row for each node, above those of its parts, and one on top for all patterns."""
    rows = [0] * len(plan.nodes)
    for part, node in sorted(plan.edges, key=lambda edge: edge[1]):
        rows[node] = max(rows[node], rows[part] + 1)
    return [*rows, *[max(rows, default=-1) + 1] * patterns]


def _view(plan: PlanGraph, names: Sequence[str], canvas: _Canvas, solid: int) -> Spec:
    """From back to front: edges, nodes, patterns, labels."""
    nodes = _nodes(plan, canvas)
    patterns, upright = _patterns(names, len(nodes), canvas)
    longest = max((len(row["name"]) for row in patterns), default=0)
    above = 14 + (_LETTER * longest if upright else 14)
    height = _ROW * canvas.top + _BELOW + above
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "scale": {"domain": [0, canvas.width], "nice": False},
        "axis": None,
    }
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": [-_BELOW / _ROW, canvas.top + above / _ROW], "nice": False, "zero": False},
        "axis": None,
    }
    classes = _classes(plan)
    colour: Spec = {
        "field": "class",
        "type": "nominal",
        "scale": {"domain": classes, "range": list(SHARES[: len(classes)])},
        "legend": {
            "title": "nodes used by",
            "orient": "top",
            "symbolSize": 90,
            "symbolOpacity": 1,
            "titleColor": MUTED,
            "titleOrient": "left",
            "titleFontWeight": "normal",
        },
    }
    tooltip = [{"field": name, "type": "nominal"} for name in ("node", "sub-pattern", "instances", "used by")]
    name_layout: Spec = (
        {"align": "left", "angle": 270, "dx": 8, "baseline": "middle"} if upright else {"dy": -8, "baseline": "bottom"}
    )
    layers: list[Spec] = [
        *_edge_layers(canvas, solid, x, y),
        {
            "data": {"values": nodes},
            "mark": {"type": "circle", "opacity": 1, "clip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "size": {"field": "size", "type": "quantitative", "scale": None},
                "stroke": {"condition": {"test": "datum.shared", "value": INK}, "value": "white"},
                "strokeWidth": {"value": 1.1 if canvas.unit > 12 else 0.5},
                "tooltip": tooltip,
            },
        },
        {
            "data": {"values": patterns},
            "mark": {
                "type": "square",
                "color": INK,
                "opacity": 1,
                "size": min(8.0, 0.8 * canvas.unit) ** 2,
                "clip": True,
            },
            "encoding": {"x": x, "y": y, "tooltip": [{"field": "pattern", "type": "nominal"}]},
        },
        *_text_layers([row for row in nodes if row["label"]], "label", {"baseline": "top"}, x, {**y, "field": "below"}),
        *_text_layers([row for row in patterns if row["name"]], "name", name_layout, x, y),
    ]
    return {"width": round(canvas.width), "height": round(height), "layer": layers}


def _nodes(plan: PlanGraph, canvas: _Canvas) -> list[Spec]:
    largest = log1p(max((node.instances for node in plan.nodes), default=0.0)) or 1.0
    widest = min(34.0, 0.85 * canvas.unit)
    least = min(7.0, 0.7 * widest)
    if widest < _VISIBLE:
        least = widest = _VISIBLE
    written = _readable(plan, canvas)
    rows: list[Spec] = []
    for number, node in enumerate(plan.nodes):
        diameter = least + (widest - least) * log1p(node.instances) / largest
        rows.append(
            {
                "node": node.label,
                "sub-pattern": node.text,
                "instances": _told(node, both=True),
                "used by": _listed(node.patterns),
                "x": canvas.x(canvas.layout.x[number]),
                "y": canvas.layout.y[number],
                "size": round(diameter**2, 1),
                "class": _class(len(node.patterns)),
                "shared": len(node.patterns) > 1,
                "label": _lines(node) if number in written else None,
                "below": round(canvas.layout.y[number] - (diameter / 2 + 3) / _ROW, 3),
            }
        )
    return rows


def _patterns(names: Sequence[str], first: int, canvas: _Canvas) -> tuple[list[Spec], bool]:
    """The patterns, and whether their names stand upright, since they would not fit side by side."""
    shown = [_shortened(name, _NAME) for name in names]
    upright = any(_LETTER * len(name) + 8 > canvas.unit for name in shown)
    rows: list[Spec] = []
    order = sorted(range(len(names)), key=lambda place: canvas.layout.x[first + place])
    end = -1e9
    for place in order:
        x = canvas.x(canvas.layout.x[first + place])
        fits = not upright or x - end >= 11
        end = x if fits else end
        name = shown[place] if fits else ""
        rows.append({"pattern": names[place], "name": name, "x": x, "y": canvas.layout.y[first + place]})
    return rows, upright


def _edge_layers(canvas: _Canvas, solid: int, x: Spec, y: Spec) -> list[Spec]:
    """Edges, and dashed those of what must be absent. All are one line, with gaps: thousands of lines take minutes."""
    rows: tuple[list[Spec], list[Spec]] = ([], [])
    for number, route in enumerate(canvas.layout.routes):
        line = rows[number >= solid]
        for across, up in _curve(route):
            line.append({"step": len(line), "x": canvas.x(across), "y": round(up, 3)})
        line.append({"step": len(line), "x": line[-1]["x"], "y": None})
    thin = min(1.0, max(0.25, 120 / max(1, len(canvas.layout.routes))))
    mark: Spec = {
        "type": "line",
        "interpolate": "basis",
        "color": LINE,
        "strokeWidth": round(1.2 * thin**0.5, 2),
        "strokeOpacity": round(0.8 * thin**0.5, 2),
        "clip": True,
    }
    encoding: Spec = {"x": x, "y": y, "order": {"field": "step"}}
    return [
        {"name": "zoom0", "data": {"values": rows[False]}, "mark": mark, "encoding": encoding},
        {"data": {"values": rows[True]}, "mark": {**mark, "strokeDash": [4, 3]}, "encoding": encoding},
    ]


def _curve(route: Sequence[tuple[float, int]]) -> list[tuple[float, float]]:
    """The points that draw a curve along a route, so that it leaves and reaches each row upright."""
    points: list[tuple[float, float]] = []
    for (x, y), (next_x, next_y) in pairwise(route):
        points += [(x, y), (x, y + _UPRIGHT), (next_x, next_y - _UPRIGHT), (next_x, next_y)]
    return points


def _text_layers(rows: list[Spec], field: str, how: Spec, x: Spec, y: Spec) -> list[Spec]:
    """Labels, with a white rim that keeps edges away from them."""
    encoding: Spec = {"x": x, "y": y, "text": {"field": field}}
    mark: Spec = {"type": "text", "fontSize": 10, "lineHeight": 12, "clip": True, **how}
    return [
        {
            "data": {"values": rows},
            "mark": {
                **mark,
                "color": "white",
                "stroke": "white",
                "strokeWidth": 3,
                "strokeJoin": "round",
                "opacity": 0.85,
            },
            "encoding": encoding,
        },
        {"data": {"values": rows}, "mark": {**mark, "color": INK}, "encoding": encoding},
    ]


def _readable(plan: PlanGraph, canvas: _Canvas) -> set[int]:
    """Which labels can be written side by side: of what is shared most and is largest first."""
    chosen: dict[int, list[tuple[float, float]]] = {}
    written: set[int] = set()
    nodes = plan.nodes
    for number in sorted(range(len(nodes)), key=lambda n: (-len(nodes[n].patterns), -nodes[n].instances, n)):
        half = _LETTER / 2 * max(map(len, _lines(nodes[number]))) + 4
        middle, row = canvas.x(canvas.layout.x[number]), chosen.setdefault(canvas.layout.y[number], [])
        if not any(middle - half < right and left < middle + half for left, right in row):
            row.append((middle - half, middle + half))
            written.add(number)
    return written


def _lines(node: PlanNode) -> list[str]:
    first, *rest = wrap(node.label, _LABEL) or [""]
    return [first, *([_shortened(" ".join(rest), _LABEL)] if rest else []), _shortened(_told(node), _LABEL)]


def _told(node: PlanNode, both: bool = False) -> str:
    """How many instances a node had; if that is not known, or `both` are wanted, about how many it should have."""
    about = f"about {node.estimate:,.0f}" if 100 <= node.estimate < 1e6 else f"about {node.estimate:.3g}"
    if node.found is None:
        return about
    return f"{about}, found {node.found:,}" if both else f"found {node.found:,}"


def _class(users: int) -> str:
    """How many patterns use a node, roughly: 1, 2, 3 to 4, 5 to 8, ..."""
    place = min((max(1, users) - 1).bit_length(), len(SHARES) - 1)
    if place < 2:
        return f"{place + 1} pattern{'s' if place else ''}"
    least = 2 ** (place - 1) + 1
    return f"{least} or more" if place == len(SHARES) - 1 else f"{least} to {2**place}"


def _classes(plan: PlanGraph) -> list[str]:
    """All classes up to that of the node that is used most."""
    most = max((len(node.patterns) for node in plan.nodes), default=1)
    return list(dict.fromkeys(_class(users) for users in range(1, most + 1)))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8:,} more"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _summary(plan: PlanGraph, patterns: int) -> str:
    nodes = plan.nodes
    shared = sum(len(node.patterns) > 1 for node in nodes)
    known = sum(node.found is not None for node in nodes)
    how = "estimated" if not known else "as found" if known == len(nodes) else "as found or estimated"
    text = f"{len(nodes):,} node{'' if len(nodes) == 1 else 's'} for {patterns:,} pattern{'' if patterns == 1 else 's'}"
    return f"{text}, {shared:,} shared (with a dark rim) · larger circles hold more instances ({how})"
