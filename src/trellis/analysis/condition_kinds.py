"""Which rows a condition looks at (definitions 3.1 to 3.6 of Zhu, Huang and Chaudhuri, PVLDB 16(5)).

*Independent*: the row itself. *Dependent*: other rows of the match too. *Self-contained*: no row outside the match.
*Window*: the order key of the last row less that of the first, against a constant. *Sequential* conditions are not
written down: the order of the variables in a path implies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.analysis.paths import rows_around

__all__ = ["Kinds", "at_row", "classify", "is_contained", "looks_at_rows", "row_value", "window_width"]

_CURRENT = Place()


@dataclass(frozen=True, slots=True)
class Kinds:
    """The conjuncts of each variable's condition: independent ones as expressions over one row, and the others."""

    independent: Mapping[str, tuple[Expression, ...]]
    dependent: Mapping[str, tuple[Expression, ...]]


def classify(bound: BoundQuery) -> Kinds:
    """Split every condition."""
    independent: dict[str, tuple[Expression, ...]] = {}
    dependent: dict[str, tuple[Expression, ...]] = {}
    for variable, condition in bound.conditions:
        parts = e.conjuncts(condition)
        rows = [row_value(part) for part in parts]
        independent[variable] = tuple(row for row in rows if row is not None)
        dependent[variable] = tuple(part for part, row in zip(parts, rows, strict=True) if row is None)
    return Kinds(independent, dependent)


def looks_at_rows(bound: BoundQuery) -> bool:
    """Whether a condition looks at other rows than its own; a condition of a segment does."""
    return any(classify(bound).dependent.values())


def row_value(expression: Expression) -> Expression | None:
    """The expression over the columns of the current row, None if it looks at another row or at the match."""
    return at_row(expression, lambda place: "" if place == _CURRENT else None)


def at_row(expression: Expression, prefix: Callable[[Place], str | None]) -> Expression | None:
    """The expression with the columns of each place in a struct; None if a place has no struct.

    `prefix` names the struct of a place; columns of the struct "" stand for themselves.
    """
    for node in e.walk(expression):
        if isinstance(node, (e.ClassifierAt, e.BoundAggregate, e.MatchNumber, e.Pair, e.Classifier, e.SegmentCall)):
            return None
        if isinstance(node, e.At) and prefix(node.place) is None:
            return None

    def move(node: Expression, struct: str) -> Expression:
        if isinstance(node, e.Column) and struct:
            return e.Column((struct, *node.path), node.span)
        return e.rebuild(node, lambda child: move(child, struct))

    def settle(node: Expression) -> Expression:
        if isinstance(node, e.At):
            return move(node.value, prefix(node.place) or "")
        return e.rebuild(node, settle)

    return settle(expression)


def is_contained(bound: BoundQuery) -> bool:
    """Whether conditions and measures look at rows of the match only.

    PREV and NEXT may leave the match unless the pattern puts enough rows around the row they start from.
    """
    around = rows_around(bound.query.pattern)
    for variable, condition in bound.conditions:
        for place in _places(condition):
            if not _stays_inside(place, around, variable):
                return False
    return all(_stays_inside(place, around, None) for _, measure in bound.measures for place in _places(measure))


def _places(expression: Expression) -> Iterator[Place]:
    for node in e.walk(expression):
        match node:
            case e.At(place=place) | e.ClassifierAt(place=place):
                yield place
            case e.Pair(first=first, second=second):
                yield first
                yield second
            case _:
                pass


def _stays_inside(place: Place, around: Mapping[str, tuple[int, int]], owner: str | None) -> bool:
    if place.shift == 0:
        return True
    names = place.variables
    if names is None:
        if place == Place(shift=place.shift) and owner is not None:
            names = frozenset({owner})
        else:
            # Some row of the match: the first or the last one, perhaps.
            return False
    before = min(around[name][0] for name in names)
    after = min(around[name][1] for name in names)
    return -place.shift <= before if place.shift < 0 else place.shift <= after


def window_width(
    conjunct: Expression, key: Expression, descending: bool, first: Callable[[Place], bool]
) -> tuple[Expression, bool] | None:
    """The width w of a condition like `[t @ CURRENT] - [t @ FIRST] <= w`, and whether the bound itself is allowed.

    Also `t <= first + w` and `t - w <= first`, from either side; in descending order the first key is the greater.
    """
    match conjunct:
        case e.Operator(symbol="<=" | "<" as symbol, operands=(small, great)):
            pass
        case e.Operator(symbol=">=" | ">" as symbol, operands=(great, small)):
            pass
        case _:
            return None

    def is_late(side: Expression) -> bool:
        return isinstance(side, e.At) and side.value == key and side.place == _CURRENT

    def is_early(side: Expression) -> bool:
        return isinstance(side, e.At) and side.value == key and first(side.place)

    if descending:
        is_late, is_early = is_early, is_late
    inclusive = "=" in symbol
    match small, great:
        case e.Operator(symbol="-", operands=(late, early)), width if is_late(late) and is_early(early):
            pass
        case late, e.Operator(symbol="+", operands=(early, width)) if is_late(late) and is_early(early):
            pass
        case late, e.Operator(symbol="+", operands=(width, early)) if is_late(late) and is_early(early):
            pass
        case e.Operator(symbol="-", operands=(late, width)), early if is_late(late) and is_early(early):
            pass
        case _:
            return None
    reads = (e.At, e.ClassifierAt, e.BoundAggregate, e.MatchNumber, e.Pair)
    if any(isinstance(node, reads) or _is_query(node) for node in e.walk(width)):
        return None
    return width, inclusive


def _is_query(node: Expression) -> bool:
    """Whether a node is a subquery, which may read the row around it."""
    return isinstance(node, e.Raw) and all(isinstance(part, str) for part in node.parts)
