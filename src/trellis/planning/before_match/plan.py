"""What happens to the rows before the exchange: prefilter, row elimination, slices. The same for every language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import BeforeMatch, Form, Prefilter
from trellis.algebra.statistics import RowStatistics
from trellis.planning.before_match.costs import default_prefilter_costs
from trellis.planning.before_match.demands import Demand
from trellis.planning.before_match.prefilter import Wish, choose_prefilter, forced_prefilter, joins_of
from trellis.planning.before_match.slices import Cut, cut_slices, slice_tasks
from trellis.planning.hints import Hints

__all__ = ["Survey", "plan_before_match"]

_LEAST_SHARE = 1e-9

# Statistics of an input, or the reason why there are none.
Survey = Callable[
    [Demand, list[tuple[tuple[str, ...], tuple[Expression, ...]]], RowStatistics | None], RowStatistics | str
]


def plan_before_match(
    demand: Demand | str,
    keep: Expression | None,
    cut: Cut | str,
    tests: Callable[[RowStatistics], float],
    hints: Hints,
    survey: Survey | None,
) -> BeforeMatch:
    """Decide which rows can be dropped before the match, and how series are cut.

    `demand` is what a match needs, `keep` the condition of rows that somebody sees, `cut` how series may be cut; the
    first and the last may be reasons why not. `tests` says how many conditions are tested for each row.
    """
    wanted = cut if isinstance(cut, Cut) and hints.on("slices") else None
    statistics = _statistics(demand, keep, wanted, hints, survey)
    before = BeforeMatch(reason="switched off")
    if hints.on("prefilter"):
        before = _prefilter(demand, keep, wanted is not None, tests, hints, statistics)
    slices = None
    if wanted is not None:
        known = statistics if isinstance(statistics, RowStatistics) else None
        slices = cut_slices(wanted, hints.slices, known, _rows_left(before, demand, keep, known))
    rules = [] if keep is None else [f"eliminate_rows: only rows with {keep} can be seen"]
    rules += before.rules
    if slices is not None:
        rules.append(f"slices: {slices}")
    return replace(before, keep=keep, slices=slices, rules=tuple(rules))


def _statistics(
    demand: Demand | str, keep: Expression | None, cut: Cut | None, hints: Hints, survey: Survey | None
) -> RowStatistics | str:
    """Statistics where something hangs on them: a prefilter to choose, or slices to cut."""
    forced = hints.prefilter not in ("auto", "always") or bool(hints.symbols)
    chooses = hints.on("prefilter") and isinstance(demand, Demand) and not forced
    if not chooses and (cut is None or hints.slices is not None):
        return "nothing hangs on them"
    if survey is None or hints.statistics == "off":
        return "statistics are off"
    given = hints.statistics if isinstance(hints.statistics, RowStatistics) else None
    if isinstance(demand, Demand):
        return survey(demand, joins_of(demand) if chooses else [], given)
    assert cut is not None
    return survey(Demand(cut.keys, cut.buckets, (), {}), [], given)


def _rows_left(
    before: BeforeMatch, demand: Demand | str, keep: Expression | None, statistics: RowStatistics | None
) -> float:
    """About how many rows are moved to the matcher."""
    if statistics is None:
        return 0.0
    if before.considered:
        return next(one.rows for one in before.considered if one.prefilter == before.prefilter)
    return statistics.rows * (1.0 if isinstance(demand, str) else _seen(demand, keep, statistics))


def _seen(demand: Demand, keep: Expression | None, statistics: RowStatistics) -> float:
    """The share of the rows that row elimination leaves: those of the variables with conditions."""
    if keep is None:
        return 1.0
    # Shares that the user gave may be none at all.
    return min(1.0, _LEAST_SHARE + sum(statistics.shares.get(name, 1.0) for name in demand.conditions))


def _prefilter(
    demand: Demand | str,
    keep: Expression | None,
    sliceable: bool,
    tests: Callable[[RowStatistics], float],
    hints: Hints,
    statistics: RowStatistics | str,
) -> BeforeMatch:
    if isinstance(demand, str):
        return BeforeMatch(reason=demand)
    asked = hints.prefilter != "auto" or bool(hints.symbols)
    if asked and hints.prefilter != "always":
        form = None if hints.prefilter == "auto" else Form(hints.prefilter)
        prefilter = forced_prefilter(demand, Wish(form, hints.symbols))
        return _settled(prefilter, "the hints name no variables that can be used")
    if isinstance(statistics, str):
        return _settled(forced_prefilter(demand, Wish()) if asked else None, statistics)
    partitions = statistics.partitions if demand.keys else 1.0
    found = choose_prefilter(
        demand,
        statistics,
        default_prefilter_costs(),
        tests(statistics),
        _seen(demand, keep, statistics),
        lambda rows: slice_tasks(sliceable, partitions, statistics, rows),
        thorough=asked,
    )
    chosen = found[0]
    if chosen.prefilter is None and asked:
        chosen = next((candidate for candidate in found if candidate.prefilter is not None), chosen)
    rules: tuple[str, ...] = ()
    if chosen.prefilter is not None:
        left = f"about {chosen.rows:,.0f} of {statistics.rows:,.0f} rows are left"
        rules = (f"prefilter: {chosen.prefilter}, {left}",)
    return BeforeMatch(chosen.prefilter, tuple(found), rules=rules)


def _settled(prefilter: Prefilter | None, reason: str) -> BeforeMatch:
    """A prefilter that was asked for, without estimates; or none, with the reason."""
    if prefilter is None:
        return BeforeMatch(reason=reason)
    return BeforeMatch(prefilter, rules=(f"prefilter: {prefilter}",), reason="asked for by a hint")
