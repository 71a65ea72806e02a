"""How far partial matches come, against the definition: random patterns, conditions and rows, without Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import local
import naive
import naive_why
from naive import NaiveQuery
from naive_why import AT_END, AT_START, Attempt, Report
from properties.render import render_clause
from properties.strategies import cases, row_local_cases
from trellis.algebra.automaton import Op
from trellis.algebra.partial import PartialScan
from trellis.execution.chunks import Chunk, read_chunks
from trellis.execution.rows.partial import PartialMatcher, PartialTask
from trellis.kernels import opcodes as o
from trellis.kernels.partial import LAST_ROW, LEFT_BITS, NO_ROW, ROW_BITS
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.driver import bind_rows
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.why.plan import QUIET, plan_partial

_SCHEMA = [("id", "int"), ("k", "int"), ("t", "int"), ("x", "int"), ("y", "double"), ("s", "string"), ("b", "boolean")]

Case = tuple[list[dict[str, Any]], list[str], NaiveQuery]

more = settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 3))


def planned(query: NaiveQuery, rows: list[dict[str, Any]], chunk_rows: int = 1000) -> tuple[PartialScan, list[Chunk]]:
    """The plan, and the chunks that a worker would get."""
    parsed = parse_clause_text(render_clause(query))
    source, rules = local.source_of(_SCHEMA), Firing(frozenset(QUIET))
    hints = Hints.of({"off": QUIET, "chunk_rows": chunk_rows})
    plan, partial = plan_partial(bind_rows(parsed, source, hints, rules), source, hints, rules, 3)
    table = local.sorted_rows(plan, rows, _SCHEMA)
    return partial, list(read_chunks(iter(table.to_batches(max_chunksize=5)), partial.scan.keys, chunk_rows))


def expected(case: Case, plan: PartialScan) -> Report:
    """What the definition says, with the parts of conditions in the order in which the plan tests them."""
    rows, _, query = case
    define = dict(query.define)
    parts = {}
    for variable, tests in zip(plan.scan.variables, plan.tests, strict=False):
        written = naive_why.conjuncts(define[variable]) if variable in define else []
        assert sorted(test.part for test in tests) == list(range(len(written)))
        parts[variable] = tuple(written[test.part] for test in tests)
    try:
        return naive_why.why(rows, query, parts, limit=20_000)
    except (naive.TooManyCandidates, naive.SkipError):
        assume(False)
        raise


def attempt_of(plan: PartialScan, rank: int, place: int, offset: int) -> Attempt:
    step = plan.instructions[place]
    element = {Op.ANCHOR_START: AT_START, Op.ANCHOR_END: AT_END}.get(step.op, step.variable)
    row = LAST_ROW - (rank & LAST_ROW) - offset
    return Attempt(rank >> (ROW_BITS + LEFT_BITS), rank >> ROW_BITS & NO_ROW, row, element)


def check(case: Case, chunk_rows: int, sweeps: bool) -> None:
    rows, _, query = case
    query = replace(query, timeouts=False)
    plan, chunks = planned(query, rows, chunk_rows)
    report = expected((rows, [], query), plan)
    assert tuple(plan.scan.variables[element.variable] for element in plan.elements) == report.elements
    starts = [start for series in report.starts for start in series]
    seen = 0
    reached = [0] * len(plan.elements)
    cut = 0
    for chunk in chunks:
        matcher = PartialMatcher(plan)
        matcher.sweeps = matcher.sweeps and sweeps
        followed = matcher.follow_chunk(chunk)
        cut += followed.cut
        reached = [old + int(new) for old, new in zip(reached, followed.reached, strict=True)]
        for row in range(chunk.table.num_rows):
            theirs = starts[seen + row]
            assert followed.outcomes[row] == (o.REACHES_MATCH if theirs.matched else o.REACHES_NONE), row
            low = int(max(offset for offset in chunk.offsets if offset <= row))
            if not theirs.matched:
                assert attempt_of(plan, int(followed.ranks[row]), int(followed.places[row]), low) == theirs.nearest, row
        seen += chunk.table.num_rows
    assert seen == report.rows
    for element, count in enumerate(reached):
        assert count == sum(element in start.reached for start in starts), element
    assert cut == sum(start.cut and not start.matched for start in starts)


def check_sums(case: Case, chunk_rows: int) -> None:
    """What a worker tells: the sums, and the nearest misses with their rows."""
    rows, _, query = case
    query = replace(query, timeouts=False)
    plan, chunks = planned(query, rows, chunk_rows)
    report = expected((rows, [], query), plan)
    starts = [start for series in report.starts for start in series]
    found = PartialTask(plan).follow(batch for chunk in chunks for batch in chunk.table.to_batches())
    assert found.rows == report.rows and found.series == len([series for series in report.starts if series])
    assert found.matches == report.matches
    assert found.matched == sum(start.matched for start in starts)
    for variable, tests in zip(plan.scan.variables, plan.tests, strict=False):
        if all(test.local for test in tests):
            number = plan.scan.variables.index(variable)
            assert found.passed[number] == report.passing[variable], variable
    failed = [start.nearest for start in starts if not start.matched]
    assert sum(count for _, _, count in found.ends) == len(failed)
    grades = sorted([one.missing, one.left] for one in failed if one is not None)
    nearest = [miss["grade"][:2] for miss in found.nearest]
    assert nearest == sorted(nearest) and nearest[:1] == grades[:1]
    for miss in found.nearest:
        series = next(s for s in report.starts if s and miss["first"] <= len(s) and _has(s[miss["first"] - 1], miss))
        theirs = series[miss["first"] - 1]
        assert miss["gap"] or [element for _, element, _ in miss["rows"] if element >= 0] == list(theirs.way)


def _has(start: naive_why.FromStart, miss: dict[str, Any]) -> bool:
    nearest = start.nearest
    if start.matched or nearest is None:
        return False
    same = [nearest.missing, nearest.left] == miss["grade"][:2] and len(start.way) == miss["taken"]
    return same and (miss["gap"] > 0 or [e for _, e, _ in miss["rows"] if e >= 0] == list(start.way))


@more
@given(cases(), st.sampled_from([1, 4, 1000]))
def test_partial_matches_are_naive(case: Case, chunk_rows: int) -> None:
    check(case, chunk_rows, True)


@more
@given(row_local_cases(), st.sampled_from([1, 4, 1000]), st.booleans())
def test_both_kernels_are_naive_where_conditions_look_at_rows_only(case: Case, chunk_rows: int, sweeps: bool) -> None:
    check(case, chunk_rows, sweeps)


@given(cases(), st.sampled_from([1, 4, 1000]))
def test_sums_and_nearest_misses_are_naive(case: Case, chunk_rows: int) -> None:
    check_sums(case, chunk_rows)
