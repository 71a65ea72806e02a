"""Event patterns as plans: the tests on the edges of the automaton, and what a run remembers. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from trellis.algebra.automaton import MatchScan
from trellis.algebra.query import Selection

__all__ = ["AbsenceSpec", "EdgeTests", "EventResult", "EventScan", "EventSearch", "PartSpec", "WordSpec"]


class EventSearch(Enum):
    """How runs are kept."""

    MERGED = "merged"
    """Runs that later conditions cannot tell apart become one."""
    APART = "apart"
    """Each run by itself, all of them at once."""
    ONE_AT_A_TIME = "one at a time"
    """Each run to its end before the next one: backtracking."""


class EventResult(Enum):
    """What is given of the matches."""

    MATCHES = "matches"
    COUNTS = "counts"
    """For each event that ends matches, how many."""
    GRAPHS = "graphs"
    """For each event that ends matches, the graph of them."""
    NOTHING = "nothing"
    """The search alone, to measure it."""


@dataclass(frozen=True, slots=True)
class EdgeTests:
    """The tests of an edge, numbers of conditions: `alone` of the event itself, `before` of what was taken before.

    -1 where there is none.
    """

    alone: int = -1
    before: int = -1


@dataclass(frozen=True, slots=True)
class PartSpec:
    """A positive component: the edges by which events come in, and that by which a run leaves a repeated one."""

    repeated: bool
    begin: EdgeTests
    take: EdgeTests = EdgeTests()
    proceed: EdgeTests = EdgeTests()


@dataclass(frozen=True, slots=True)
class AbsenceSpec:
    """A negated component: the number of the positive one before it (-1: none), and its tests."""

    after: int
    tests: EdgeTests


@dataclass(frozen=True, slots=True)
class WordSpec:
    """A word that a run remembers: the states in which it counts, and of a row the slots that are read, or itself.

    `as_known`: it counts values, and only whether there are any matters.
    """

    states: frozenset[int]
    slots: tuple[int, ...] = ()
    by_row: bool = False
    as_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventScan(MatchScan):
    """Everything that a worker needs to find events.

    `words` are the first and the last row of each of `sets`, then five for each aggregate: see `kernels.event_arrays`.
    `most_events` bounds a match by events, 0 does not. `timeouts` asks for runs, too, that have come to no match when
    their window closes.
    """

    parts: tuple[PartSpec, ...]
    absences: tuple[AbsenceSpec, ...]
    words: tuple[WordSpec, ...]
    selection: Selection
    non_overlapping: bool
    most_events: int
    search: EventSearch
    result: EventResult = EventResult.MATCHES
    timeouts: bool = False
