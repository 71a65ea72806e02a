"""What happens to the rows before the exchange: prefilter, row elimination, slices. The same for every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import BeforeMatch, Form
from trellis.algebra.statistics import Question, RowStatistics
from trellis.analysis.source import Source
from trellis.planning.before_match.choose_prefilter import Choosing, seen_share
from trellis.planning.before_match.demands import Demand
from trellis.planning.before_match.prefilter import Forced, joins_of
from trellis.planning.before_match.slices import Cut
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.rules import PREFILTER, SLICES

__all__ = ["Wanting", "plan_before_match"]


@dataclass(frozen=True, slots=True)
class Wanting:
    """What an engine says of a query: what every match needs, and how series may be cut; or reasons why not.

    `keep` is the condition of rows that somebody sees, `tests` says how many conditions are tested for each row.
    """

    demand: Demand | str
    cut: Cut | str
    tests: Callable[[RowStatistics], float]
    keep: Expression | None = None


def plan_before_match(wanting: Wanting, source: Source, hints: Hints, rules: Firing) -> BeforeMatch:
    """Decide which rows can be dropped before the match, and how series are cut."""
    demand, keep = wanting.demand, wanting.keep
    cut = wanting.cut if isinstance(wanting.cut, Cut) and hints.on(SLICES.name) else None
    forced = _forced(hints)
    statistics = _statistics(demand, cut, hints, source, chooses=forced is None)
    choosing = Choosing(statistics, keep, cut is not None, wanting.tests, forced, hints.prefilter == "always")
    before = rules.apply(PREFILTER, demand, choosing) or BeforeMatch(reason="switched off")
    slices = None
    if cut is not None:
        known = statistics if isinstance(statistics, RowStatistics) else None
        slices = rules.apply(SLICES, cut, hints.slices, known, _rows_left(before, demand, keep, known))
    return replace(before, keep=keep, slices=slices)


def _forced(hints: Hints) -> Forced | None:
    """The prefilter that hints name."""
    named = hints.prefilter not in ("auto", "always")
    if not named and not (hints.prefilter == "auto" and hints.symbols):
        return None
    return Forced(Form(hints.prefilter) if named else None, hints.symbols)


def _statistics(
    demand: Demand | str, cut: Cut | None, hints: Hints, source: Source, *, chooses: bool
) -> RowStatistics | str:
    """Statistics where something hangs on them: a prefilter to choose, or slices to cut."""
    chooses = chooses and hints.on(PREFILTER.name) and isinstance(demand, Demand)
    if not chooses and (cut is None or hints.slices is not None):
        return "nothing hangs on them"
    if hints.statistics == "off":
        return "statistics are off"
    known = hints.statistics if isinstance(hints.statistics, RowStatistics) else None
    if isinstance(demand, Demand):
        joined = joins_of(demand) if chooses else ()
        return source.survey(Question(demand.keys, demand.buckets, demand.conditions, joined, known))
    assert cut is not None
    return source.survey(Question(cut.keys, cut.buckets, known=known))


def _rows_left(
    before: BeforeMatch, demand: Demand | str, keep: Expression | None, statistics: RowStatistics | None
) -> float:
    """About how many rows are moved to the matcher."""
    if statistics is None:
        return 0.0
    if before.considered:
        return next(one.rows for one in before.considered if one.prefilter == before.prefilter)
    return statistics.rows * (1.0 if isinstance(demand, str) else seen_share(demand, keep, statistics))
