"""A bound between the first and the last row that stands in DEFINE is a WITHIN.

    PATTERN (A Z* B) DEFINE B AS B.t - A.t <= INTERVAL '30' MINUTE        PATTERN (A Z* B) WITHIN INTERVAL '30' MINUTE

The same rows match, since every match begins with an A and ends with a B. As WITHIN the search knows it from the first
row on, conditions of B need not look back any more, and prefilters and slices can use it.
"""

from __future__ import annotations

from dataclasses import replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.pattern import is_possessive
from trellis.algebra.place import Place
from trellis.algebra.query import Wanted
from trellis.analysis.condition_kinds import window_width
from trellis.analysis.paths import Path, paths_of, single_variables
from trellis.analysis.source import Source
from trellis.analysis.types import Kind
from trellis.planning.before_match.bucket_keys import width_of
from trellis.planning.expressions.columns import Columns

__all__ = ["derive_window"]

_DAY = 86_400_000_000
# Kinds of keys whose differences are exact.
_TIMES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
_EXACT = (Kind.INTEGER, Kind.DECIMAL, *_TIMES)


def derive_window(bound: BoundQuery, columns: Columns, source: Source) -> BoundQuery | None:
    """The query with WITHIN, None if no condition implies one."""
    query = bound.query
    # A window would end repetitions that take all rows they can.
    if query.within is not None or not bound.order_by or is_possessive(query.pattern):
        return None
    if query.wanted is Wanted.EACH:
        return None
    key = bound.order_by[0][1]
    type_ = columns.type_of(key)
    paths = paths_of(query.pattern, frozenset(bound.variables))
    ends = {path.variables[-1] for path in paths if path.ends}
    if type_ is None or type_.kind not in _EXACT or len(ends) != 1 or not all(path.ends for path in paths):
        return None
    if source.lenient and type_.kind not in _TIMES:
        # There `A.t + 5` runs over at the end of the numbers, and WITHIN does not.
        return None
    last = ends.pop()
    found = dict(bound.conditions).get(last)
    if found is None:
        return None

    def is_first(place: Place) -> bool:
        return _is_first(place, paths, single_variables(query.pattern))

    for part in e.conjuncts(found):
        window = window_width(part, key, query.order_by[0].descending, is_first)
        if window is None:
            continue
        width, inclusive = window
        text = columns.type_text(width)
        if text in ("float", "double") or (type_.kind in _TIMES) != text.startswith("interval"):
            # A float is compared as one, with its rounding; a date plus a number has no width that WITHIN knows.
            continue
        micros = width_of(width, type_, columns, source.constant)
        if micros is None or micros < 1 or (type_.kind is Kind.TIMESTAMP and micros >= _DAY):
            # A day of a clock with a time zone has 23 to 25 hours: a difference and a sum mean different things.
            continue
        conditions = bound.conditions
        if inclusive:
            conditions = _without(bound.conditions, last, part, found)
        return replace(bound, query=replace(query, within=width), conditions=conditions)
    return None


def _is_first(place: Place, paths: tuple[Path, ...], single: frozenset[str]) -> bool:
    """Whether a place is always the first row of the match."""
    if place.offset or place.shift:
        return False
    if place.variables is None:
        return place.from_first
    names = {path.variables[0] if path.starts else None for path in paths}
    return names == set(place.variables) and len(names) == 1 and (place.from_first or names <= single)


def _without(
    conditions: tuple[tuple[str, Expression], ...], variable: str, part: Expression, whole: Expression
) -> tuple[tuple[str, Expression], ...]:
    """The conditions less the part that WITHIN says."""
    rest = tuple(other for other in e.conjuncts(whole) if other != part)
    if not rest:
        return tuple((name, condition) for name, condition in conditions if name != variable)
    left = rest[0] if len(rest) == 1 else e.Operator("AND", rest)
    return tuple((name, left if name == variable else condition) for name, condition in conditions)
