"""Functions of two rows that kernels do not have become tables that Spark fills: slow, and right.

`levenshtein(A.name, B.name) < 3` cannot be moved into a slot, since it reads two rows. Spark computes it for all pairs
of rows of a series; the kernel looks it up by the two rows. That is quadratic in the length of the series, so it is the
last resort. Before and after, for the condition of B:

    levenshtein([name @ LAST(A)], [name @ CURRENT]) < 3
    {levenshtein(first.name, name) < 3 @ LAST(A), CURRENT}
"""

from __future__ import annotations

from collections.abc import Callable

from trellis.algebra import expression as e
from trellis.algebra.expression import At, Expression, Pair, Place
from trellis.errors import UnsupportedError
from trellis.planning.expressions.hoist_slots import hoist_all, is_constant, null_of, spared

__all__ = ["FIRST_ROW", "columns_of", "pair_slots", "reads_pairs"]

FIRST_ROW = "__first"
"""The name of the struct that holds the columns of the first row of a pair."""


def pair_slots(expression: Expression, is_possible: Callable[[Expression], bool]) -> Expression:
    """Replace what kernels cannot compute (`is_possible`) by pairs, the largest parts that read two rows."""
    if is_possible(expression):
        return expression
    places = _places(expression)
    if places is not None and len(places) == 1:
        return hoist_all(expression)
    if places is not None and len(places) == 2:
        first, second = places
        return Pair(
            _for_rows(expression, first),
            first,
            second,
            first_missing=_without(expression, {first}),
            second_missing=_without(expression, {second}),
            both_missing=_without(expression, {first, second}),
            span=expression.span,
        )
    parts = e.children(expression)
    if not isinstance(expression, (e.Operator, e.Case, e.Call)) or all(map(is_possible, parts)):
        raise UnsupportedError(
            f"A condition cannot compute this between several rows: {expression}.",
            cure="Functions that only Spark knows may read two rows of a match: split it, or compute a column before.",
            span=expression.span,
        )
    return e.rebuild(expression, lambda part: pair_slots(part, is_possible))


def reads_pairs(condition: Expression) -> bool:
    """Whether a condition reads a function of two rows that Spark computes."""
    return any(isinstance(node, Pair) for node in e.walk(condition))


def columns_of(value: Expression) -> tuple[str, ...]:
    """The columns of the first row that a pair reads."""
    found = [node.path[1] for node in e.walk(value) if isinstance(node, e.Column) and node.path[0] == FIRST_ROW]
    return tuple(dict.fromkeys(found))


def _places(expression: Expression) -> tuple[Place, ...] | None:
    """The places that are read, the current row last; None if something else than rows is read."""
    places: dict[Place, None] = {}
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, At):
            places[node.place] = None
        elif isinstance(node, (e.ClassifierAt, e.MatchNumber, e.BoundAggregate, Pair)):
            return None
        elif not is_constant(node):
            pending.extend(e.children(node))
    return tuple(sorted(places, key=lambda place: (place == Place(), str(place))))


def _for_rows(expression: Expression, first: Place) -> Expression:
    """The expression over the columns of two rows."""
    if isinstance(expression, At):
        return _of_first(expression.value) if expression.place == first else expression.value
    return e.rebuild(expression, lambda part: _for_rows(part, first))


def _without(expression: Expression, missing: set[Place]) -> Expression:
    """The expression over the columns of the row that exists, where the rows at the missing places do not."""
    if isinstance(expression, At):
        if expression.place not in missing:
            return expression.value
        return expression.absent or null_of(expression.value)
    unread = tuple(_without(part, missing) for part in e.children(expression) if _reads(part, missing))
    return spared(e.rebuild(expression, lambda part: _without(part, missing)), unread)


def _reads(expression: Expression, places: set[Place]) -> bool:
    return any(isinstance(node, At) and node.place in places for node in e.walk(expression))


def _of_first(value: Expression) -> Expression:
    if isinstance(value, e.Column):
        return e.Column((FIRST_ROW, *value.path), span=value.span)
    return e.rebuild(value, _of_first)
