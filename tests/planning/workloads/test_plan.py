"""Whole workloads: searches, rivals, and patterns that come and go."""

from __future__ import annotations

from math import isclose

import pytest

from planning.workloads.made import clauses, random_statistics, random_workload, sequences
from trellis.errors import BindingError
from trellis.planning.workloads.plan import STRATEGIES, PlannedWorkload, SearchOptions, plan_workload
from trellis.planning.workloads.statistics import WorkloadStatistics


def planned(seed: int, strategy: str, steps: int = 600, **options: object) -> PlannedWorkload:
    made = random_workload(seed, 20, "ABCDEFGH")
    chosen = SearchOptions(strategy, seconds=600.0, steps=steps, **options)  # type: ignore[arg-type]
    return plan_workload(made, random_statistics(seed, made), chosen)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("strategy", ["annealing", "tabu"])
@pytest.mark.parametrize("left_deep", [False, True])
def test_a_search_is_never_worse_than_its_start(seed: int, strategy: str, left_deep: bool) -> None:
    found = planned(seed, strategy, left_deep=left_deep)
    for rival in ("none", "reordering", "sharing"):
        assert found.cost <= planned(seed, rival, left_deep=left_deep).cost * (1 + 1e-9)
    costs = [cost for _, _, cost in found.trace]
    steps = [step for step, _, _ in found.trace]
    assert costs[-1] <= costs[0] and steps == sorted(steps)


@pytest.mark.parametrize("strategy", ["annealing", "tabu"])
@pytest.mark.parametrize("neighbours", [2, 4])
def test_one_seed_gives_one_plan(strategy: str, neighbours: int) -> None:
    one, other = (planned(5, strategy, neighbours=neighbours).tree() for _ in range(2))
    assert one == other
    assert str(one) == str(other)


def test_more_steps_are_not_worse() -> None:
    costs = [planned(7, "tabu", steps).cost for steps in (1, 50, 400, 1600)]
    assert costs == sorted(costs, reverse=True)


def test_a_search_ends_in_time() -> None:
    made = random_workload(0, 60, "ABCDEF")
    found = plan_workload(made, random_statistics(0, made), SearchOptions("annealing", seconds=0.2))
    assert found.trace[-1][1] < 5.0


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("left_deep", [False, True])
def test_patterns_come_and_go_by_name(strategy: str, left_deep: bool) -> None:
    made = random_workload(3, 8, "ABCD")
    statistics = random_statistics(3, made)
    options = SearchOptions(strategy, left_deep=left_deep, seconds=60.0, steps=100)
    found = plan_workload(made[:-1], statistics, options)
    before = found.tree()
    found.add(made[-1:])
    after = found.tree()
    kept = {(root.pattern, before.nodes[root.node].pattern) for root in before.roots}
    assert kept < {(root.pattern, after.nodes[root.node].pattern) for root in after.roots}
    assert {node.pattern for node in before.nodes} <= {node.pattern for node in after.nodes}
    with pytest.raises(BindingError, match="Two patterns are called p8"):
        found.add(made[-1:])
    found.remove("p8")
    assert {node.pattern for node in found.tree().nodes} == {node.pattern for node in before.nodes}
    assert found.tree().estimate == pytest.approx(before.estimate)
    for name in list(found.shapes):
        found.remove(name)
    assert found.tree().nodes == () and found.cost == pytest.approx(0.0)


def test_nothing_is_shared_where_nothing_may_be() -> None:
    for strategy in ("none", "reordering"):
        tree = plan_workload(sequences("ABC", "ABC"), WorkloadStatistics(), SearchOptions(strategy)).tree()
        assert [len(names) for names in tree.users()] == [1] * 10


def test_sharing_follows_what_is_written() -> None:
    tree = plan_workload(sequences("ABCD", "ABDC"), WorkloadStatistics(), SearchOptions("sharing")).tree()
    shared = {str(node.pattern) for node, names in zip(tree.nodes, tree.users(), strict=True) if len(names) > 1}
    assert shared == {"A 0", "B 0", "C 0", "D 0", "SEQ(A 0, B 1)"}


def test_redundancy_shares_neighbours_that_do_not_overlap() -> None:
    made = sequences("XABYCD", "PABQCD", "ABRS")
    tree = plan_workload(made, WorkloadStatistics(), SearchOptions("redundancy")).tree()
    users = dict(zip((str(node.pattern) for node in tree.nodes), tree.users(), strict=True))
    assert users["SEQ(A 0, B 1)"] == ("p1", "p2", "p3")
    assert users["SEQ(C 0, D 1)"] == ("p1", "p2")


def test_merging_shares_what_does_not_stand_side_by_side() -> None:
    made = sequences("AXC", "AYC")
    rates = {"A": 1.0, "C": 1.0, "X": 2.0, "Y": 2.0}
    tree = plan_workload(made, WorkloadStatistics(rates), SearchOptions("merging")).tree()
    users = dict(zip((str(node.pattern) for node in tree.nodes), tree.users(), strict=True))
    assert users["SEQ(A 0, C 1)"] == ("p1", "p2")


def test_equal_patterns_are_one_node_with_two_names() -> None:
    tree = plan_workload(sequences("AB", "AB"), WorkloadStatistics(), SearchOptions(steps=10)).tree()
    assert len(tree.nodes) == 3
    assert [(root.pattern, root.node) for root in tree.roots] == [("p1", 2), ("p2", 2)]


def test_what_looks_alike_is_not_shared() -> None:
    made = clauses(
        "SEQ(A a, B b) WITHIN 5",
        "SEQ(B b, A a) WITHIN 5",
        "SEQ(A a, B b) WHERE { a.x < b.x } WITHIN 5",
        "SEQ(A a, B b) WHERE { a.y < b.y } WITHIN 5",
        "SEQ(A a, B b) WITHIN 5 events",
        "SEQ(A a, B b) WHERE { [k] } WITHIN 5",
        "AND(A a, B b) WITHIN 5",
    )
    tree = plan_workload(made, WorkloadStatistics(), SearchOptions(steps=10)).tree()
    assert len({root.node for root in tree.roots}) == len(made)


def test_an_unknown_strategy() -> None:
    with pytest.raises(BindingError, match="There is no strategy greedy"):
        plan_workload(sequences("AB"), WorkloadStatistics(), SearchOptions("greedy"))


@pytest.mark.parametrize("strategy", ["annealing", "tabu"])
def test_a_search_that_finds_nothing_better_ends(strategy: str) -> None:
    made = random_workload(1, 4, "ABC")
    one = plan_workload(made, random_statistics(1, made), SearchOptions(strategy, seconds=600.0))
    other = plan_workload(made, random_statistics(1, made), SearchOptions(strategy, seconds=600.0, seed=7))
    assert isclose(one.cost, other.cost, rel_tol=1e-9)
