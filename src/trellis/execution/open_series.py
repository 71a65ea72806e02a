"""Series that are still growing: what a matcher keeps of them between two calls, and how far queries look.

Rows of a series come in several calls. Each call finds the matches that no row to come can change, and says from which
start on it cannot tell yet. The next call gets the rows from there on, those before that conditions and measures may
look back at, and what is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trellis.algebra.automaton import AutomatonScan, Condition, MatchScan
from trellis.algebra.segments import SegmentScan
from trellis.errors import UnsupportedError
from trellis.kernels import opcodes as o

__all__ = ["OpenSeries", "check_resumable", "rows_ahead", "rows_back", "rows_beyond", "rows_measured"]

# The instructions that read the row of a place.
_READING = (o.LOAD_INT, o.LOAD_FLOAT, o.LOAD_WIDE, o.LABEL, o.PRESENT, o.ROW)


@dataclass(frozen=True, slots=True)
class OpenSeries:
    """Where the search through a series stands. Rows are counted from the first of the series, which is row 0.

    The next call needs the rows from `first` on; earlier ones are not read again. The search goes on at `start`:
    whether a match starts there is undecided. `matches` were found so far. Rows before `shown` belong to a match, or
    are known to belong to none (WITH UNMATCHED ROWS has shown them).
    """

    first: int = 0
    start: int = 0
    matches: int = 0
    shown: int = 0


def check_resumable(plan: AutomatonScan) -> None:
    """Refuse what needs the whole series at once."""
    if any(source.held.startswith("pair") for source in (*plan.slots, *plan.measure_slots)):
        raise UnsupportedError(
            "A function of two rows is computed for all pairs of rows of a series: it cannot be while rows still come.",
            cure="Use operators that conditions have between rows, or compute the column before.",
        )
    if any(place.numbered for place in plan.places):
        raise UnsupportedError(
            "A function of MATCH_NUMBER() is computed for all rows of a series: it cannot be while rows still come.",
            cure="Use operators that conditions have between rows.",
        )
    if plan.others:
        raise UnsupportedError(
            "Several patterns in one query cannot be searched while rows still come.",
            cure="Ask for each of them in a query of its own.",
        )
    assert plan.slices is None, "a slice is no series"


def rows_back(plan: AutomatonScan) -> int:
    """How many rows before a match conditions and measures may look (PREV)."""
    return max((0, *(-place.shift for place in (*plan.places, *plan.measure_places))))


def rows_ahead(plan: MatchScan) -> list[int]:
    """For each variable, how many rows beyond the row under test its condition may look (NEXT)."""
    return [max((0, *_shifts(plan, condition))) for condition in plan.conditions]


def rows_measured(plan: MatchScan) -> int:
    """How many rows beyond a match measures may look."""
    return max((0, *(place.shift for place in plan.measure_places)))


def rows_beyond(plan: SegmentScan) -> int:
    """How many rows before and after a segment conditions and measures may look."""
    constants = [int(number) for value in plan.values for number in value.constants]
    return max((plan.reach, *(abs(place.shift) for place in plan.places), *constants))


def _shifts(plan: MatchScan, condition: Condition) -> Iterator[int]:
    if condition.where in ("bit", "kernel"):
        for op, _, place in plan.program.code[condition.begin : condition.end]:
            if op in _READING:
                yield plan.places[place].shift
