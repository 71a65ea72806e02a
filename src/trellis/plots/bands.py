"""Matches as bands behind a line: from their first to their last row, with labels above where there is room."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from trellis.plots.chart import ACCENT, CALM, Spec
from trellis.plots.panels import Band, Panel, Span

__all__ = ["INNER", "LABEL_ROW", "Label", "band_layers", "inner_colours", "placed_labels"]

INNER = ("#0b4a9e", "#f0a202", "#000000")
"""Of inner stretches: blue, amber, black; colour-blind readers too tell them from each other and from `ACCENT`."""
LABEL_ROW = 12
"""How high a row of labels is."""
_ROWS = 3
_LETTER = 5.6
_LONGEST = 32
_THIN = 1.5
"""A band of fewer pixels gets a bolder rim, or it would not be seen."""
_MANY = 100


@dataclass(frozen=True, slots=True)
class Label:
    """What is written over a band: in which row above the panel, and on which side of the middle of the band."""

    text: str
    row: int
    align: str


def inner_colours(count: int) -> list[str]:
    """Colours of so many inner stretches."""
    return [INNER[number % len(INNER)] for number in range(count)]


def placed_labels(bands: list[Band], ends: Span, width: int) -> dict[int, Label]:
    """The labels that can be written without touching each other, by the place of their band.

    Those of wide bands come first, each in the middle of its band where that is free. Where this leaves some out, they
    try not to stand in the way of lines that lead from others down to their bands.
    """
    scale = width / ((ends[1] - ends[0]) or 1.0)
    middles = [((band.start + band.end) / 2 - ends[0]) * scale for band in bands]
    texts = [text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in (band.label for band in bands)]
    named = [place for place, text in enumerate(texts) if text]
    order = sorted(named, key=lambda place: bands[place].start - bands[place].end)
    found = _placed(order, texts, middles, width, considerate=False)
    if len(found) < len(named):
        found = max(found, _placed(order, texts, middles, width, considerate=True), key=len)
    return found


def _placed(
    order: list[int], texts: list[str], middles: list[float], width: int, *, considerate: bool
) -> dict[int, Label]:
    """In this order, each label into the lowest row where it fits; or where it stands in the way of the fewest."""
    taken: list[list[Span]] = [[] for _ in range(_ROWS)]
    found: dict[int, Label] = {}
    others = sorted(middles[place] for place in order)
    for place in order:
        middle = middles[place]
        free = [
            (row, side, span)
            for row in range(_ROWS)
            for side, span in _ways(middle, _LETTER * len(texts[place]), width)
            if _is_free(span, middle, row, taken)
        ]
        if considerate and free:
            free.sort(key=lambda way: 0 if way[0] == _ROWS - 1 else _count_inside(others, way[2]))
        if free:
            row, side, span = free[0]
            taken[row].append(span)
            for lower in range(row):
                taken[lower].append((middle - 1, middle + 1))  # the line that leads down to the band
            found[place] = Label(texts[place], row, side)
    return found


def _count_inside(places: list[float], span: Span) -> int:
    """How many of these sorted places are in a span, without the one it is for."""
    return bisect_left(places, span[1]) - bisect_right(places, span[0]) - 1


def _ways(middle: float, full: float, width: int) -> list[tuple[str, Span]]:
    """How a label that is `full` pixels wide can stand over the middle of its band without leaving the panel."""
    starts = {"center": middle - full / 2, "left": middle - 2, "right": middle - full + 2}
    inside = [side for side in starts if starts[side] >= -2 and starts[side] + full <= width + 2]
    return [(side, (starts[side] - 3, starts[side] + full + 3)) for side in inside]


def _is_free(span: Span, middle: float, row: int, taken: list[list[Span]]) -> bool:
    """Whether neither the label nor the line below it touches another one."""
    if any(span[0] < right and left < span[1] for left, right in taken[row]):
        return False
    return not any(left < middle < right for lower in range(row) for left, right in taken[lower])


def band_layers(panel: Panel, labels: dict[int, Label], x: Spec, pixel: float) -> list[Spec]:
    """The bands of a panel, those of inner stretches, and their labels. `pixel` is how much of `x` one takes."""
    if not panel.bands:
        return []
    colour = CALM if panel.points else ACCENT  # coloured points need a calm ground
    told = list(panel.bands[0].tooltip)
    rows = [
        {
            "x": band.start,
            "x2": band.end,
            "middle": (band.start + band.end) / 2,
            **{f"t{number}": band.tooltip[name] for number, name in enumerate(told)},
        }
        for band in panel.bands
    ]
    # Rims of many bands would hide the line.
    kinds = [(rows, colour, 0.13, 0.22 if len(rows) <= _MANY else 0.0)]
    for number, hue in enumerate(inner_colours(len(panel.inner))):
        spans = [(row, band.inner[number]) for row, band in zip(rows, panel.bands, strict=True)]
        kinds.append(([{**row, "x": span[0], "x2": span[1]} for row, span in spans if span], hue, 0.2, 0.0))
    tooltip = [{"field": f"t{number}", "type": "nominal", "title": name} for number, name in enumerate(told)]
    layers: list[Spec] = []
    for values, hue, fill, border in kinds:
        seen = {"test": f"datum.x2 - datum.x < {_THIN * pixel!r}", "value": 0.5 if len(rows) <= _MANY else 0.12}
        layers.append(
            {
                "data": {"values": values},
                "mark": {"type": "rect", "color": hue, "fillOpacity": fill, "strokeWidth": 0.8, "clip": True},
                "encoding": {
                    "x": x,
                    "x2": {"field": "x2"},
                    "stroke": {"value": hue},
                    "strokeOpacity": {"condition": seen, "value": border},
                    "tooltip": tooltip,
                },
            }
        )
    return layers + _label_layers(rows, labels, x, colour)


def _label_layers(rows: list[Spec], labels: dict[int, Label], x: Spec, colour: str) -> list[Spec]:
    """Labels above the panel; from those of higher rows a thin line leads down to the band."""
    layers: list[Spec] = []
    for row, align in sorted({(label.row, label.align) for label in labels.values()}):
        values = [
            {"middle": rows[place]["middle"], "label": label.text}
            for place, label in labels.items()
            if (label.row, label.align) == (row, align)
        ]
        above = -2 - LABEL_ROW * row
        at = {**x, "field": "middle"}
        text = {"type": "text", "color": colour, "fontSize": 10, "baseline": "bottom", "align": align, "clip": False}
        if row:
            layers.append(
                {
                    "data": {"values": values},
                    "mark": {"type": "rule", "color": colour, "strokeWidth": 0.6, "opacity": 0.5, "clip": False},
                    "encoding": {"x": at, "y": {"value": above}, "y2": {"value": 0}},
                }
            )
        layers.append(
            {
                "data": {"values": values},
                "mark": text,
                "encoding": {"x": at, "y": {"value": above}, "text": {"field": "label"}},
            }
        )
    return layers
