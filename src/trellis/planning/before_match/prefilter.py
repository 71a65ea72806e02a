"""The prefilters that a query may get: symbol sets are tried out on the cost model, or named by hints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Candidate, Form, Prefilter
from trellis.algebra.statistics import RowStatistics
from trellis.planning.before_match.costs import PrefilterCosts, prefilter_cost, query_cost
from trellis.planning.before_match.demands import Demand, make_prefilter, symbol_sets
from trellis.planning.before_match.sizes import rows_in_bucket

__all__ = ["Forced", "forced_prefilter", "joins_of", "weigh_prefilters"]

_MOST_COMBINATIONS = 100
# Each symbol is a bit of a BIGINT.
_MOST_BITS = 62
# More buckets than this are too many to send to every worker: each takes some fifty bytes there.
_MANY_BUCKETS = 5e6


@dataclass(frozen=True, slots=True)
class Forced:
    """What hints ask for: a form, the variables of each path."""

    form: Form | None = None
    symbols: tuple[tuple[str, ...], ...] = ()


def joins_of(demand: Demand) -> tuple[tuple[tuple[str, ...], tuple[Expression, ...]], ...]:
    """All conditions between rows that candidates may use, with the variables that they are about."""
    found: dict[tuple[Expression, ...], tuple[str, ...]] = {}
    for path in demand.paths:
        for places in symbol_sets(path, whole=False):
            prefilter = make_prefilter(replace(demand, paths=(path,)), Form.JOINS, (places,))
            component = prefilter.components[0]
            if component.joined:
                found[component.joined] = tuple(prefilter.symbols[number].variable for number in component.symbols)
    return tuple((variables, conditions) for conditions, variables in found.items())


def forced_prefilter(demand: Demand, forced: Forced) -> Prefilter | None:
    """The prefilter that a user asked for; None if it names variables that cannot be used."""
    form = forced.form or Form.MASKS
    if form is not Form.MASKS and demand.buckets is None:
        return None
    if not forced.symbols:
        for most in (_MOST_BITS, 3, 1) if form is Form.MASKS else (3,):
            whole = tuple(tuple(range(len(path.variables)))[:most] for path in demand.paths)
            prefilter = make_prefilter(demand, form, whole)
            if len(prefilter.symbols) <= _MOST_BITS:
                return prefilter
        return None
    wanted = forced.symbols * len(demand.paths) if len(forced.symbols) == 1 else forced.symbols
    if len(wanted) != len(demand.paths):
        return None
    sets = []
    for path, names in zip(demand.paths, wanted, strict=True):
        sets.append(tuple(place for place, name in enumerate(path.variables) if name in names))
    if not all(sets):
        return None
    prefilter = make_prefilter(demand, form, tuple(sets))
    return prefilter if len(prefilter.symbols) <= _MOST_BITS else None


def weigh_prefilters(
    demand: Demand,
    statistics: RowStatistics,
    costs: PrefilterCosts,
    tests: float,
    seen: float,
    tasks: Callable[[float], float],
    *,
    thorough: bool = False,
) -> list[Candidate]:
    """All candidates, the cheapest first; the one without a prefilter is among them.

    `tests` are the conditions that the matcher tests for each row, `seen` the share of the rows that row elimination
    leaves, `tasks` how many tasks search so many rows. How often conditions between rows hold is asked only if joins
    could be the cheapest, or if the look is to be `thorough`: Spark needs a job for it.
    """
    rows = statistics.rows * seen

    def whole(left: float) -> float:
        return query_cost(left, statistics, costs, tests, tasks(left))

    found = [Candidate(None, rows, statistics.rows * costs.scan / statistics.cores + whole(rows))]
    found += _weighed(demand, Form.MASKS, statistics, costs, seen, whole)
    if demand.buckets is not None:
        never = dict.fromkeys(statistics.together, 0.0)
        hopeful = replace(statistics, together=never)
        joins = list(_weighed(demand, Form.JOINS, hopeful, costs, seen, whole)) if never else []
        best = min(candidate.cost for candidate in found)
        if joins and (thorough or min(candidate.cost for candidate in joins) < best):
            joins = list(_weighed(demand, Form.JOINS, statistics, costs, seen, whole))
        else:
            joins = [replace(candidate, at_least=True) for candidate in joins]
        found += joins
    return sorted(found, key=lambda candidate: candidate.cost)


def _weighed(
    demand: Demand,
    form: Form,
    statistics: RowStatistics,
    costs: PrefilterCosts,
    seen: float,
    whole: Callable[[float], float],
) -> Iterator[Candidate]:
    """The candidates of one form; `whole` is what the rest of the query costs with so many rows."""
    options = [symbol_sets(path, whole=form is Form.MASKS) for path in demand.paths]
    combined = product(*_fewer(demand, form, options, statistics, costs, seen))
    for prefilter in dict.fromkeys(make_prefilter(demand, form, sets) for sets in combined):
        if len(prefilter.symbols) > _MOST_BITS:
            continue
        if form is not Form.MASKS and not any(component.joined for component in prefilter.components):
            # Without conditions between rows a join knows no more than masks, but for the order.
            continue
        before, left = prefilter_cost(prefilter, statistics, costs, seen)
        if min(left, statistics.rows / rows_in_bucket(demand.buckets, statistics)) > _MANY_BUCKETS:
            prefilter = replace(prefilter, few=False)
            # All rows are moved to where the buckets are.
            before += statistics.rows * costs.move / statistics.cores
        yield Candidate(prefilter, left, before + whole(left))


def _fewer(
    demand: Demand,
    form: Form,
    options: list[list[tuple[int, ...]]],
    statistics: RowStatistics,
    costs: PrefilterCosts,
    seen: float,
) -> list[list[tuple[int, ...]]]:
    """Options of which there are at most a hundred combinations: of each path those that are best by themselves."""
    most = _MOST_COMBINATIONS
    each = max(1, int(most ** (1 / len(options)) + 1e-9))
    fewer = []
    for path, sets in zip(demand.paths, options, strict=True):
        alone = replace(demand, paths=(path,))

        def worth(places: tuple[int, ...], alone: Demand = alone) -> float:
            prefilter = make_prefilter(alone, form, (places,))
            before, left = prefilter_cost(prefilter, statistics, costs, seen)
            return before + left * costs.move

        fewer.append(sorted(sets, key=worth)[:each])
    return fewer
