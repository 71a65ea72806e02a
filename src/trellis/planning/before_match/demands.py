"""What every match needs: the part of a query that prefilters are made from, whatever language it was written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.place import Place
from trellis.algebra.prefilter import Buckets, Component, Form, Prefilter, Symbol
from trellis.algebra.query import RowsPerMatch
from trellis.analysis.condition_kinds import Kinds, at_row, is_contained
from trellis.analysis.paths import Path, is_anchored, least_rows, paths_of, single_variables
from trellis.analysis.repeatable import is_repeatable
from trellis.planning.expressions.unfailing import Safety, row_filter, unfailing

__all__ = [
    "RESERVED",
    "Demand",
    "Sets",
    "demand_of",
    "has_reserved_names",
    "make_prefilter",
    "symbol_sets",
    "without_redundant",
]

RESERVED = "a column has a name that begins with __trellis"
# The paper's limit: with more joins the estimates are too far off.
_MOST_SYMBOLS = 3
# Of more variables than this, so many at a time: there would be too many sets to weigh.
_MANY_VARIABLES = ((40, 1), (12, 2))

# The positions taken of each path.
Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Demand:
    """Paths through the pattern, and what rows of their variables fulfil.

    `conditions` are those of single rows, `dependent` those between rows; `single` are variables with one row at most.
    """

    keys: tuple[Expression, ...]
    buckets: Buckets | None
    paths: tuple[Path, ...]
    conditions: Mapping[str, Expression]
    dependent: Mapping[str, tuple[Expression, ...]] = field(default_factory=dict)
    single: frozenset[str] = frozenset()
    safety: Safety = field(default_factory=Safety)


def demand_of(
    bound: BoundQuery, kinds: Kinds, keys: tuple[Expression, ...], buckets: Buckets | None, safety: Safety
) -> Demand | str:
    """What a row pattern query demands, or the reason why rows must not be dropped before the match.

    A dropped row must not begin a match, lie in one, or be looked at from one. With whole buckets of one window dropped
    only, rows that were apart stay apart: a match lies within two neighbouring buckets, and of these both are there.
    """
    query = bound.query
    if query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        return "unmatched rows are part of the result"
    if query.timeouts:
        return "matches that timed out need not contain what whole ones do"
    if is_anchored(query.pattern):
        return "an anchor asks for the first or the last row of all"
    if least_rows(query.pattern) == 0:
        return "the pattern can be empty, so that every row begins a match"
    if not is_contained(bound):
        return "PREV or NEXT may look outside the match"
    if buckets is None and not keys:
        return "there is neither a window nor PARTITION BY"
    if has_reserved_names(bound.columns):
        return RESERVED
    conditions = {name: row_filter(kinds.independent.get(name, ()), safety) for name in bound.variables}
    useful = {name: found for name, found in conditions.items() if found is not None}
    paths = paths_of(query.pattern, frozenset(useful))
    if not all(path.variables for path in paths):
        return "a match need not contain a variable with a condition on single rows"
    return Demand(keys, buckets, paths, useful, kinds.dependent, single_variables(query.pattern), safety)


def has_reserved_names(columns: tuple[str, ...]) -> bool:
    """Whether a column of the input has a name that prefilters give to columns of their own."""
    return any(name.lower().startswith("__trellis") for name in columns)


def symbol_sets(path: Path, *, whole: bool) -> list[tuple[int, ...]]:
    """Positions of a path that a prefilter may use: one to three of them, and with `whole` all."""
    places = range(len(path.variables))
    most = next((size for variables, size in _MANY_VARIABLES if len(places) > variables), _MOST_SYMBOLS)
    found = [chosen for size in range(1, most + 1) for chosen in combinations(places, size)]
    if whole and len(path.variables) > most:
        found.append(tuple(places))
    return found


def make_prefilter(demand: Demand, form: Form, sets: Sets) -> Prefilter:
    """The prefilter that looks at these positions of each path; redundant components are left out."""
    names: dict[str, int] = {}
    components = []
    for path, places in zip(demand.paths, sets, strict=True):
        variables = tuple(path.variables[place] for place in places)
        starts = path.starts and places[0] == 0
        ends = path.ends and places[-1] == len(path.variables) - 1
        numbers = tuple(names.setdefault(name, len(names)) for name in variables)
        joined = () if form is Form.MASKS or not path.ordered else _joined(demand, variables, starts)
        components.append(Component(numbers, path.ordered, starts, ends, joined))
    kept = without_redundant(components)
    used = sorted({number for component in kept for number in component.symbols})
    renumbered = {number: place for place, number in enumerate(used)}
    by_number = {number: name for name, number in names.items()}
    symbols = tuple(Symbol(by_number[number], demand.conditions[by_number[number]]) for number in used)
    final = tuple(
        Component(
            tuple(renumbered[number] for number in component.symbols),
            component.ordered,
            component.starts,
            component.ends,
            component.joined,
        )
        for component in kept
    )
    return Prefilter(form, demand.keys, demand.buckets, symbols, final)


def without_redundant(components: list[Component]) -> list[Component]:
    """The components less those whose buckets another one keeps anyway."""
    kept: list[Component] = []
    for component in sorted(dict.fromkeys(components), key=lambda one: len(one.symbols)):
        if not any(_covers(other, component) for other in kept):
            kept.append(component)
    return kept


def _covers(one: Component, other: Component) -> bool:
    """Whether all that the second keeps is kept by the first, which asks for less."""
    if one.joined or (one.ordered and not other.ordered):
        return False
    if one.starts and not (other.starts and one.symbols[0] == other.symbols[0]):
        return False
    if one.ends and not (other.ends and one.symbols[-1] == other.symbols[-1]):
        return False
    if not one.ordered:
        return set(one.symbols) <= set(other.symbols)
    rest = iter(other.symbols)
    return all(number in rest for number in one.symbols)


def _joined(demand: Demand, variables: tuple[str, ...], starts: bool) -> tuple[Expression, ...]:
    """The conditions between these variables; `__sk` is the row at position k.

    A condition is left out where it reads something else than one of these rows, which only keeps more: an earlier
    variable that has one row at most, the first row of the match, or the row under test.
    """
    found: list[Expression] = []
    for position, variable in enumerate(variables):

        def struct(place: Place, position: int = position) -> str | None:
            if place.shift or place.offset:
                return None
            if place == Place():
                return f"__s{position}"
            if place.variables is None:
                return "__s0" if place.from_first and starts else None
            earlier = [
                number
                for number, name in enumerate(variables[:position])
                if place.variables == {name} and name in demand.single
            ]
            return f"__s{earlier[0]}" if earlier else None

        for condition in demand.dependent.get(variable, ()):
            moved = at_row(condition, struct)
            safe = None if moved is None else unfailing(moved, demand.safety)
            if safe is not None and is_repeatable(safe):
                found.append(safe)
    return tuple(dict.fromkeys(found))
