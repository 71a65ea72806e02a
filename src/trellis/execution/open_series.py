"""Series that are still growing: what a matcher keeps of them between two calls, and how far queries look.

Rows of a series come in several calls. Each call finds the matches that no row to come can change, and says from which
start on it cannot tell yet. The next call gets the rows from there on, those before that conditions and measures may
look back at, and what is new.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from trellis.algebra.automaton import AutomatonScan, Condition, Instruction, MatchScan, Op
from trellis.algebra.event_scan import EventScan
from trellis.algebra.place import Place
from trellis.algebra.plan import Remembered, Scan
from trellis.algebra.scan import Number
from trellis.algebra.segments import Function, Read, SegmentRow, SegmentScan
from trellis.algebra.workload_scan import WorkloadScan
from trellis.errors import UnsupportedError, assert_never
from trellis.kernels import opcodes as o
from trellis.kernels.arrays import Bools, Ints

__all__ = [
    "EVER",
    "NEVER",
    "OpenSeries",
    "Resumed",
    "check_resumable",
    "kept_for_ever",
    "remembered",
    "remembers_matches",
    "remembers_start",
    "rows_after",
    "rows_ahead",
    "rows_back",
    "rows_before",
    "rows_measured",
]

NEVER = 2**63 - 1
"""A time that no watermark passes."""
EVER = -(2**63)
"""A horizon that says nothing."""

# The instructions that read the row of a place.
_READING = (o.LOAD_INT, o.LOAD_FLOAT, o.LOAD_WIDE, o.LABEL, o.PRESENT, o.ROW)


class OpenSeries(NamedTuple):
    """Where the search through each of several series stands. Rows are counted from the first of a series, its row 0.

    The next call needs the rows from `first` on; earlier ones are not read again. No match to come starts before
    `start`. `matches` were given out so far.

    - Patterns of rows and segments: the search goes on at `start`: whether a match starts there is undecided. Rows
      before `shown` belong to a match, or are known to belong to none (WITH UNMATCHED ROWS has shown them). Where
      timed-out matches are wanted, those that start before `shown` are not given out: they overlap an earlier one.
    - Patterns of segments whose matches do not depend on each other: those whose last row, with the rows behind it that
      count, is before `shown` were given out.
    - Event patterns: matches that end before the row `shown` were given out. The search goes on there: whether a match
      ends there is undecided. It is led there again by the rows from `start` on; those between `first` and `start`
      tell what is absent before a match.
    - Workloads: all windows of rows before `start` have closed, and rows before `shown` were there. Windows that end
      before the time `horizon` had closed; other searches do not ask for it.
    """

    first: Ints
    start: Ints
    matches: Ints
    shown: Ints
    horizon: Ints

    @staticmethod
    def new(count: int) -> OpenSeries:
        """So many series that nobody has looked at."""
        first, start, matches, shown = np.zeros((4, count), np.int64)
        return OpenSeries(first, start, matches, shown, np.full(count, EVER))

    def take(self, chosen: Bools) -> OpenSeries:
        """Some of the series."""
        return OpenSeries(*(numbers[chosen] for numbers in self))

    def joined(self, others: OpenSeries) -> OpenSeries:
        """These series, then others."""
        return OpenSeries(*(np.append(mine, theirs) for mine, theirs in zip(self, others, strict=True)))


class Resumed(NamedTuple):
    """What a call for open series gives: output rows, where the search stands then, and when there may be more.

    That is once no row to come has a smaller key than `due`, even if a series never gets another row. `settled` tells
    of the rows of the chunk which of those behind an undecided start begin nothing any more; without it none is known.
    """

    batches: list[pa.RecordBatch]
    series: OpenSeries
    due: Ints
    settled: Bools | None = None


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


def remembers_matches(plan: Scan) -> bool:
    """Whether a query reads the number of a match: then it is counted for as long as there are rows."""
    if isinstance(plan, WorkloadScan):
        return False
    read = any(isinstance(output, Number) and output.counted for _, output in plan.outputs)
    if isinstance(plan, SegmentScan):
        return read
    return read or any(op == o.MATCH_NUMBER for op, _, _ in plan.program.code)


def _waits(plan: Scan) -> str:
    """Why rows of a series may wait for further ones, however much time goes by; nothing, where they do not."""
    close, ahead, long = True, False, True
    match plan:
        case AutomatonScan():
            ahead = rows_measured(plan) > 0 or any(rows_ahead(plan))
            close, long = plan.within is not None, _may_be_long(plan.instructions)
        case EventScan():
            close = plan.within is not None
            long = len(plan.parts) > 1 or plan.parts[0].repeated or bool(plan.absences)
        case WorkloadScan():
            close = all(window.within is not None for window in plan.windows)
        case SegmentScan():
            ahead = rows_after(plan) > 0
            close = any(time.most is not None for time in plan.tree.window.times)
        case _:
            assert_never(plan)
    if ahead:
        return "NEXT"
    # A match of one row is decided with it.
    return "no window of time closes" if long and not close else ""


def _may_be_long(code: tuple[Instruction, ...]) -> bool:
    """Whether a match may have two rows or more."""
    pending, seen = [(0, 0)], set[tuple[int, int]]()
    while pending:
        at, rows = pending.pop()
        if rows > 1:
            return True
        if (at, rows) not in seen:
            seen.add((at, rows))
            further = rows + (code[at].op is Op.CONSUME)
            pending += [(target, further) for target in (code[at].x, code[at].y) if target >= 0]
    return False


def remembers_start(plan: Scan) -> bool:
    """Whether a query asks for the first row of a series: then it must be known that there was one."""
    return isinstance(plan, AutomatonScan) and any(step.op is Op.ANCHOR_START for step in plan.instructions)


def remembered(plan: Scan) -> Remembered:
    """What is kept of a series beside its open rows, so that measures and conditions can look back at it."""
    rows = rows_back(plan) if isinstance(plan, AutomatonScan) else 0
    rows = rows_before(plan) if isinstance(plan, SegmentScan) else rows
    return Remembered(rows, remembers_matches(plan))


def kept_for_ever(plan: Scan) -> list[str]:
    """What is remembered of a series whose windows have all closed, for people."""
    kept = ["the number of its last match"] if remembers_matches(plan) else []
    kept += ["that it has begun (`^`)"] if remembers_start(plan) else []
    rows = remembered(plan).rows
    waits = _waits(plan)
    if waits:
        kept.append(f"what waits for its next rows ({waits})")
    return [*kept, *([f"its last {f'{rows} rows' if rows > 1 else 'row'} (PREV)"] if rows else [])]


def rows_back(plan: AutomatonScan) -> int:
    """How many rows before a match conditions and measures may look (PREV)."""
    before = _rows_before(plan.instructions, len(plan.variables))
    back = [0, *(-place.shift for place in plan.measure_places)]
    for number, condition in enumerate(plan.conditions):
        back += (-place.shift - _rows_inside(place, number, plan, before) for place in _places(plan, condition))
    # Arguments of aggregates are computed at the rows of any variable.
    computed = [spec for spec in plan.aggregates if spec.is_computed]
    back += (-plan.places[place].shift for spec in computed for place in _read(plan, spec.begin, spec.end))
    return max(back)


def _rows_inside(place: Place, variable: int, plan: AutomatonScan, before: list[int]) -> int:
    """How many rows of a match there are at least before the row of a place that the condition of a variable reads."""
    if place.variables is not None:
        return min(before[number] for number, name in enumerate(plan.variables) if name in place.variables)
    return before[variable] if place == Place(shift=place.shift) else 0


def _rows_before(code: tuple[Instruction, ...], variables: int) -> list[int]:
    """For each variable, how many rows of a match come before its first one at least."""
    rows = [len(code)] * len(code)
    rows[0] = 0
    pending = deque([0])
    while pending:
        at = pending.popleft()
        step = code[at]
        further = rows[at] + (step.op is Op.CONSUME)
        for target in (step.x, step.y):
            if target >= 0 and further < rows[target]:
                rows[target] = further
                pending.append(target)
    found = [len(code)] * variables
    for at, step in enumerate(code):
        if step.op in (Op.CONSUME, Op.CHECK):
            # What is checked is the match so far, so its last row.
            found[step.variable] = min(found[step.variable], max(0, rows[at] - (step.op is Op.CHECK)))
    return found


def rows_ahead(plan: MatchScan) -> list[int]:
    """For each variable, how many rows beyond the row under test its condition may look (NEXT)."""
    return [max((0, *_shifts(plan, condition))) for condition in plan.conditions]


def rows_measured(plan: MatchScan) -> int:
    """How many rows beyond a match measures may look."""
    return max((0, *(place.shift for place in plan.measure_places)))


def rows_before(plan: SegmentScan) -> int:
    """How many rows before a segment conditions and measures may look."""
    return max((0, *(-shift for shift in _segment_shifts(plan)), *_looked_around(plan)))


def rows_after(plan: SegmentScan) -> int:
    """How many rows after a segment conditions and measures may look."""
    return max((0, *_segment_shifts(plan), *_looked_around(plan)))


def _segment_shifts(plan: SegmentScan) -> list[int]:
    values = (value for condition in plan.conditions for value in condition.values)
    return [place.shift for place in (*plan.places, *values) if isinstance(place, (Read, SegmentRow))]


def _looked_around(plan: SegmentScan) -> list[int]:
    """Constants of functions: some of these say how many rows around a segment count."""
    values = (*plan.values, *(value for condition in plan.conditions for value in condition.values))
    return [int(number) for value in values if isinstance(value, Function) for number in value.constants]


def _shifts(plan: MatchScan, condition: Condition) -> Iterator[int]:
    return (place.shift for place in _places(plan, condition))


def _places(plan: MatchScan, condition: Condition) -> Iterator[Place]:
    if condition.where in ("bit", "kernel"):
        yield from (plan.places[number] for number in _read(plan, condition.begin, condition.end))


def _read(plan: MatchScan, begin: int, end: int) -> Iterator[int]:
    return (place for op, _, place in plan.program.code[begin:end] if op in _READING)
