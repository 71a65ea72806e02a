"""Plans of one clause against all plans that there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import exp, isclose
from random import Random

import pytest

from planning.workloads.made import clauses, random_statistics, random_workload, sequences, shapes
from trellis.planning.workloads.forms import Shape
from trellis.planning.workloads.local_plans import Choice, best_plan, in_order, plan_cost, sets_of
from trellis.planning.workloads.statistics import WorkloadStatistics


def all_trees(mask: int) -> Iterator[Choice]:
    if not mask & (mask - 1):
        yield {}
        return
    inside = (mask - 1) & mask
    while inside:
        other = mask & ~inside
        if inside > other:
            for left in all_trees(inside):
                for right in all_trees(other):
                    yield {mask: (inside, other), **left, **right}
        inside = (inside - 1) & mask


def all_orders(shape: Shape) -> Iterator[Choice]:
    for order in permutations(range(len(shape.clause.parts))):
        yield in_order(shape, list(order))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("left_deep", [False, True])
def test_the_best_plan_is_the_best_of_all(seed: int, left_deep: bool) -> None:
    made = random_workload(seed, 6)
    for shape in shapes(made, random_statistics(seed, made), left_deep=left_deep):
        plans = list(all_orders(shape) if left_deep else all_trees(shape.full))
        least = min(plan_cost(shape, plan) for plan in plans)
        assert isclose(plan_cost(shape, best_plan(shape)), least)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("left_deep", [False, True])
def test_the_best_plan_with_a_given_node(seed: int, left_deep: bool) -> None:
    made = random_workload(seed, 6)
    random = Random(seed)
    for shape in shapes(made, random_statistics(seed, made), left_deep=left_deep):
        if shape.full < 7:
            continue
        kept = random.choice([mask for mask in range(3, shape.full) if mask.bit_count() > 1])
        plans = list(all_orders(shape) if left_deep else all_trees(shape.full))
        least = min(plan_cost(shape, plan) for plan in plans if kept in sets_of(shape, plan))
        found = best_plan(shape, kept)
        assert kept in sets_of(shape, found)
        assert isclose(plan_cost(shape, found), least)


def test_the_formulas_of_the_paper() -> None:
    rates = {"A": 2.0, "B": 3.0, "C": 5.0}
    statistics = WorkloadStatistics(rates, {("`?0`.x < `?1`.x", ("A", "B")): 0.25})
    made = clauses("AND(A a, B b, C c) WHERE { a.x < b.x } WITHIN 10")
    (order,) = shapes(made, statistics, left_deep=True)
    assert isclose(plan_cost(order, in_order(order, [0, 1, 2])), 20 + 20 * 30 * 0.25 + 20 * 30 * 50 * 0.25)
    (tree,) = shapes(made, statistics)
    leaves = 20 + 30 + 50
    assert isclose(plan_cost(tree, {7: (5, 2), 5: (1, 4)}), leaves + 20 * 50 + 20 * 30 * 50 * 0.25)


def test_order_is_a_condition() -> None:
    (three,) = shapes(sequences("ABC", within=1))
    assert isclose(three.costs[7], 1 / 6) and isclose(three.costs[5], 1 / 2)
    (both,) = shapes(clauses("AND(SEQ(A a, B b), SEQ(C c, D d)) WITHIN 1"))
    assert isclose(both.costs[0b1111], 1 / 4) and isclose(both.costs[0b0101], 1)


def test_sets_of_events() -> None:
    (shape,) = shapes(clauses("AND(A+ a[], B b) WITHIN 2"), WorkloadStatistics({"A": 1.5, "B": 0.5}))
    assert isclose(shape.costs[1], exp(3.0) - 1) and isclose(shape.costs[3], exp(3.0) - 1)
    (many,) = shapes(clauses("SEQ(A+ a[]) WITHIN 1000"), WorkloadStatistics({"A": 100.0}))
    assert many.costs[1] < float("inf")


def test_a_window_of_events_is_one_of_time() -> None:
    (shape,) = shapes(clauses("SEQ(A a) WITHIN 50 events"), WorkloadStatistics({"A": 2.0}, event_rate=10.0))
    assert isclose(shape.costs[1], 2.0 * 5.0)


def test_clauses_of_many_parts_have_plans() -> None:
    word = "ABCDEFGHIJKLMNOP"
    rates = {letter: 0.1 + number % 7 for number, letter in enumerate(word)}
    for left_deep in (False, True):
        (shape,) = shapes(sequences(word), WorkloadStatistics(rates), left_deep=left_deep)
        written = plan_cost(shape, in_order(shape, range(len(word))))
        rare_first = in_order(shape, sorted(range(len(word)), key=lambda part: rates[word[part]]))
        assert plan_cost(shape, best_plan(shape)) <= min(written, plan_cost(shape, rare_first)) * (1 + 1e-9)
