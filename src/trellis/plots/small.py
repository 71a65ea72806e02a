"""Pictures so small that they stand in a line of a table: as letters on a terminal, as SVG in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from trellis.plots.chart import ACCENT, LINE
from trellis.plots.frames import Floats
from trellis.plots.panels import Panel

__all__ = ["in_letters", "in_svg"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_MOST = 24
_WIDTH, _HEIGHT, _MARGIN = 200.0, 40.0, 4.0


def in_letters(panel: Panel, lanes: Sequence[str]) -> str:
    """The rows of the match: blocks as high as their values, or the words that came, one after the other."""
    values = panel.y[panel.stretch >= 0]
    values = values[~np.isnan(values)]
    if not len(values):
        return ""
    if lanes:
        return " → ".join(_repeated(lanes[int(lane)], len(list(same))) for lane, same in groupby(values.tolist()))
    parts = np.array_split(values, min(_MOST, len(values)))
    heights = np.array([part.mean() for part in parts])
    low, high = float(heights.min()), float(heights.max())
    scaled = (heights - low) / (high - low) if high > low else np.full(len(heights), 0.5)
    return "".join(_BLOCKS[min(int(height * len(_BLOCKS)), len(_BLOCKS) - 1)] for height in scaled)


def _repeated(word: str, times: int) -> str:
    return word if times == 1 else f"{word} ×{times}"


def in_svg(panel: Panel, lanes: Sequence[str]) -> str:
    """The match and the rows around it as a line; words are heights, and marks on the line."""
    if not len(panel.x) or not panel.bands:
        return ""
    x = _scaled(panel.x, _MARGIN, _WIDTH - _MARGIN)
    y = _HEIGHT - _scaled(panel.y, _MARGIN, _HEIGHT - _MARGIN)
    if lanes:
        y = _HEIGHT - y  # the first lane is on top
    matched = panel.stretch >= 0
    inside = x[matched]
    band = ""
    if len(inside):
        left, right = inside.min() - 2, inside.max() + 2
        band = (
            f'<rect x="{left:.1f}" y="0" width="{right - left:.1f}" height="{_HEIGHT}" fill="{ACCENT}" opacity=".13"/>'
        )
    few = bool(lanes) or len(inside) == 1
    marks = [
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.2" fill="{ACCENT if here else LINE}"/>'
        for a, b, here in zip(x, y, matched, strict=True)
        if b == b and (here or lanes)
    ]
    return (
        f'<svg width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" role="img">'
        f"<title>{html.escape(in_letters(panel, lanes))}</title>{band}"
        f"{_line(x, y, LINE, 1.0)}{_line(x[matched], y[matched], ACCENT, 1.8)}{''.join(marks) if few else ''}</svg>"
    )


def _scaled(values: Floats, low: float, high: float) -> Floats:
    known = values[~np.isnan(values)]
    if not len(known) or known.max() == known.min():
        return np.where(np.isnan(values), np.nan, (low + high) / 2)
    scaled: Floats = low + (values - known.min()) * ((high - low) / (known.max() - known.min()))
    return scaled


def _line(x: Floats, y: Floats, colour: str, width: float) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True) if b == b)
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>'
