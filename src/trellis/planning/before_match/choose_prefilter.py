"""Which prefilter a query gets, if any: the one that hints force, or the cheapest by estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import BeforeMatch, Prefilter
from trellis.algebra.statistics import RowStatistics
from trellis.planning.before_match.costs import default_prefilter_costs
from trellis.planning.before_match.demands import Demand
from trellis.planning.before_match.prefilter import Forced, forced_prefilter, weigh_prefilters
from trellis.planning.before_match.slices import slice_tasks

__all__ = ["Choosing", "choose_prefilter", "seen_share"]

_LEAST_SHARE = 1e-9


@dataclass(frozen=True, slots=True)
class Choosing:
    """What the choice depends on besides the query.

    `statistics` of the input, or why there are none; `keep`, the condition of rows that somebody sees; whether series
    are `sliceable`; how many `tests` of conditions there are for each row. `forced` names a prefilter, `always` takes
    the best one even if none is cheaper.
    """

    statistics: RowStatistics | str
    keep: Expression | None
    sliceable: bool
    tests: Callable[[RowStatistics], float]
    forced: Forced | None = None
    always: bool = False


def choose_prefilter(demand: Demand | str, choosing: Choosing) -> BeforeMatch:
    """The prefilter with all that were considered, or the reason why there is none."""
    statistics, always = choosing.statistics, choosing.always
    if isinstance(demand, str):
        return BeforeMatch(reason=demand)
    if choosing.forced is not None:
        prefilter = forced_prefilter(demand, choosing.forced)
        return _settled(prefilter, "the hints name no variables that can be used")
    if isinstance(statistics, str):
        return _settled(forced_prefilter(demand, Forced()) if always else None, statistics)
    partitions = statistics.partitions if demand.keys else 1.0
    found = weigh_prefilters(
        demand,
        statistics,
        default_prefilter_costs(),
        choosing.tests(statistics),
        seen_share(demand, choosing.keep, statistics),
        lambda rows: slice_tasks(choosing.sliceable, partitions, statistics, rows),
        thorough=always,
    )
    chosen = found[0]
    if chosen.prefilter is None and always:
        chosen = next((candidate for candidate in found if candidate.prefilter is not None), chosen)
    return BeforeMatch(chosen.prefilter, tuple(found))


def seen_share(demand: Demand, keep: Expression | None, statistics: RowStatistics) -> float:
    """The share of the rows that row elimination leaves: those of the variables with conditions."""
    if keep is None:
        return 1.0
    # Shares that hints give may be none at all.
    return min(1.0, _LEAST_SHARE + sum(statistics.shares.get(name, 1.0) for name in demand.conditions))


def _settled(prefilter: Prefilter | None, reason: str) -> BeforeMatch:
    """A prefilter that was asked for, without estimates; or none, with the reason."""
    if prefilter is None:
        return BeforeMatch(reason=reason)
    return BeforeMatch(prefilter, reason="asked for by a hint")
