"""Functions of two rows that kernels do not have become tables that Spark fills: slow, and right.

`levenshtein(A.name, B.name) < 3` cannot be moved into a slot, since it reads two rows. Spark computes it for all pairs
of rows of a series; the kernel looks it up by the two rows. That is quadratic in the length of the series, so it is the
last resort. Before and after, for the condition of B:

    levenshtein([name @ LAST(A)], [name @ CURRENT]) < 3
    {levenshtein(first.name, name) < 3 @ LAST(A), CURRENT}

The number of a match is at most the number of rows of its series. So a function of it is computed for the number of
each row, and looked up in the row with that number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.expression import At, Expression, Pair
from trellis.algebra.place import Place
from trellis.errors import UnsupportedError
from trellis.planning.expressions.hoist_slots import hoist_all, is_constant, null_of, spared
from trellis.planning.expressions.slots import is_between
from trellis.planning.expressions.spread_labels import LabelTables, labels_of

__all__ = ["FIRST_ROW", "ROW_NUMBER", "columns_of", "pair_slots", "reads_number", "reads_pairs"]

FIRST_ROW = "__first"
"""The name of the struct that holds the columns of the first row of a pair."""
ROW_NUMBER = "__row"
"""The name of the column that numbers the rows of a series, from 0."""

_NUMBERED = Place(numbered=True)


def pair_slots(expression: Expression, is_possible: Callable[[Expression], bool], tables: LabelTables) -> Expression:
    """Replace what kernels cannot compute (`is_possible`) by pairs, the largest parts that read two rows.

    Functions of labels become tables first.
    """

    def again(part: Expression) -> Expression:
        return pair_slots(part, is_possible, tables)

    if is_possible(expression):
        return expression
    if is_constant(expression):
        return At(expression, Place(), span=expression.span)
    if isinstance(expression, e.BoundAggregate):
        arguments = (again(argument) if is_between(argument) else argument for argument in expression.arguments)
        return replace(expression, arguments=tuple(arguments))
    if labels_of(expression):
        simpler = _simpler(expression, again)
        if simpler is not None and is_possible(simpler):
            return simpler
        return tables.spread(expression, again)
    places = _places(expression)
    if places == (_NUMBERED,):
        return At(_for_rows(expression, None), _NUMBERED, span=expression.span)
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
    return e.rebuild(expression, again)


def _simpler(expression: Expression, again: Callable[[Expression], Expression]) -> Expression | None:
    """The expression with its parts made possible; None where a part cannot be alone."""
    if not isinstance(expression, (e.Operator, e.Case, e.Call)):
        return None
    try:
        return e.rebuild(expression, again)
    except UnsupportedError:
        return None


def reads_number(condition: Expression) -> bool:
    """Whether a condition reads a function of the number of the match that Spark computes for each row."""
    return any(isinstance(node, At) and node.place.numbered for node in e.walk(condition))


def reads_pairs(condition: Expression) -> bool:
    """Whether a condition reads a function of two rows that Spark computes."""
    return any(isinstance(node, Pair) for node in e.walk(condition))


def columns_of(value: Expression) -> tuple[str, ...]:
    """The columns of the first row that a pair reads."""
    found = [node.path[1] for node in e.walk(value) if isinstance(node, e.Column) and node.path[0] == FIRST_ROW]
    return tuple(dict.fromkeys(name for name in found if name != ROW_NUMBER))


def _places(expression: Expression) -> tuple[Place, ...] | None:
    """The places that are read, the number of the match first and the current row last; None if more is read."""
    places: dict[Place, None] = {}
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, At):
            places[node.place] = None
        elif isinstance(node, e.MatchNumber):
            places[_NUMBERED] = None
        elif isinstance(node, (e.ClassifierAt, e.BoundAggregate, Pair)):
            return None
        elif not is_constant(node):
            pending.extend(e.children(node))
    return tuple(sorted(places, key=lambda place: (not place.numbered, place == Place(), str(place))))


def _for_rows(expression: Expression, first: Place | None) -> Expression:
    """The expression over the columns of two rows, or (no `first`) over the number of a row alone."""
    if isinstance(expression, e.MatchNumber):
        return _number((ROW_NUMBER,) if first is None else (FIRST_ROW, ROW_NUMBER))
    if isinstance(expression, At):
        return _of_first(expression.value) if expression.place == first else expression.value
    return e.rebuild(expression, lambda part: _for_rows(part, first))


def _without(expression: Expression, missing: set[Place]) -> Expression:
    """The expression over the columns of the row that exists, where the rows at the missing places do not."""
    if isinstance(expression, e.MatchNumber):
        return _number((ROW_NUMBER,))
    if isinstance(expression, At):
        if expression.place not in missing:
            return expression.value
        return expression.absent or null_of(expression.value)
    unread = tuple(_without(part, missing) for part in e.children(expression) if _reads(part, missing))
    return spared(e.rebuild(expression, lambda part: _without(part, missing)), unread)


def _reads(expression: Expression, places: set[Place]) -> bool:
    return any(isinstance(node, At) and node.place in places for node in e.walk(expression))


def _number(path: tuple[str, ...]) -> Expression:
    """The number of the match whose row this is."""
    return e.Raw(("CAST(", e.Operator("+", (e.Column(path), e.Literal("1"))), " AS BIGINT)"))


def _of_first(value: Expression) -> Expression:
    if isinstance(value, e.Column):
        return e.Column((FIRST_ROW, *value.path), span=value.span)
    return e.rebuild(value, _of_first)
