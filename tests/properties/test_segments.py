"""Segment queries against the oracle, without Spark: random patterns, conditions, references, skips and plans."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from unittest import mock

import numba
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import local_segments
import naive_segments as ns
from properties.segment_strategies import (
    SCHEMA,
    Case,
    Evaluate,
    bound_cases,
    choices,
    measured_cases,
    plain_cases,
    read,
    skip_cases,
    walk,
)
from trellis.algebra.segments import Choices
from trellis.errors import DataError, UnsupportedError
from trellis.execution.segments import functions, zoom
from trellis.execution.segments.rows import Rows

batches = st.sampled_from((1, 3, 1000))
Plan = tuple[Choices, tuple[str, ...]]  # what is forced, and the rules that are off
plans: st.SearchStrategy[Plan] = st.tuples(
    choices, st.sampled_from([(), (), ("push_windows",), ("place_filters",), ("push_windows", "place_filters")])
)
Found = tuple[Any, ...]  # key, first row, last row, first and last row of each wanted variable


@pytest.fixture(autouse=True, scope="module")
def no_segment_is_longer_than_its_tables() -> Iterator[None]:
    """Kernels do not look whether a segment is longer than the tables that were made for it: they read beyond them."""
    evaluate = functions._evaluate

    def checked(rows: Rows, function: Any, segments: Any, *args: Any) -> Any:
        for starts, ends in segments:
            assert (ends - starts + 1).max(initial=1) <= rows.longest
        return evaluate(rows, function, segments, *args)

    with mock.patch.object(functions, "_evaluate", checked):
        yield


def times(factor: int) -> settings:
    """So many times the examples of the profile; without the JIT a case takes much longer."""
    return settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else factor))


def run(case: Case, plan: Plan, batch: int, *clauses: Any) -> list[dict[str, Any]]:
    try:
        forced, off = plan
        return local_segments.run(case.clause(*clauses), case.rows, SCHEMA, {}, forced, batch, off=off)
    except UnsupportedError:
        assume(not is_circular(case))
        raise


def found(case: Case, result: list[dict[str, Any]]) -> list[Found]:
    names = ["k", "s", "e", *(f"{name}_{end}" for name in case.wanted for end in ("first", "last"))]
    return [tuple(row[name] for name in names) for row in result]


def shown(key: int, match: ns.Result) -> Found:
    start, end, *bindings = match
    return (key, start, end, *(row for binding in bindings for row in binding or (None, None)))


def in_order(matches: list[Found]) -> list[Found]:
    return sorted(matches, key=lambda match: [-1 if row is None else row for row in match])


def is_circular(case: Case) -> bool:
    """Whether two quantified or negated parts, side by side, read each other's variables: that may be refused."""
    variables = {variable.name: variable for variable in case.variables}
    parts = [part for part in walk(case.pattern) if isinstance(part, (ns.Repeat, ns.Not))]
    return any(
        ns.open_reads(one, variables) & ns.bindable(other) and ns.open_reads(other, variables) & ns.bindable(one)
        for one, other in combinations(parts, 2)
    )


def matches_of(case: Case) -> dict[int, set[ns.Result]]:
    return {key: ns.find(case.pattern, case.variables, rows, case.wanted) for key, rows in case.series.items()}


@times(3)
@given(plain_cases(), plans, batches)
def test_segments(case: Case, plan: Plan, batch: int) -> None:
    expected = [
        (key, *span)
        for key, rows in case.series.items()
        for span in sorted(ns.segments(case.pattern, case.variables, rows))
    ]
    assert in_order(found(case, run(case, plan, batch))) == expected


@times(3)
@given(plain_cases(), plans, batches)
def test_small_spaces(case: Case, plan: Plan, batch: int) -> None:
    """Rows of small search spaces are taken out of the others; here of all but the largest."""
    expected = [
        (key, *span)
        for key, rows in case.series.items()
        for span in sorted(ns.segments(case.pattern, case.variables, rows))
    ]
    with mock.patch.object(zoom, "_LEAST_ROWS", 1), mock.patch.object(zoom, "_SHARE", 0.9):
        assert in_order(found(case, run(case, plan, batch))) == expected


@times(3)
@given(bound_cases(references=False), plans, batches)
def test_bindings(case: Case, plan: Plan, batch: int) -> None:
    expected = [shown(key, match) for key, matches in matches_of(case).items() for match in matches]
    assert in_order(found(case, run(case, plan, batch))) == in_order(expected)


@times(3)
@given(bound_cases(), plans, batches)
def test_references(case: Case, plan: Plan, batch: int) -> None:
    expected = [shown(key, match) for key, matches in matches_of(case).items() for match in matches]
    assert in_order(found(case, run(case, plan, batch))) == in_order(expected)


@times(3)
@given(skip_cases(), plans, batches)
def test_skips(drawn: tuple[Case, str, tuple[str, ...]], plan: Plan, batch: int) -> None:
    case, text, mode = drawn
    clauses = ((), f"AFTER MATCH SKIP {text}")
    try:
        expected = [
            shown(key, match)
            for key, matches in matches_of(case).items()
            for match in ns.skip(matches, mode, case.wanted)
        ]
    except ValueError:
        with pytest.raises(DataError, match="SKIP"):
            run(case, plan, batch, *clauses)
        return
    assert found(case, run(case, plan, batch, *clauses)) == expected


@times(3)
@given(measured_cases(), plans, batches)
def test_measures(drawn: tuple[Case, list[tuple[str | None, str, Evaluate]]], plan: Plan, batch: int) -> None:
    case, measures = drawn
    expected: dict[Found, list[Any]] = {}
    for key, matches in matches_of(case).items():
        for match in matches:
            spans = {None: match[:2], **dict(zip(case.wanted, match[2:], strict=True))}
            rows = case.series[key]
            values = [read(text, evaluate, rows, spans[name]) for name, text, evaluate in measures]
            expected[shown(key, match)] = values
    result = run(case, plan, batch, [f"{text} AS m{place}" for place, (_, text, _) in enumerate(measures)])
    assert in_order(found(case, result)) == in_order(list(expected))
    for match, row in zip(found(case, result), result, strict=True):
        for place, value in enumerate(expected[match]):
            mine = row[f"m{place}"]
            same = math.isclose(mine, value, abs_tol=1e-12) if isinstance(value, float) and mine is not None else None
            assert mine == value if same is None else same, (measures[place][1], match, mine, value)
