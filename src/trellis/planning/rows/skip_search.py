"""Search by skipping (OPS): for patterns of elements one after the other, whose conditions look at rows only.

What conditions say about each other is worked out while the query is planned, and stands in tables: where an element
fails, they say at which row a match may begin next, and which of its elements are known to pass there.

A repeated element must never give a row back. In SQL-TS that is what a star means; elsewhere it is proven, where the
condition of the next element contradicts its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from trellis.algebra import pattern as p
from trellis.algebra.automaton import SkipSpec
from trellis.algebra.bound import BoundQuery
from trellis.algebra.query import SkipTo
from trellis.analysis.implication import Comparison, Condition, Read, covers, excludes, implies
from trellis.analysis.repeatable import is_repeatable
from trellis.analysis.row_tests import TRUE, RowTests, column_of, shift_of
from trellis.planning.rows.skip_tables import SkipTables, Truth, skip_tables

__all__ = ["linear_elements", "plan_skips"]

# More elements than so many have tables that take longer to make than they save.
_MOST_ELEMENTS = 40
# What conditions say of each other is asked as long as that takes a second or so: after so many pairs of tests.
_MOST_WORK = 200_000
# Instructions of a repetition: the first row, a split, a further row, and the way back.
_LOOP = 4

Knows: TypeAlias = Callable[[str], bool]
"""Whether something is known of a value, by its name."""

Element = tuple[str, p.Mode | None]
"""A variable, and how it is repeated; None if it is one row."""


def plan_skips(
    bound: BoundQuery, pattern: p.Pattern, tests: RowTests, slot_of: Callable[[str], int | None]
) -> SkipSpec | None:
    """The tables of a query for its pattern or an alternative of it, None if it cannot be searched by skipping.

    `slot_of` gives the slot that holds a column, by its text, if there is one.
    """
    query = bound.query
    elements = linear_elements(pattern)
    if elements is None or len(elements) > _MOST_ELEMENTS or query.within is not None or query.timeouts:
        return None
    if query.after_match.to not in (SkipTo.PAST_LAST_ROW, SkipTo.NEXT_ROW):
        return None
    conditions = _conditions(bound, tests)
    if conditions is None:
        return None
    listed = [conditions[name] for name, _ in elements]
    stars = [mode is not None for _, mode in elements]
    for (one, other), (_, mode) in zip(pairwise(listed), elements, strict=False):
        if mode is p.Mode.GREEDY and not excludes(one, other):
            return None
    tables = _tables(stars, listed, _nothing, _nothing)
    # What workers can see of their rows, and tables that hold where it is so.
    slots = {column: slot for column in _columns(listed) if (slot := slot_of(column)) is not None}
    multiplied = [column for column in _columns(listed, multiplied=True) if column in slots]
    sure = _tables(stars, listed, lambda name: column_of(name) in multiplied, lambda name: column_of(name) in slots)
    better = sure != tables
    return SkipSpec(
        elements=tuple(bound.variables.index(name) for name, _ in elements),
        stars=tuple(stars),
        instructions=_instructions(stars),
        shift=tables.shift,
        next=tables.next,
        passes=tables.passes,
        positive=tuple(slots[column] for column in multiplied) if better else (),
        present=tuple(slots.values()) if better else (),
        sure_shift=sure.shift if better else (),
        sure_next=sure.next if better else (),
        sure_passes=sure.passes if better else (),
    )


def linear_elements(pattern: p.Pattern) -> list[Element] | None:
    """The elements of a pattern that has nothing but variables and `+`, None for others."""
    found: list[Element] = []
    for part in pattern.parts if isinstance(pattern, p.Concat) else (pattern,):
        match part:
            case p.Var(name=name):
                found.append((name, None))
            case p.Repeat(body=p.Var(name=name), least=1, most=None, mode=p.Mode.GREEDY | p.Mode.POSSESSIVE as mode):
                found.append((name, mode))
            case _:
                return None
    return found


def _conditions(bound: BoundQuery, tests: RowTests) -> Mapping[str, Condition] | None:
    found: dict[str, Condition] = dict.fromkeys(bound.variables, TRUE)
    for name, condition in bound.conditions:
        translated = tests.of(condition) if is_repeatable(condition) else None
        if translated is None:
            return None
        found[name] = translated
    return found


def _nothing(_: str) -> bool:
    return False


def _tables(stars: Sequence[bool], conditions: Sequence[Condition], positive: Knows, present: Knows) -> SkipTables:
    known: dict[tuple[int, int, int, int], tuple[Truth, Truth]] = {}
    # Equal conditions have one number; -1 is that of none.
    numbers = [conditions.index(condition) for condition in conditions]
    passed: list[list[Truth]] = []
    failed: list[list[Truth]] = []
    work = 0
    for j, one in enumerate(conditions):
        passed.append([])
        failed.append([])
        # The row at which an element fails has as many rows before it as there are elements before, at least.
        behind = min(j, max((distance for condition in conditions for distance in _distances(condition)), default=0))
        there = partial(_is_there, present=present, behind=behind)
        # A row that comes to an element after a repeated one has failed that one, too.
        either = (*one, *conditions[j - 1]) if j > 0 and stars[j - 1] else one
        before = numbers[j - 1] if either is not one else -1
        for k, other in enumerate(conditions[: j + 1]):
            key = (numbers[j], before, numbers[k], behind)
            if key not in known:
                work += _work(either, other)
                known[key] = Truth.UNKNOWN, Truth.UNKNOWN
                if work <= _MOST_WORK:
                    known[key] = _passed(one, other, positive), _failed(either, other, positive, there)
            passed[j].append(known[key][0])
            failed[j].append(known[key][1])
    return skip_tables(stars, passed, failed)


def _work(one: Condition, other: Condition) -> int:
    """How many pairs of tests are looked at to compare two conditions: each of the alternatives with each other."""
    longest = max(map(len, one), default=0) + max(map(len, other), default=0)
    return len(one) * len(other) * longest**2


def _passed(one: Condition, other: Condition, positive: Knows) -> Truth:
    if implies(one, other, positive):
        return Truth.YES
    return Truth.NO if excludes(one, other, positive) else Truth.UNKNOWN


def _failed(one: Condition, other: Condition, positive: Knows, present: Knows) -> Truth:
    """Of a row that has not passed `one`; where a value is NULL, it has not passed either."""
    if implies(other, one, positive):
        return Truth.NO
    return Truth.YES if covers(one, other, present, positive) else Truth.UNKNOWN


def _is_there(name: str, present: Knows, behind: int) -> bool:
    """Whether a value is known not to be NULL: its column has none, and there is a row to read it from."""
    return present(name) and -behind <= shift_of(name) <= 0


def _reads(condition: Condition) -> Iterator[Read]:
    for tests in condition:
        for test in tests:
            if isinstance(test, Comparison):
                yield from (side for side in (test.left, test.right) if isinstance(side, Read))


def _distances(condition: Condition) -> list[int]:
    return [-shift_of(read.name) for read in _reads(condition)]


def _columns(conditions: Sequence[Condition], *, multiplied: bool = False) -> list[str]:
    """The columns that are compared, or those that are after a multiplication: it matters whether they are negative."""
    reads = (read for condition in conditions for read in _reads(condition) if read.factor != 1 or not multiplied)
    return list(dict.fromkeys(column_of(read.name) for read in reads))


def _instructions(stars: Sequence[bool]) -> tuple[int, ...]:
    """Where each element's rows are consumed first, in the order in which instructions are emitted."""
    places, place = [], 0
    for star in stars:
        places.append(place)
        place += _LOOP if star else 1
    return tuple(places)
