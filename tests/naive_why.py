"""How far partial matches come, by definition: every partial match from every row, one after the other.

The *elements* of a pattern are the places where it takes a row, in the order in which they are written. What is
repeated a fixed number of times is written so often: `A{2,} B` has the elements A, A, B, and the second one stands for
all further rows of A.

A *partial match* from a start is a way into the pattern whose rows have all passed. It makes *attempts*: the elements
(or anchors) that the pattern allows next. An attempt that fails is told by

- `missing`: how many rows a match would need at least, from the one that is asked for on,
- `left`: how many parts of the condition were not passed when the first one did not hold; 0 if all hold, but the row
  lies beyond the window; NO_ROW if there is no such row,
- `row`: where it happened, and `element`: what was asked for, an anchor if it is below 0.

Of all failed attempts from a start the nearest is that with the fewest `missing`, then the fewest `left`, then the
latest `row`, then the one that was made first in the order of preference.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from naive import (
    Budget,
    Expr,
    Match,
    NaiveQuery,
    Pattern,
    Row,
    Search,
    evaluate,
    is_in_window,
    next_start,
    ordered,
    partitions,
    paths,
)

NO_ROW = 255
AT_START, AT_END = -1, -2
Way = tuple[int, ...]  # the element of each row


@dataclass(frozen=True)
class Attempt:
    missing: int
    left: int
    row: int
    element: int


@dataclass
class FromStart:
    """What is known of one row as a start."""

    matched: bool = False
    cut: bool = False  # a partial match would have taken one more row, were it not for WITHIN
    reached: set[int] = field(default_factory=set)
    nearest: Attempt | None = None
    way: Way = ()  # of the partial match that the nearest attempt was made from


@dataclass(frozen=True)
class Report:
    rows: int
    matches: int
    elements: tuple[str, ...]
    passing: Mapping[str, int]  # for each variable, of how many rows its condition holds, if it looks at rows only
    starts: list[list[FromStart]]  # by partition


def why(rows: list[Row], query: NaiveQuery, parts: Mapping[str, tuple[Expr, ...]], limit: int | None = None) -> Report:
    """`parts` are the parts of each condition, in the order in which they are tested."""
    elements: list[str] = []
    pattern = numbered(query.pattern, elements)
    budget, matches = Budget(limit), 0
    starts = []
    passing = dict.fromkeys(parts, 0)
    for partition in partitions(rows, query.partition_by):
        series = ordered(partition, query.order_by)
        found = numbers_from(series, query, budget)
        matches += found[-1] - 1
        starts.append(
            [
                from_start(series, start, found[start], pattern, elements, query, parts, budget)
                for start in range(len(series))
            ]
        )
        for variable, tests in parts.items():
            for at in range(len(series)):
                alone = Match(series, at, (variable,), 1, dict(query.subsets), 1)
                passing[variable] += all(evaluate(test, alone) is True for test in tests)
    return Report(len(rows), matches, tuple(elements), passing, starts)


def numbered(pattern: Pattern, elements: list[str]) -> Pattern:
    """The pattern with elements for variables; their variables go to `elements`."""
    kind = pattern[0]
    if kind == "var":
        elements.append(pattern[1])
        return "var", len(elements) - 1
    if kind in ("cat", "alt", "perm"):
        return kind, tuple(numbered(part, elements) for part in pattern[1])
    if kind == "excl":
        return numbered(pattern[1], elements)
    if kind == "rep":
        _, body, lo, hi, greedy = pattern
        written = [numbered(body, elements) for _ in range(max(lo, 1))]
        rest = ("rep", written[-1], min(lo, 1), None if hi is None else hi - len(written) + 1, greedy)
        return "cat", (*written[:-1], rest)
    return pattern


def least_rows(pattern: Pattern) -> int:
    kind = pattern[0]
    if kind == "var":
        return 1
    if kind in ("cat", "perm"):
        return sum(map(least_rows, pattern[1]))
    if kind == "alt":
        return min(map(least_rows, pattern[1]))
    return pattern[2] * least_rows(pattern[1]) if kind == "rep" else 0


def numbers_from(series: list[Row], query: NaiveQuery, budget: Budget) -> list[int]:
    """For each row, which number a match from there would have; then one more than there are."""
    numbers, number, start = [], 1, 0
    while start < len(series):
        path = next(paths(query.pattern, (), Search(query, series, start, number, budget)), None)
        if path is None:
            numbers.append(number)
            start += 1
            continue
        labels = tuple(label for label, _ in path)
        after = next_start(Match(series, start, labels, number, dict(query.subsets), len(labels)), query)
        # The match from this row has this number; what begins inside of it would be the next one.
        numbers += [number, *[number + 1] * (after - start - 1)]
        start, number = after, number + 1
    return [*numbers, number]


def from_start(
    series: list[Row],
    start: int,
    number: int,
    pattern: Pattern,
    elements: list[str],
    query: NaiveQuery,
    parts: Mapping[str, tuple[Expr, ...]],
    budget: Budget,
) -> FromStart:
    found = FromStart()
    search = Search(query, series, start, number, budget)

    def fail(missing: int, left: int, row: int, element: int, way: Way) -> None:
        attempt, best = Attempt(missing, left, row, element), found.nearest
        if best is None or (missing, left, -row) < (best.missing, best.left, -best.row):
            found.nearest, found.way = attempt, way

    def take(element: int, way: Way, after: int) -> bool:
        """Whether the next row can be this element; `after` is how many rows a match needs behind it."""
        budget.spend()
        row = start + len(way)
        if row >= len(series):
            fail(after + 1, NO_ROW, row, element, way)
            return False
        labels = (*(elements[one] for one in way), elements[element])
        match = Match(series, start, labels, number, dict(query.subsets), len(labels))
        tests = parts.get(elements[element], ())
        for at, test in enumerate(tests):
            if evaluate(test, match) is not True:
                fail(after + 1, len(tests) - at, row, element, way)
                return False
        if not is_in_window(row, search):
            found.cut = True
            fail(after + 1, 0, row, element, way)
            return False
        found.reached.add(element)
        return True

    def ways(pattern: Pattern, way: Way, after: int) -> Iterator[Way]:
        """Every way through the pattern, the preferred ones first."""
        kind = pattern[0]
        row = start + len(way)
        if kind == "empty":
            yield way
        elif kind in ("start", "end"):
            if row == (0 if kind == "start" else len(series)):
                yield way
            else:
                fail(after, 1, row, AT_START if kind == "start" else AT_END, way)
        elif kind == "var":
            if take(pattern[1], way, after):
                yield (*way, pattern[1])
        elif kind == "cat":
            yield from in_turn(pattern[1], way, after)
        elif kind == "alt":
            for part in pattern[1]:
                yield from ways(part, way, after)
        elif kind == "perm":
            for order in itertools.permutations(pattern[1]):
                yield from in_turn(order, way, after)
        else:
            yield from repeated(pattern, way, after)

    def in_turn(pieces: tuple[Pattern, ...], way: Way, after: int) -> Iterator[Way]:
        if not pieces:
            yield way
            return
        for longer in once(ways(pieces[0], way, after + sum(map(least_rows, pieces[1:])))):
            yield from in_turn(pieces[1:], longer, after)

    def repeated(pattern: Pattern, way: Way, after: int) -> Iterator[Way]:
        _, body, lo, hi, greedy = pattern
        may_stop = lo == 0
        if may_stop and not greedy:
            yield way
        if hi is None or hi > 0:
            rest = ("rep", body, max(lo - 1, 0), None if hi is None else hi - 1, greedy)
            for longer in once(ways(body, way, after + least_rows(rest))):
                if may_stop and longer == way:
                    yield longer
                else:
                    yield from repeated(rest, longer, after)
        if may_stop and greedy:
            yield way

    for _ in ways(pattern, (), 0):
        found.matched = True
    return found


def once(found: Iterator[Way]) -> Iterator[Way]:
    """What leads to the same rows and elements leads on the same ways."""
    seen: set[Way] = set()
    for way in found:
        if way not in seen:
            seen.add(way)
            yield way


def conjuncts(expr: Expr) -> list[Expr]:
    """The parts of a condition that must all hold."""
    if expr[0] == "op" and expr[1] == "AND":
        return [part for operand in expr[2] for part in conjuncts(operand)]
    if expr[0] == "op" and expr[1] == "BETWEEN":
        value, low, high = expr[2]
        return [("op", ">=", (value, low)), ("op", "<=", (value, high))]
    return [expr]
