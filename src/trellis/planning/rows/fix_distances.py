"""Values of other variables become values of rows at a fixed distance.

In `A B C` the row of A is two before that of C, so `C.price > A.price` is `price > PREV(price, 2)`. A condition that
looks at rows only is tested once for each row, and not again for each match that comes by. So is the last row of a
repetition that ends a fixed number of rows before.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from trellis.algebra import expression as e
from trellis.algebra import pattern as p
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.analysis.row_tests import looks_at_rows_only
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.unfailing import Safety, cannot_fail

__all__ = ["fix_distances"]


def fix_distances(bound: BoundQuery, columns: Columns, safety: Safety) -> BoundQuery | None:
    """The query with conditions that all look at rows only, None if some still look at the match, or all did before.

    Such conditions are tested on every row, also where no match asks: those that might fail there stay as they are.
    """
    if all(looks_at_rows_only(condition) for _, condition in bound.conditions):
        return None
    distances = _distances(bound.query.pattern, {name for name, _ in bound.conditions})
    if distances is None:
        return None
    changed = tuple(
        (name, _fixed(condition, distances=distances.get(name, {}))) for name, condition in bound.conditions
    )
    if not all(looks_at_rows_only(condition) for _, condition in changed):
        return None
    moved = [now for (_, now), (_, before) in zip(changed, bound.conditions, strict=True) if now != before]
    if not all(cannot_fail(condition, columns, safety) for condition in moved):
        return None
    return replace(bound, conditions=changed)


def _distances(pattern: p.Pattern, defined: set[str]) -> dict[str, dict[str, int]] | None:
    """For each variable of one row, how many rows before it others end; None if rows without conditions repeat.

    Such rows may be dropped before the match, and then nothing is known of distances.
    """
    if isinstance(pattern, p.Alt):
        options = [_distances(option, defined) for option in pattern.options]
        merged: dict[str, dict[str, int]] = {}
        for option in options:
            if option is None:
                return None
            merged |= option
        return merged if _is_apart(pattern) else None
    if not isinstance(pattern, p.Concat):
        return None
    names = [node.name for node in p.walk(pattern) if isinstance(node, (p.Var, p.Check))]
    found: dict[str, dict[str, int]] = {}
    before: dict[str, int] = {}
    for part in pattern.parts:
        match part:
            case p.Var(name=name):
                before = {other: distance + 1 for other, distance in before.items()}
                found[name] = dict(before)
                before[name] = 0
            case p.Repeat(body=p.Var(name=name), least=least) if least != 0:
                if name not in defined:
                    return None
                before = {name: 0}
            case _:
                before = {}
                if any(isinstance(node, p.Var) and node.name not in defined for node in p.walk(part)):
                    return None
    # A variable that stands at two places has two rows.
    once = {name for name in names if names.count(name) == 1}
    return {
        name: {other: distance for other, distance in others.items() if other in once}
        for name, others in found.items()
        if name in once
    }


def _is_apart(pattern: p.Alt) -> bool:
    """Whether no variable stands in two options."""
    names = [name for option in pattern.options for name in p.variables_of(option)]
    return len(names) == len(set(names))


def _fixed(expression: Expression, distances: dict[str, int]) -> Expression:
    if isinstance(expression, e.At):
        place = expression.place
        if place.variables is not None and len(place.variables) == 1 and not place.from_first and not place.offset:
            (name,) = place.variables
            if name in distances and place == Place(place.variables, shift=place.shift):
                return replace(expression, place=Place(shift=place.shift - distances[name]))
        return expression
    return e.rebuild(expression, partial(_fixed, distances=distances))
