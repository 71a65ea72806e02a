"""The examples of the paper, made by hand: figures 2, 3, 5, 6, 7 and 9, and appendix A."""

from __future__ import annotations

from planning.workloads.made import clauses, sequences, shapes
from trellis.algebra.shared_tree import JoinNode
from trellis.planning.workloads.forms import Forms, Shape
from trellis.planning.workloads.global_plan import GlobalPlan
from trellis.planning.workloads.graph import PatternGraph, maximal_common
from trellis.planning.workloads.local_plans import in_order
from trellis.planning.workloads.plan import PlannedWorkload, SearchOptions, plan_workload
from trellis.planning.workloads.statistics import WorkloadStatistics


def by_orders(made: list[Shape], *orders: str) -> GlobalPlan:
    """The plan in which each pattern follows an order of its types."""
    plan = GlobalPlan(made[0].table)
    for shape, order in zip(made, orders, strict=True):
        types = [part.types[0] for part in shape.clause.parts]
        plan.add(shape, in_order(shape, [types.index(letter) for letter in order]))
    return plan


def nodes(plan: GlobalPlan) -> set[str]:
    """The types of each node."""
    return {"".join(sorted(plan.forms.patterns[form].parts)) for form in plan.splits}


def names(forms: tuple[int, ...], table: Forms) -> set[str]:
    return {"".join(table.patterns[form].parts) for form in forms}


def planned(made: list[str], rates: dict[str, float], strategy: str, *, left_deep: bool = False) -> PlannedWorkload:
    options = SearchOptions(strategy, left_deep=left_deep, seconds=60.0, steps=300)
    return plan_workload(sequences(*made), WorkloadStatistics(rates), options)


def test_figure_2_patterns_share_what_they_begin_with() -> None:
    apart = planned(["ABC", "ABD"], {}, "none", left_deep=True)
    shared = planned(["ABC", "ABD"], {}, "sharing", left_deep=True)
    assert (len(apart.plan), len(shared.plan)) == (6, 4)
    assert nodes(shared.plan) == {"A", "AB", "ABC", "ABD"}


def test_figure_3_sharing_and_reordering_together() -> None:
    # C is rare, A is not: by itself each pattern would begin with its own rare type.
    rates = {"A": 2.0, "B": 2.2, "C": 1.9, "D": 1.8, "E": 2.2, "F": 1.8}
    costs = {
        strategy: planned(["ABCD", "AECF"], rates, strategy, left_deep=True).cost
        for strategy in ("none", "sharing", "reordering", "annealing")
    }
    assert costs["annealing"] < min(costs["none"], costs["sharing"], costs["reordering"])
    both = planned(["ABCD", "AECF"], rates, "annealing", left_deep=True)
    assert "AC" in nodes(both.plan)


def test_figure_5_multi_pattern_trees() -> None:
    made = shapes(sequences("ABC", "ABD"), left_deep=True)
    assert nodes(by_orders(made, "ABC", "ABD")) == {"A", "AB", "ABC", "ABD"}
    assert nodes(by_orders(made, "BCA", "BAD")) == {"B", "BC", "AB", "ABC", "ABD"}
    assert nodes(by_orders(made, "CBA", "ADB")) == {"C", "BC", "A", "AD", "ABC", "ABD"}


def test_figure_5_a_shared_node_has_the_larger_window() -> None:
    made = shapes([*sequences("ABC", within=10), *sequences("ABD", within=20)], left_deep=True)
    plan = by_orders(made, "ABC", "ABD")
    windows = {"".join(plan.forms.patterns[form].parts): window for form, window in plan.windows.items()}
    assert windows == {"A": 20.0, "AB": 20.0, "ABC": 10.0, "ABD": 20.0}
    plan.remove(made[1])
    assert set(plan.windows.values()) == {10.0}


def test_figure_6_patterns_come_and_go() -> None:
    made = shapes(sequences("ABC", "ABD", "ACE"), left_deep=True)
    plan = by_orders(made[:2], "ABC", "ABD")
    plan.add(made[2], in_order(made[2], [0, 1, 2]))
    assert nodes(plan) == {"A", "AB", "ABC", "ABD", "AC", "ACE"}
    plan.remove(made[0])
    assert nodes(plan) == {"A", "AB", "ABD", "AC", "ACE"}


def test_figure_7_the_multi_pattern_graph() -> None:
    made = shapes(sequences("ABCD", "AECF", "AGCH", "AHG", "JKL", "JK"))
    graph = PatternGraph(made)
    table = made[0].table

    def common(one: int, other: int) -> set[str]:
        return names(maximal_common(made[one - 1], made[other - 1]), table)

    assert common(1, 2) == common(1, 3) == common(2, 3) == {"AC"}
    # Two distinct ones of the third and the fourth: G and H come in different orders.
    assert common(3, 4) == {"AG", "AH"}
    assert common(5, 6) == {"JK"}
    assert common(1, 5) == set()
    sharing = {"".join(table.patterns[form].parts): len(holders) for form, holders in graph.maximal().items()}
    assert sharing == {"AC": 3, "AG": 2, "AH": 2, "JK": 2}
    assert [len(group) for group in graph.components()] == [4, 2]
    graph.remove(made[2])
    assert [len(group) for group in graph.components()] == [2, 1, 2]
    graph.add(made[2])
    assert sorted(len(group) for group in graph.components()) == [2, 4]


def test_figure_9_two_shared_sub_trees() -> None:
    made = shapes(sequences("ABCD", "AECF", "GBHD"))
    plan = GlobalPlan(made[0].table)
    plan.add(made[0], {0b1111: (0b0101, 0b1010), 0b0101: (0b0001, 0b0100), 0b1010: (0b0010, 0b1000)})
    plan.add(made[1], {0b1111: (0b0101, 0b1010), 0b0101: (0b0001, 0b0100), 0b1010: (0b0010, 0b1000)})
    plan.add(made[2], {0b1111: (0b0101, 0b1010), 0b0101: (0b0001, 0b0100), 0b1010: (0b0010, 0b1000)})
    shared = {form for form in plan.splits if plan.users(form) > 1}
    assert {"".join(plan.forms.patterns[form].parts) for form in shared} == {"AC", "BD"}
    assert len(plan) == 8 + 4 + 3  # leaves, pairs, roots


def test_figure_9_is_found() -> None:
    rates = dict.fromkeys("AC", 0.5) | dict.fromkeys("BD", 0.5) | dict.fromkeys("EFGH", 3.0)
    found = planned(["ABCD", "AECF", "GBHD"], rates, "tabu").tree()
    users = dict(zip((str(node.pattern) for node in found.nodes), found.users(), strict=True))
    assert users["SEQ(A 0, C 1)"] == ("p1", "p2")
    assert users["SEQ(B 0, D 1)"] == ("p1", "p3")
    assert sum(isinstance(node, JoinNode) for node in found.nodes) == 7


def test_appendix_a_conditions_reduce_what_is_common() -> None:
    one, other = shapes(clauses("AND(A a, B b, C c) WHERE { a.x < 10 }", "AND(A a, D d, C c) WHERE { a.x >= 10 }"))
    assert maximal_common(one, other) == ()  # C alone has no edge
    one, other = shapes(sequences("ABC", "ACB"))
    assert names(maximal_common(one, other), one.table) == {"AB", "AC"}


def test_section_4_common_sub_patterns() -> None:
    one, other = shapes([*sequences("ABCD", within=10), *sequences("AECD", within=20)])
    table = one.table
    assert names(maximal_common(one, other), table) == {"ACD"}
    common = {form for form in one.masks if form in other.masks}
    assert {"AD", "CD", "AC"} <= names(tuple(common), table)
    (third,) = [Shape(clause, table) for clause in sequences("CA")]
    assert third.forms[third.full] not in one.masks
