"""From matches with gaps and their events to panels: one lane for each variable, one chain of marks for each match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from trellis.errors import BindingError
from trellis.plots.chart import Spec
from trellis.plots.chosen import Lane, chosen_events, lanes_of
from trellis.plots.frames import (
    Floats,
    Frame,
    Limits,
    bring,
    choose_series,
    name_of,
    numbers,
    only_series,
    require_columns,
    show,
    split_series,
    told_matches,
)
from trellis.plots.lane_chart import LaneLook, lane_chart
from trellis.plots.lane_panels import Around, Chain, LanePanel, Mark, lane_panel

__all__ = ["LanePicture", "draw_lanes"]


@dataclass(frozen=True, slots=True)
class LanePicture:
    """What a picture of lanes shows; the fields are arguments of `plot`."""

    x: str
    type: str
    keys: list[str]
    title: str | None


def draw_lanes(matches: Frame, events: Frame, wanted: LanePicture, limits: Limits) -> Spec:
    """The picture of matches with gaps among the events that they were found in."""
    x, kind, keys = wanted.x, wanted.type, wanted.keys
    require_columns(events, [*keys, x, kind], "events")
    lanes = lanes_of(matches, x, kind, keys)
    found = chosen_events(matches, lanes, x, kind, keys, limits.rows)
    key_columns = [f"key{number}" for number in range(len(keys))]
    first = found.drop_duplicates("match")[key_columns].set_axis(keys, axis=1)
    chosen, left_out = choose_series(first, events, keys, limits.series)
    rows = bring(only_series(events, keys, chosen), [*keys, x, kind], limits.rows, "events")
    _, temporal = numbers(rows[x], f"Column {x!r}")
    chosen_xs, chosen_temporal = numbers(found["x"], f"Column {x!r} of the events of the matches")
    if len(found) and len(rows) and temporal != chosen_temporal:
        raise BindingError(
            f"In the matches {x!r} is not what it is in the events.", cure="Draw matches with their own events."
        )
    temporal = temporal if len(rows) else chosen_temporal
    types = _types(found, lanes)
    there = split_series(rows, keys)
    matched = split_series(found.assign(x=chosen_xs), key_columns)
    panels = []
    for key in chosen:
        events_here = there.get(key, rows.iloc[:0])
        at, _ = numbers(events_here[x], f"Column {x!r}")
        chains = _chains(matched.get(key, found.iloc[:0]))
        panels.append(lane_panel(name_of(key), _around(at, events_here[kind], types), chains, limits))
    names = [_label(lane, types[number]) for number, lane in enumerate(lanes)]
    if any(mark.lane == len(lanes) for panel in panels for mark in panel.pale):
        names.append(["other", "types"] if len(found) else ["events"])
    variables = [str(lane) for lane in lanes]
    look = LaneLook(
        wanted.title, _summary(panels, _altogether(first, keys) if left_out else None), x, temporal, names, variables
    )
    return lane_chart(panels, look)


def _types(found: pd.DataFrame, lanes: Sequence[Lane]) -> list[list[str]]:
    """The types of the events that each variable took somewhere: the query itself is not known here."""
    pairs = dict.fromkeys(zip(found["lane"], map(show, found["type"]), strict=True))
    return [[kind for lane, kind in pairs if lane == number] for number in range(len(lanes))]


def _label(lane: Lane, types: list[str]) -> list[str]:
    """The lines of a lane's label."""
    words = ", ".join(types)
    return [str(lane), *([words if len(words) <= 28 else f"{words[:27]}…"] if words else [])]


def _around(x: Floats, kinds: pd.Series[Any], types: list[list[str]]) -> Around:
    """All events of a series; each belongs into the lanes of the variables that take its type."""
    lanes: dict[str, list[int]] = {}
    for lane, names in enumerate(types):
        for name in names:
            lanes.setdefault(name, []).append(lane)
    codes, values = pd.factorize(kinds, use_na_sentinel=False)
    return Around(x, codes, list(map(show, values)), lanes, len(types))


def _chains(rows: pd.DataFrame) -> list[Chain]:
    """The matches of a panel, each with its events."""
    marks: dict[object, list[Mark]] = {}
    numbered: dict[object, str] = {}
    columns = (rows[name].tolist() for name in ("match", "number", "lane", "x", "type"))
    for match, number, lane, at, kind in zip(*columns, strict=True):
        if not np.isnan(at):  # an event without a time has no place
            marks.setdefault(match, []).append(Mark(at, lane, show(kind)))
            numbered[match] = "" if pd.isna(number) else show(number)
    # What timed out has no number, beside matches that have.
    missing = "–" if any(numbered.values()) else ""
    return [Chain(numbered[match] or missing, tuple(events)) for match, events in marks.items()]


def _altogether(first: pd.DataFrame, keys: Sequence[str]) -> tuple[int, int]:
    """How many matches there are, and in how many series."""
    return len(first), len(split_series(first, keys))


def _summary(panels: list[LanePanel], altogether: tuple[int, int] | None) -> str:
    """What the picture shows, in a sentence."""
    text = told_matches([panel.matches for panel in panels], altogether)
    most = max((len(panel.chains) for panel in panels if len(panel.chains) < panel.matches), default=0)
    if most:
        text += f", the first {most:,}{' of each series' if len(panels) > 1 else ''} drawn"
    events = sum(panel.events for panel in panels)
    text += f" · {events:,} event{'' if events == 1 else 's'}"
    if any(panel.thinned for panel in panels):
        text += f", those passed over drawn as {sum(len(panel.pale) for panel in panels):,} marks"
    return text
