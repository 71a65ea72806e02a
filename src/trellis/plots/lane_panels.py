"""What is drawn in one panel of lanes: chains on tracks that do not cross, and the pale events around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from trellis.plots.frames import Floats, Limits
from trellis.plots.panels import Positions

__all__ = ["MOST_TRACKS", "Around", "Chain", "LanePanel", "Mark", "lane_panel"]

Passed: TypeAlias = tuple[Floats, int, str]
"""Places of events, their lane and their type."""

MOST_TRACKS = 12
"""More chains than so many at one time lie on each other: there is no room to tell them apart."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An event in a lane."""

    x: float
    lane: int
    type: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A match: its number if it has one, its events in order, and its track in each lane."""

    number: str
    marks: tuple[Mark, ...]
    track: int = 0

    @property
    def start(self) -> float:
        """Where the first event stands."""
        return min(mark.x for mark in self.marks)

    @property
    def end(self) -> float:
        """Where the last event stands."""
        return max(mark.x for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Around:
    """All events of a series: where they stand, and of which of the `types` they are.

    `lanes` are those of the variables that take a type; events of a type that none takes are in the lane `other`.
    """

    x: Floats
    codes: Positions
    types: Sequence[str]
    lanes: Mapping[str, Sequence[int]]
    other: int


@dataclass(frozen=True, slots=True)
class LanePanel:
    """One series, ready to draw: of its `matches` the first as chains, and pale the events that none of them took.

    If there are too many, they are `thinned`. The series has so many `events` altogether.
    """

    name: str
    pale: list[Mark]
    chains: list[Chain]
    tracks: int
    events: int
    matches: int
    thinned: bool


def lane_panel(name: str, around: Around, chains: list[Chain], limits: Limits) -> LanePanel:
    """The first chains on their tracks, and the events around them that none of them took, thinned."""
    ordered = sorted(chains, key=lambda chain: (chain.start, chain.end))
    drawn, tracks = _on_tracks(ordered[: limits.matches])
    passed = _passed_over(around, {mark for chain in drawn for mark in chain.marks})
    count = sum(len(x) for x, _, _ in passed)
    pale = _thin(passed, limits.points) if count > limits.points else passed
    marks = [Mark(at, lane, kind) for x, lane, kind in pale for at in x.tolist()]
    return LanePanel(name, marks, drawn, tracks, len(around.x), len(chains), len(marks) < count)


def _passed_over(around: Around, taken: set[Mark]) -> list[Passed]:
    """The events that were not taken, by lane and type, in order of time; those of one time are one."""
    passed = []
    for code, kind in enumerate(around.types):
        x = np.unique(around.x[around.codes == code])
        x = x[~np.isnan(x)]
        for lane in around.lanes.get(kind, (around.other,)):
            gone = [mark.x for mark in taken if (mark.lane, mark.type) == (lane, kind)]
            passed.append((x[~np.isin(x, gone)], lane, kind))
    return passed


def _thin(passed: list[Passed], most: int) -> list[Passed]:
    """Of events of one lane that stand closer than a part of the width, only the first; about `most` in all lanes."""
    every = np.concatenate([x for x, _, _ in passed])
    first, last = every.min(), every.max()
    lanes = sorted({lane for x, lane, _ in passed if len(x)})
    width = (last - first) / max(1, most // len(lanes) - 1) or 1.0
    kept: list[Passed] = []
    for lane in lanes:
        full = np.empty(0, dtype=np.int64)
        for x, _, kind in (one for one in passed if one[1] == lane):
            places, at = np.unique(((x - first) / width).astype(np.int64), return_index=True)
            kept.append((x[at[~np.isin(places, full)]], lane, kind))
            full = np.union1d(full, places)
    return kept


def _on_tracks(chains: list[Chain]) -> tuple[list[Chain], int]:
    """Each chain on the first track that is free again when it starts; how many tracks that takes."""
    ends: list[float] = []
    tracked = []
    for number, chain in enumerate(chains):
        free = next((track for track, end in enumerate(ends) if end < chain.start), len(ends))
        if free == len(ends) and len(ends) == MOST_TRACKS:
            free = number % MOST_TRACKS
        if free == len(ends):
            ends.append(chain.end)
        ends[free] = max(ends[free], chain.end)
        tracked.append(replace(chain, track=free))
    return tracked, len(ends)
