"""What happens to the rows before the exchange: prefilter, row elimination, slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.plan import Instruction
from trellis.algebra.prefilter import Candidate, Form, Prefilter
from trellis.algebra.statistics import RowStatistics
from trellis.analysis.condition_kinds import Kinds, classify
from trellis.planning.bucket_keys import Constant, time_buckets
from trellis.planning.columns import Columns
from trellis.planning.demands import Demand, demand_of
from trellis.planning.eliminate_rows import eliminate_rows
from trellis.planning.hints import Hints
from trellis.planning.prefilter import Wish, choose_prefilter, forced_prefilter, joins_of
from trellis.planning.prefilter_costs import default_prefilter_costs
from trellis.planning.prefilter_sizes import rows_in_bucket
from trellis.planning.simulate import tests_from_a_row

__all__ = ["BeforeMatch", "Survey", "plan_before_match"]

# Statistics of an input, or the reason why there are none.
Survey = Callable[[Demand, list[tuple[tuple[str, ...], tuple[Expression, ...]]]], RowStatistics | str]


@dataclass(frozen=True, slots=True)
class BeforeMatch:
    """The rows that are kept, how they are found, and what `explain` says about it."""

    prefilter: Prefilter | None = None
    considered: tuple[Candidate, ...] = ()
    keep: Expression | None = None
    rules: tuple[str, ...] = ()
    reason: str = ""


def plan_before_match(
    bound: BoundQuery,
    keys: tuple[Expression, ...],
    columns: Columns,
    instructions: tuple[Instruction, ...],
    hints: Hints,
    constant: Constant,
    survey: Survey | None,
) -> BeforeMatch:
    """Decide which rows can be dropped before the match, and how."""
    kinds = classify(bound)
    keep = eliminate_rows(bound, kinds, instructions) if hints.on("eliminate_rows") else None
    rules = [] if keep is None else [f"eliminate_rows: only rows with {keep} can be seen"]
    forced = hints.prefilter != "auto" or bool(hints.symbols)
    if not hints.on("prefilter") or (keep is not None and not forced):
        # What is left after elimination are the rows of the symbols themselves.
        reason = "only rows of the variables with conditions are left" if hints.on("prefilter") else "switched off"
        return BeforeMatch(keep=keep, rules=tuple(rules), reason=reason)
    demand = demand_of(bound, kinds, keys, time_buckets(bound, columns, constant))
    if isinstance(demand, str):
        return BeforeMatch(keep=keep, rules=tuple(rules), reason=demand)
    if forced and hints.prefilter != "always":
        form = None if hints.prefilter == "auto" else Form(hints.prefilter)
        prefilter = forced_prefilter(demand, Wish(form, hints.symbols))
        return _settled(prefilter, keep, rules, "the hints name no variable that can be used")
    statistics = (
        "statistics are off" if survey is None or hints.statistics == "off" else survey(demand, joins_of(demand))
    )
    if isinstance(statistics, str):
        return _settled(forced_prefilter(demand, Wish()) if forced else None, keep, rules, statistics)
    found = _choose(bound, kinds, demand, instructions, statistics)
    chosen = found[0]
    if chosen.prefilter is None and forced:
        chosen = next((candidate for candidate in found if candidate.prefilter is not None), chosen)
    if chosen.prefilter is not None:
        left = f"about {chosen.rows:,.0f} of {statistics.rows:,.0f} rows are left"
        rules.append(f"prefilter: {chosen.prefilter}, {left}")
    return BeforeMatch(chosen.prefilter, tuple(found), keep, tuple(rules))


def _settled(prefilter: Prefilter | None, keep: Expression | None, rules: list[str], reason: str) -> BeforeMatch:
    """A prefilter that was asked for, without estimates; or none, with the reason."""
    if prefilter is None:
        return BeforeMatch(keep=keep, rules=tuple(rules), reason=reason)
    return BeforeMatch(prefilter, (), keep, (*rules, f"prefilter: {prefilter}"), "asked for by a hint")


def _choose(
    bound: BoundQuery,
    kinds: Kinds,
    demand: Demand,
    instructions: tuple[Instruction, ...],
    statistics: RowStatistics,
) -> list[Candidate]:
    """The candidates, the best one first."""
    whole = forced_prefilter(demand, Wish())
    assert whole is not None
    looks_back = any(kinds.dependent.values())
    tests = tests_from_a_row(
        instructions,
        {number: statistics.shares.get(name, 1.0) for number, name in enumerate(bound.variables)},
        rows_in_bucket(whole, statistics),
        merged=not looks_back,
    )
    tasks = statistics.partitions if demand.keys else 1.0
    return choose_prefilter(demand, statistics, default_prefilter_costs(), lambda _: tests, lambda _: tasks)
