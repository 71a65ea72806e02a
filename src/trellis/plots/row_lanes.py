"""Rows whose values are words, such as the pages of a visit: a lane for each value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from trellis.plots.chart import INK, Spec
from trellis.plots.frames import Floats, show

__all__ = ["LANE", "MOST_JOINED", "RowLanes", "is_text", "lane_y", "row_lanes"]

LANE = 25
"""How high a lane is."""
MOST_JOINED = 400
"""Of more rows, the line that joins them would hide them."""
_MOST = 14


@dataclass(frozen=True, slots=True)
class RowLanes:
    """The names of the lanes from above, and the lane of each value."""

    names: tuple[str, ...]
    places: Mapping[Any, int]

    def heights(self, values: pd.Series[Any]) -> Floats:
        """The lane of each value; NaN for NULL."""
        found: Floats = np.array([self.places.get(value, np.nan) for value in values], dtype=np.float64)
        return found


def is_text(values: pd.Series[Any]) -> bool:
    """Whether these are words, and no numbers or times."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return True
    there = values.dropna()
    return len(there) > 0 and isinstance(there.iloc[0], str)


def row_lanes(series: Sequence[pd.Series[Any]], matched: Sequence[pd.Series[Any]]) -> RowLanes:
    """The lanes of these series, each in its order, of which these values are in matches.

    Values stand in the order in which they come: by how far into their series they are, on average. If there are too
    many, those of matches and then the most frequent ones have lanes, and the others share the last one.
    """
    shares: dict[Any, list[float]] = {}
    for values in series:
        known = values.dropna()
        for place, value in enumerate(known):
            entry = shares.setdefault(value, [0.0, 0.0])
            entry[0] += place / max(1, len(known) - 1)
            entry[1] += 1
    hits: dict[Any, int] = {}
    for values in matched:
        for value in values.dropna():
            hits[value] = hits.get(value, 0) + 1
    ranked = sorted(shares, key=lambda value: (-hits.get(value, 0), -shares[value][1]))
    kept = ranked if len(ranked) <= _MOST else ranked[: _MOST - 1]
    kept = sorted(kept, key=lambda value: shares[value][0] / shares[value][1])
    places = {value: place for place, value in enumerate(kept)}
    names = [show(value) for value in kept]
    if len(ranked) > len(kept):
        places |= dict.fromkeys(ranked[len(kept) :], len(kept))
        names.append(f"{len(ranked) - len(kept)} other values")
    return RowLanes(tuple(names), places)


def lane_y(names: Sequence[str]) -> Spec:
    """The vertical axis of lanes with these names."""
    return {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": [len(names) - 0.5, -0.5], "nice": False, "zero": False},
        "axis": {
            "title": None,
            "values": list(range(len(names))),
            "labelExpr": f"{json.dumps(list(names))}[datum.value]",
            "labelFontSize": 11,
            "labelColor": INK,
            "labelLimit": 190,
            "grid": True,
        },
    }
