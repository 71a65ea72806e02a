"""Why a segment pattern did not match: how many segments each of its parts has alone, and where they join no more."""

from __future__ import annotations

import json
from dataclasses import replace

from trellis.algebra.bound import BoundQuery
from trellis.algebra.segments import SegmentScan
from trellis.analysis.source import Source
from trellis.execution.segments.parts import PartsFound, PartsTask
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.segments.choose import choose_tree
from trellis.planning.why.segments import SegmentPart, plan_parts
from trellis.reasons.report import Part, Step, Variable, Why, Words
from trellis.segment_functions import registered
from trellis.spark.excerpt import Excerpt
from trellis.spark.prepare import prepare
from trellis.spark.session import Session

__all__ = ["STEP_BUDGET", "why_segments"]

STEP_BUDGET = 200_000_000
"""Of the search for one part, unless a hint says otherwise."""

_WORDS = Words(
    alone="Segments that each variable has alone, as long as the pattern allows",
    funnel="How many segments there are of the pattern up to each part",
    match="a match",
    shares=False,
    whole="any segment",
)


def why_segments(
    bound: BoundQuery, source: Source, excerpt: Excerpt, session: Session, hints: Hints, rules: Firing
) -> Why:
    """The report of a segment pattern."""
    plan, parts = plan_parts(bound, source, hints, rules)
    scan = plan.scan
    assert isinstance(scan, SegmentScan)
    task = PartsTask(scan, tuple(part.scan for part in parts), registered(), choose_tree)
    found = PartsFound([0] * len(parts))
    for line in prepare(plan, excerpt.frame, session).mapInArrow(task, "found string").collect():
        found.add(PartsFound(**json.loads(line[0])))
    counted = list(zip(parts, found.counts, strict=True))
    steps = tuple(Step(part.text, count) for part, count in counted if not part.variable)
    notes = list(plan.warnings)
    if found.given_up:
        notes.append(f"the number of matches is not known: {found.given_up}")
    if None in found.counts:
        notes.append(f"'too many' are segments whose search was given up after {scan.budget:,}")
    query = bound.query
    report = Why(
        pattern=str(query.pattern),
        rows=found.rows,
        total=max(excerpt.total, found.rows),
        partitions=found.series,
        longest=found.longest,
        shortest=scan.tree.window.least,
        matches=found.matches,
        starts=found.rows,
        matched=found.matches or 0,
        variables=_variables(counted, {one.variable: str(one.condition) for one in query.definitions}),
        funnel=steps,
        within="" if query.within is None else str(query.within),
        notes=tuple(notes),
        words=_WORDS,
    )
    return replace(report, findings=tuple(_findings(report)))


def _variables(counted: list[tuple[SegmentPart, int | None]], written: dict[str, str]) -> tuple[Variable, ...]:
    names = list(dict.fromkeys(part.variable for part, _ in counted if part.variable))
    variables = []
    for name in names:
        (_, rows), *conditions = [(part, count) for part, count in counted if part.variable == name]
        parts = tuple(Part(part.text, count) for part, count in conditions)
        variables.append(Variable(name, written.get(name, ""), rows, parts))
    return tuple(variables)


def _findings(why: Why) -> list[str]:
    if why.rows == 0:
        return ["There are no rows in the input."]
    told = []
    if why.longest < why.shortest:
        needed = f"a match has at least {why.shortest:,} rows, and the longest partition has {why.longest:,}"
        told.append(f"No partition is long enough: {needed}.")
    for variable in why.variables:
        if variable.rows == 0:
            failing = [part.text for part in variable.parts if part.rows == 0]
            each = f" {' and '.join(failing)} holds for none." if failing else " Each condition alone holds for some."
            told.append(f"No segment is a {variable.name}.{each if variable.parts else ''}")
    if told or why.matches != 0:
        return told
    before = None
    for step in why.funnel:
        if step.count == 0:
            came = "" if before is None else f", though there are {before.count:,} of ({before.text})"
            return [f"There is no ({step.text}){came}."]
        before = step if step.count is not None else before
    return ["All parts are there; the conditions between them, or those that look at other variables, do not hold."]
