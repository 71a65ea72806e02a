"""Why a row pattern did not match: one pass over its rows, whose counts are brought together here."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from trellis.algebra.automaton import Op
from trellis.algebra.bound import BoundQuery
from trellis.algebra.partial import PartialScan
from trellis.analysis.source import Source
from trellis.execution.rows.partial import BEYOND_ROWS, Partial, PartialTask, joined
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.why.plan import plan_partial
from trellis.reasons.findings import find
from trellis.reasons.report import End, Miss, MissRow, Part, Step, Variable, Why
from trellis.spark.excerpt import Excerpt
from trellis.spark.prepare import prepare
from trellis.spark.session import Session

__all__ = ["why_rows"]


def why_rows(
    bound: BoundQuery, source: Source, excerpt: Excerpt, session: Session, hints: Hints, rules: Firing, nearest: int
) -> Why:
    """The report of a row pattern; an excerpt whose rows are not known is the whole input."""
    plan, partial = plan_partial(bound, source, hints, rules, nearest)
    lines = prepare(plan, excerpt.frame, session).mapInArrow(PartialTask(partial), "found string").collect()
    found = joined((Partial(**json.loads(line[0])) for line in lines), nearest)
    report = _Report(bound, partial, found, max(excerpt.total, found.rows), plan.warnings).why()
    return replace(report, findings=find(report, excerpt.frame, session, dict(bound.conditions)))


@dataclass(frozen=True, slots=True)
class _Report:
    bound: BoundQuery
    plan: PartialScan
    found: Partial
    total: int
    warnings: tuple[str, ...]

    def why(self) -> Why:
        found, plan, query = self.found, self.plan, self.bound.query
        return Why(
            pattern=str(query.pattern),
            rows=found.rows,
            total=self.total,
            partitions=found.series,
            longest=found.longest,
            shortest=plan.missing[0],
            matches=None if found.given_up else found.matches,
            starts=found.asked,
            matched=found.matched,
            variables=self._variables(),
            funnel=self._funnel(),
            ends=self._ends(),
            cut=found.cut,
            within="" if query.within is None else str(query.within),
            nearest=tuple(self._miss(miss) for miss in found.nearest),
            columns=tuple(name for name, _ in plan.shown),
            notes=tuple(self._notes()),
        )

    def _variables(self) -> tuple[Variable, ...]:
        written = {one.variable: str(one.condition) for one in self.bound.query.definitions}
        passed = self.found.passed or [0] * len(self.plan.scan.conditions)
        variables = []
        for name, tests in zip(self.bound.variables, self.plan.tests, strict=True):
            parts = tuple(Part(test.text, passed[test.condition] if test.local else None) for test in tests)
            counted = [part.rows for part in parts if part.rows is not None]
            variables.append(Variable(name, written.get(name, ""), min([self.found.rows, *counted]), parts))
        return tuple(variables)

    def _funnel(self) -> tuple[Step, ...]:
        reached = self.found.reached or [0] * len(self.plan.elements)
        return tuple(Step(str(element), count) for element, count in zip(self.plan.elements, reached, strict=True))

    def _ends(self) -> tuple[End, ...]:
        counts: Counter[tuple[str, str, str]] = Counter()
        for place, left, count in self.found.ends:
            end = self._end(place, left)
            counts[end.element, end.reason, end.text] += count
        return tuple(End(*key, count) for key, count in counts.most_common())

    def _end(self, place: int, left: int) -> End:
        step = self.plan.instructions[place]
        if step.op is Op.ANCHOR_START:
            return End("^", "anchor", "^: a match must begin with the first row of its partition", 1)
        if step.op is Op.ANCHOR_END:
            return End("$", "anchor", "$: a match must end with the last row of its partition", 1)
        element = self.plan.elements[step.variable]
        if left == BEYOND_ROWS:
            return End(str(element), "rows", "", 1)
        if left == 0:
            return End(str(element), "within", "", 1)
        return End(str(element), "condition", self.plan.tests[element.variable][-left].text, 1)

    def _miss(self, miss: dict[str, Any]) -> Miss:
        keys = zip((name for name, _ in self.plan.keys), miss["keys"], strict=True)
        elements = self.plan.elements
        rows = (MissRow(row, str(elements[at]) if at >= 0 else "", tuple(cells)) for row, at, cells in miss["rows"])
        end = self._end(miss["place"], miss["left"])
        return Miss(tuple(keys), miss["taken"], miss["grade"][0], end, tuple(rows), miss["gap"])

    def _notes(self) -> list[str]:
        found = self.found
        notes = list(self.warnings)
        if found.given_up:
            notes.append(f"the number of matches is not known: {found.given_up}")
        if found.asked < found.rows:
            notes.append(
                f"{found.asked:,} of {found.rows:,} rows were tried as starts, from all over: all would take too long"
            )
        if found.unknown:
            notes.append(f"{found.unknown:,} of these have too many ways to follow them all")
        if found.failed:
            notes.append(f"{found.failed:,} tests failed with an error, and count as not satisfied")
        return notes
