"""Trees find what clauses mean, whatever the plan."""

from __future__ import annotations

from random import Random

import pytest

from planning.workloads.made import clauses, random_pattern, random_statistics
from planning.workloads.reader import Events, matches_by_tree, matches_of
from trellis.algebra.clauses import Clause
from trellis.algebra.shared_tree import JoinNode, SharedTree
from trellis.planning.workloads.plan import STRATEGIES, SearchOptions, plan_workload
from trellis.planning.workloads.statistics import WorkloadStatistics


def some_events(random: Random, count: int, types: str) -> Events:
    times = sorted(random.randint(0, count) for _ in range(count))
    return [
        {
            "type": random.choice(types),
            "time": time,
            "x": random.choice([None, 0, 1, 2]),
            "y": random.randint(0, 2),
            "k": random.choice([None, 1, 1, 2]),
        }
        for time in times
    ]


def planned(made: list[Clause], strategy: str, seed: int, *, left_deep: bool = False) -> SharedTree:
    options = SearchOptions(strategy, left_deep=left_deep, seconds=60.0, steps=60, seed=seed)
    return plan_workload(made, random_statistics(seed, made), options).tree()


@pytest.mark.parametrize("seed", range(30))
def test_every_plan_finds_the_same(seed: int) -> None:
    random = Random(seed)
    made = clauses(*(random_pattern(random, "AB", 4, alternatives=random.random() < 0.4) for _ in range(6)))
    events = some_events(random, 10, "AABBC")
    truth = {(clause.pattern, clause.number): matches_of(clause, events) for clause in made}
    for strategy in STRATEGIES:
        tree = planned(made, strategy, seed, left_deep=random.random() < 0.3)
        assert matches_by_tree(tree, events) == truth, (strategy, str(tree))


def test_the_parts_of_a_node() -> None:
    made = clauses(
        "AND(A a, SEQ(B b, A c)) WHERE { [k] and a.x = b.y and a.x < c.x and b.y = c.y and b.x > 3 } WITHIN 5"
    )
    tree = plan_workload(made, WorkloadStatistics({"B": 0.1}), SearchOptions("none")).tree()
    joins = [node for node in tree.nodes if isinstance(node, JoinNode)]
    first, last = joins
    assert [str(one) for one in first.equations] == ["`0`.x = `1`.y"]
    assert [str(key) for key in first.keys] == ["k"]
    assert first.before == () and first.distinct == ()  # other types
    assert last.before != () and len(last.distinct) == 1
    assert len(last.equations) == 1 and len(last.tests) == 1
    leaf = next(node for node in tree.nodes if node.pattern.parts[0].startswith("B"))
    assert str(leaf.pattern) == "B {3 < `?0`.x} 0"


def test_the_text_of_a_tree() -> None:
    made = clauses("SEQ(A a, B b, ~(N n)) WITHIN 10", "SEQ(A x, B y, C z) WITHIN 5")
    tree = plan_workload(made, WorkloadStatistics(), SearchOptions("sharing")).tree()
    assert str(tree).splitlines() == [
        "#0  A 0  WITHIN 10  [2 patterns]",
        "#1  B 0  WITHIN 10  [2 patterns]",
        "#2  N 0  WITHIN 10  [p1]",
        "#3  C 0  WITHIN 5  [p2]",
        "#4  = #0 x #1  SEQ(A 0, B 1)  WITHIN 10  [2 patterns]",
        "#5  = #4 x #3  SEQ(A 0, B 1, C 2)  WITHIN 5  [p2]",
        "p1  #4  A = 0, B = 1  WITHIN 10, none of #2",
        "p2  #5  X = 0, Y = 1, Z = 2  WITHIN 5",
    ]
