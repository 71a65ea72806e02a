"""What every match of a pattern contains, whatever the rows are.

A *path* is one way through a pattern, with one round of every loop ("special pattern" in Zhu, Huang and Chaudhuri,
PVLDB 16(5), section 3.1.2): every match contains, in this order, a row of each variable of at least one path.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import permutations
from math import factorial

from trellis.algebra import pattern as p
from trellis.algebra.pattern import Pattern

__all__ = ["Path", "is_anchored", "least_rows", "most_rows", "paths_of", "rows_around", "single_variables"]

# More ways than this are not told apart: the part of the pattern where they branch then demands nothing.
_MOST = 64
_ORDERS = 6


@dataclass(frozen=True, slots=True)
class Path:
    """Variables that a match contains, in this order if `ordered`.

    `starts`: the first row of the match is of the first of them; `ends`: the last row is of the last.
    """

    variables: tuple[str, ...]
    ordered: bool = True
    starts: bool = False
    ends: bool = False


# A way while it is put together. None stands for rows about which nothing is known, perhaps no row at all.
_Way = tuple[str | None, ...]


def paths_of(pattern: Pattern, useful: frozenset[str]) -> tuple[Path, ...]:
    """The paths of a pattern, of their variables only the useful ones; redundant paths are left out.

    A path whose variables are among those of another path makes that one redundant: whatever is demanded of the
    first may be demanded of both.
    """
    ways, ordered = _ways(pattern)
    found: dict[tuple[str, ...], Path] = {}
    for way in ways:
        names = tuple(name for name in way if name in useful and name is not None)
        path = Path(
            names,
            ordered=ordered,
            starts=ordered and bool(way) and way[0] in useful,
            ends=ordered and bool(way) and way[-1] in useful,
        )
        known = found.get(names)
        found[names] = path if known is None else _both(known, path)
    paths = list(found.values())
    kept: list[Path] = []
    for path in sorted(paths, key=lambda path: len(path.variables)):
        within = next((number for number, other in enumerate(kept) if _is_inside(other, path)), None)
        if within is None:
            kept.append(path)
        else:
            kept[within] = _both(kept[within], path)
    return tuple(kept)


def _both(one: Path, other: Path) -> Path:
    """A path that speaks for another one, too: it may claim only what is true of both."""
    same_start = one.starts and other.starts and one.variables[:1] == other.variables[:1]
    same_end = one.ends and other.ends and one.variables[-1:] == other.variables[-1:]
    return replace(one, starts=same_start, ends=same_end)


def _is_inside(one: Path, other: Path) -> bool:
    """Whether every match on the second path has what the first one demands."""
    if not one.ordered or not other.ordered:
        return set(one.variables) <= set(other.variables) and not one.ordered
    rest = iter(other.variables)
    return all(name in rest for name in one.variables)


def _ways(pattern: Pattern) -> tuple[list[_Way], bool]:
    """All ways with one round of every loop, and whether their order means anything."""
    match pattern:
        case p.Var(name=name):
            return [(name,)], True
        case p.Empty() | p.Anchor() | p.Check():
            return [()], True
        case p.Exclude(body=body):
            return _ways(body)
        case p.Not():
            return [(None,)], True
        case p.Concat(parts=parts):
            return _joined([_ways(part) for part in parts])
        case p.Alt(options=options):
            return _either([_ways(option) for option in options])
        case p.Permute(parts=parts):
            found = [_ways(part) for part in parts]
            if factorial(len(parts)) > _ORDERS:
                return _joined(found)[0], False
            return _either([_joined(order) for order in permutations(found)])
        case p.And(parts=parts):
            # Every part covers the whole segment: all that they demand is there, in no known order.
            return _joined([_ways(part) for part in parts])[0], False
        case p.Repeat(body=body):
            least, most = p.counts(pattern)
            ways, ordered = _ways(body)
            if most != 1 and len(ways) > 1:
                # The first round goes this way, the last one perhaps another.
                ways = [(*way, None) for way in ways]
            if least == 0 and () not in ways:
                ways = [(), *ways]
            return ([()] if most == 0 else ways), ordered


def _either(branches: list[tuple[list[_Way], bool]]) -> tuple[list[_Way], bool]:
    ways = list(dict.fromkeys(way for found, _ in branches for way in found))
    return (ways, all(ordered for _, ordered in branches)) if len(ways) <= _MOST else ([(None,)], True)


def _joined(parts: Iterable[tuple[list[_Way], bool]]) -> tuple[list[_Way], bool]:
    joined: list[_Way] = [()]
    ordered = True
    for ways, in_order in parts:
        ordered = ordered and in_order
        if len(joined) * len(ways) > _MOST:
            ways = [(None,)]
        joined = list(dict.fromkeys((*before, *after) for before in joined for after in ways))
    return joined, ordered


def is_anchored(pattern: Pattern) -> bool:
    """Whether the pattern asks for the first or the last row of a series."""
    return any(isinstance(node, p.Anchor) for node in p.walk(pattern))


def least_rows(pattern: Pattern) -> int:
    """How many rows a match of single-row variables has at least."""
    match pattern:
        case p.Var():
            return 1
        case p.Empty() | p.Anchor() | p.Check() | p.Not():
            return 0
        case p.Concat(parts=parts) | p.Permute(parts=parts):
            return sum(map(least_rows, parts))
        case p.And(parts=parts):
            return max(map(least_rows, parts))
        case p.Alt(options=options):
            return min(map(least_rows, options))
        case p.Exclude(body=body):
            return least_rows(body)
        case p.Repeat(body=body):
            return p.counts(pattern)[0] * least_rows(body)


def most_rows(pattern: Pattern) -> int | None:
    """How many rows a match of single-row variables has at most; None if there is no bound."""
    match pattern:
        case p.Var():
            return 1
        case p.Empty() | p.Anchor():
            return 0
        case p.Not():
            return None
        case p.Exclude(body=body):
            return most_rows(body)
        case p.Repeat(body=body):
            most, rows = p.counts(pattern)[1], most_rows(body)
            if rows == 0 or most == 0:
                return 0
            return None if most is None or rows is None else most * rows
        case _:
            parts = [most_rows(part) for part in p.children(pattern)]
            known = [rows for rows in parts if rows is not None]
            if isinstance(pattern, p.And):
                return min(known, default=None)
            if len(known) < len(parts):
                return None
            return max(known) if isinstance(pattern, p.Alt) else sum(known)


def rows_around(pattern: Pattern) -> dict[str, tuple[int, int]]:
    """For each variable, how many rows of the match surely come before and after each of its rows."""
    found: dict[str, tuple[int, int]] = {}

    def visit(node: Pattern, before: int, after: int) -> None:
        match node:
            case p.Var(name=name):
                known = found.get(name, (before, after))
                found[name] = (min(known[0], before), min(known[1], after))
            case p.Concat(parts=parts):
                lengths = [least_rows(part) for part in parts]
                for number, part in enumerate(parts):
                    visit(part, before + sum(lengths[:number]), after + sum(lengths[number + 1 :]))
            case _:
                # Other rounds of a loop, other parts of PERMUTE, may come on either side or not at all.
                for part in p.children(node):
                    visit(part, before, after)

    visit(pattern, 0, 0)
    return found


def single_variables(pattern: Pattern) -> frozenset[str]:
    """The variables that no match has two rows of."""
    found: dict[str, int] = {}

    def visit(node: Pattern, times: int) -> dict[str, int]:
        match node:
            case p.Var(name=name):
                return {name: times}
            case p.Repeat(body=body):
                most = p.counts(node)[1]
                return visit(body, times if most == 1 else 2)
            case p.Alt(options=options):
                # One option only is taken.
                counted: dict[str, int] = {}
                for option in options:
                    for name, count in visit(option, times).items():
                        counted[name] = max(counted.get(name, 0), count)
                return counted
            case _:
                summed: dict[str, int] = {}
                for part in p.children(node):
                    for name, count in visit(part, times).items():
                        summed[name] = summed.get(name, 0) + count
                return summed

    found = visit(pattern, 1)
    return frozenset(name for name, count in found.items() if count == 1)
