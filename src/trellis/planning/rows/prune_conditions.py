"""What conditions say of each other, before any row is read: tests that others imply, patterns without a match."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression, conjuncts
from trellis.algebra.query import RowsPerMatch
from trellis.analysis.implication import Condition, implies, is_impossible
from trellis.analysis.paths import paths_of
from trellis.analysis.repeatable import is_repeatable
from trellis.analysis.row_tests import RowTests, all_of, looks_at_rows_only
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.unfailing import Safety, cannot_fail

__all__ = ["drop_redundant", "is_unsatisfiable"]

# Of more conditions than so many each would be compared with too many others.
_MOST = 12


def drop_redundant(
    bound: BoundQuery, tests: RowTests, columns: Columns, safety: Safety
) -> tuple[BoundQuery, list[str]] | None:
    """The query without tests that others imply, and the variables that have lost some; None if none has."""

    def is_safe(part: Expression) -> bool:
        return looks_at_rows_only(part) and cannot_fail(part, columns, safety)

    changed = {name: _without_redundant(condition, tests, is_safe) for name, condition in bound.conditions}
    names = [name for name, condition in bound.conditions if changed[name] is not condition]
    if not names:
        return None
    return replace(bound, conditions=tuple((name, changed[name]) for name, _ in bound.conditions)), names


def _without_redundant(condition: Expression, tests: RowTests, is_safe: Callable[[Expression], bool]) -> Expression:
    """The condition without parts that others imply.

    In `x <> 0 AND 1 / x > y AND x > 3` the first part keeps the second from failing: what stands before a part that may
    fail stays.
    """
    parts = _parts(condition)
    if not 1 < len(parts) <= _MOST:
        return condition
    known = [_translated(part, tests) for part in parts]
    kept = list(range(len(parts)))
    for number in reversed(range(len(parts))):
        mine = known[number]
        others = [other for at in kept if at != number and (other := known[at]) is not None]
        if mine is None or not others or not implies(all_of(others), mine):
            continue
        if all(is_safe(parts[at]) for at in kept if at > number):
            kept.remove(number)
    if len(kept) == len(parts):
        return condition
    left = [parts[number] for number in kept]
    return left[0] if len(left) == 1 else e.Operator("AND", tuple(left), condition.span)


def _parts(condition: Expression) -> list[Expression]:
    """The conditions that must all hold, also where they are read in one row."""
    if isinstance(condition, e.At) and condition.absent is None:
        return [replace(condition, value=part) for part in conjuncts(condition.value)]
    return [inner for part in conjuncts(condition) for inner in (_parts(part) if isinstance(part, e.At) else [part])]


def _translated(condition: Expression, tests: RowTests) -> Condition | None:
    return tests.of(condition) if is_repeatable(condition) else None


def is_unsatisfiable(bound: BoundQuery, tests: RowTests) -> bool:
    """Whether every match would have a row that nothing can satisfy, and no other rows are wanted."""
    if bound.query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED or bound.query.timeouts:
        return False
    hopeless = frozenset(name for name, condition in bound.conditions if _is_impossible(condition, tests))
    return bool(hopeless) and all(path.variables for path in paths_of(bound.query.pattern, hopeless))


def _is_impossible(condition: Expression, tests: RowTests) -> bool:
    known = [one for part in _parts(condition)[:_MOST] if (one := _translated(part, tests)) is not None]
    return bool(known) and is_impossible(all_of(known))
