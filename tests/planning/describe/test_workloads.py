"""What is said of the plan of a workload: a golden text, and what holds for every plan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planning.workloads.made import clauses, random_statistics, random_workload, sequences
from trellis.algebra.clauses import Clause
from trellis.algebra.shared_tree import JoinNode, SharedTree
from trellis.analysis.clauses import clauses_of
from trellis.languages.workloads import parse_workload
from trellis.planning.describe.sub_patterns import short_text, sub_pattern_text
from trellis.planning.describe.workloads import describe_workload, graph_of
from trellis.planning.workloads.gains import WorkloadCosts, costs_of
from trellis.planning.workloads.plan import STRATEGIES, PlannedWorkload, SearchOptions, plan_workload
from trellis.planning.workloads.statistics import WorkloadStatistics

PATTERNS = {
    "p1": "SEQ(A a, B b, ~(N n)) WHERE { a.x < b.x } WITHIN 10",
    "p2": "SEQ(A x, B y, C+ z[]) WHERE { x.x < y.x and z[1].y > 3 and [k] } WITHIN 5",
    "p3": "SEQ(A a, B b, N n) WHERE { a.x < b.x } WITHIN 5",
    "p4": "OR(SEQ(A a, B b), AND(C c, SEQ(N n, A e))) WITHIN 5",
}

GOLDEN = (Path(__file__).parents[2] / "fixtures" / "explain_workload.txt").read_text(encoding="utf-8")


def planned(made: list[Clause], strategy: str = "sharing", seed: int | None = None) -> PlannedWorkload:
    statistics = WorkloadStatistics() if seed is None else random_statistics(seed, made)
    return plan_workload(made, statistics, SearchOptions(strategy, seconds=60.0, steps=60))


def described(plan: PlannedWorkload, actual: list[int] | None = None, most: int = 10_000) -> str:
    texts = {name: " or ".join(str(shape.clause) for shape in made) for name, made in plan.shapes.items()}
    return describe_workload(
        plan.tree(), texts, costs_of(plan), strategy=plan.options.strategy, seconds=0.0, actual=actual, most=most
    )


def section(text: str, title: str) -> list[str]:
    found = re.search(rf"^== {title} ==\n(.*?)(?:\n\n|\Z)", text, flags=re.DOTALL | re.MULTILINE)
    return [] if found is None else found[1].splitlines()


def shown_nodes(text: str, title: str = "Shared plan") -> list[int]:
    """The nodes that have a line of their own."""
    lines = (re.match(r"[ |+-]*(?:for \S.* )?(?:without )?#(\d+)  ", line) for line in section(text, title))
    return [int(found[1]) for found in lines if found]


# ---- the whole text ----


def test_a_small_workload() -> None:
    plan = planned(clauses(*PATTERNS.values()))
    texts = {**PATTERNS, "never": "SEQ(A a, B b)\n  WHERE { a.x < a.x }"}
    actual = [10 * number for number in range(len(plan.tree().nodes))]
    text = describe_workload(plan.tree(), texts, costs_of(plan), strategy="sharing", seconds=1.24, actual=actual)
    assert text == GOLDEN.rstrip()


def test_without_a_run_there_are_estimates_alone() -> None:
    text = described(planned(sequences("AB")))
    assert "found" not in text
    assert "#2  SEQ(A a, B b)  WITHIN 10  about 50  -> p1" in text.splitlines()


def test_a_workload_without_patterns() -> None:
    text = describe_workload(SharedTree((), ()), {}, WorkloadCosts(0.0, 0.0, {}), strategy="none", seconds=0.0)
    assert section(text, "Shared plan")[0] == "0 nodes for 0 patterns: 0 leaves and 0 joins; 0 shared"
    assert section(text, "Cost")[0] == "this plan               about 0"


def test_a_pattern_takes_one_line_whatever_is_written() -> None:
    made = parse_workload({"two\nlines": "PATTERN SEQ(A a, B b)\nWHERE { a.x = 'x\ny' }\n" + f"WITHIN {10**150}"})
    plan = planned([clause for one in made for clause in clauses_of(one.name, one.query)])
    text = describe_workload(
        plan.tree(), {one.name: one.text for one in made}, costs_of(plan), strategy="none", seconds=0.0
    )
    (line,) = section(text, "Patterns")
    assert line.startswith("two lines  PATTERN SEQ(A a, B b) WHERE { a.x = 'x y' } WITHIN 1000") and "0…  -> #2" in line
    assert len(section(text, "Shared plan")) == 5
    assert "#0  A a {a.x = 'x y'}  " in text


# ---- what holds for every plan ----


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(3))
def test_each_node_is_shown_once_and_each_pattern_named(strategy: str, seed: int) -> None:
    plan = planned(random_workload(seed, 15, "ABCD"), strategy, seed)
    tree = plan.tree()
    actual = [100 + number for number in range(len(tree.nodes))]
    text = described(plan, actual)
    lines = section(text, "Shared plan")
    assert sorted(shown_nodes(text)) == list(range(len(tree.nodes)))
    assert section(text, "Most shared") == []  # all is shown already
    told = [int(found) for line in lines for found in re.findall(r", found (\d+)", line)]
    assert sorted(told) == actual
    assert [line.split()[0] for line in section(text, "Patterns")] == [f"p{number}" for number in range(1, 16)]
    for root in tree.roots:
        line = next(line for line in section(text, "Patterns") if line.startswith(f"{root.pattern} "))
        assert re.search(rf"-> .*#{root.node}\b", line)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_above_is_above(seed: int) -> None:
    plan = planned(random_workload(seed, 15, "ABC"), "annealing", seed)
    seen: set[str] = set()
    above = 0
    for line in section(described(plan), "Shared plan"):
        if (again := re.search(r"#(\d+), above$", line)) is not None:
            assert again[1] in seen
            above += 1
        elif (first := re.search(r"#(\d+)  ", line)) is not None:
            seen.add(first[1])
    tree = plan.tree()
    uses = 2 * sum(isinstance(node, JoinNode) for node in tree.nodes)
    tops = {root.node for root in tree.roots} - {
        part for node in tree.nodes if isinstance(node, JoinNode) for part in (node.left, node.right)
    }
    absent = {(root.node, one.leaf) for root in tree.roots for one in root.absences}
    assert above == uses + len(absent) + len(tops) - len(tree.nodes)


def test_who_shares_a_node() -> None:
    text = described(planned(sequences("ABC", "ABD", "AB", "ABE", "AB")))
    (line,) = [line for line in text.splitlines() if "#5  SEQ(A a, B b)  " in line]
    assert line.endswith("-> p3, p5; shared by 5: p1, p2, p3 and 2 more")
    (whole,) = [line for line in text.splitlines() if "SEQ(A a, B b, E c)" in line]
    assert whole.endswith("-> p4")


# ---- large ones ----


def test_hundreds_of_patterns_stay_readable() -> None:
    plan = planned(random_workload(4, 300, "ABCDEFGH"), "sharing", 4)
    tree = plan.tree()
    text = described(plan, most=40)
    assert len(text.splitlines()) < 250
    assert max(map(len, text.splitlines())) < 220
    assert section(text, "Patterns")[-1] == "and 260 more"
    shown = shown_nodes(text)
    assert 40 <= len(shown) == len(set(shown)) < 60
    found = re.fullmatch(r"and (\d+) more nodes, for (\d+) patterns", section(text, "Shared plan")[-1])
    assert found and int(found[1]) == len(tree.nodes) - len(shown)
    assert int(found[2]) == 300 - len({root.pattern for root in tree.roots if root.node in shown})
    most_shared = shown_nodes(text, "Most shared")
    users = tree.users()
    assert len(most_shared) == 12 and all(len(users[number]) > 1 for number in most_shared)
    saved = [(len(names) - 1) * node.estimate for names, node in zip(users, tree.nodes, strict=True)]
    assert [saved[number] for number in most_shared] == sorted(saved, reverse=True)[:12]
    more = sum(len(names) > 1 for names in users) - 12
    assert section(text, "Most shared")[-1] == f"and {more} more"


# ---- costs ----


@pytest.mark.parametrize("left_deep", [False, True])
@pytest.mark.parametrize("strategy", ["sharing", "annealing", "merging"])
def test_costs_are_those_of_plans_that_share_nothing(strategy: str, left_deep: bool) -> None:
    made = random_workload(6, 12, "ABCD")
    statistics = random_statistics(6, made)

    def plan(name: str) -> PlannedWorkload:
        return plan_workload(made, statistics, SearchOptions(name, left_deep=left_deep, seconds=60.0, steps=60))

    costs = costs_of(plan(strategy))
    assert costs.plan == pytest.approx(plan(strategy).cost)
    assert costs.written == pytest.approx(plan("none").cost)
    assert sum(costs.alone.values()) == pytest.approx(plan("reordering").cost)
    assert set(costs.alone) == {clause.pattern for clause in made}


def test_the_gain_is_plain() -> None:
    costs = WorkloadCosts(50.0, 2_000.0, {"p1": 100.0, "p2": 25.0})
    plan = planned(sequences("AB", "AB"))
    text = describe_workload(plan.tree(), {}, costs, strategy="tabu", seconds=4.96)
    assert section(text, "Cost") == [
        "this plan               about 50",
        "each pattern by itself  about 125    2.5 times as many",
        "patterns as written     about 2,000  40 times as many",
        "strategy tabu, 5.0 s",
    ]


# ---- sub-patterns ----


@pytest.mark.parametrize(
    ("pattern", "long", "short"),
    [
        (
            "SEQ(B v, A+ w[]) WHERE { w[1].x > 3 and w[i].y > w[i-1].y and [k] }",
            "SEQ(B a, A+ b[] {3 < b[1].x AND b[i-1].y < b[i].y}) { [k] }",
            "SEQ(B, A+)",
        ),
        (
            "AND(A v, SEQ(B w, C x, D y)) WHERE { x.x = v.x }",
            "AND(A a, B b, C c, D d) { b -> c AND c -> d AND a.x = c.x }",
            "AND(A, B, C, D)",
        ),
        (
            "SEQ(`a b` x, (B | C) y) WHERE { y.x = 'z' }",
            "SEQ(`a b` a, (B | C) b {b.x = 'z'})",
            "SEQ(`a b`, (B | C))",
        ),
    ],
)
def test_sub_patterns(pattern: str, long: str, short: str) -> None:
    whole = planned(clauses(f"{pattern} WITHIN 5")).tree().nodes[-1].pattern
    assert (sub_pattern_text(whole), short_text(whole)) == (long, short)


# ---- plain values for a picture ----


def test_a_graph_in_plain_values() -> None:
    tree = planned(clauses("SEQ(A a, B b, ~(N n)) WITHIN 10", "SEQ(A x, B y, C z) WITHIN 5")).tree()
    nodes, edges, absences = graph_of(tree, [1, 2, 3, 4, 5, 6])
    both = ("p1", "p2")
    assert nodes[0] == ("#0 A", "A a WITHIN 10", both, (), 10.0, 1)
    assert nodes[4] == ("#4 SEQ(A, B)", "SEQ(A a, B b) WITHIN 10", both, ("p1",), 50.0, 5)
    assert nodes[5][:4] == ("#5 SEQ(A, B, C)", "SEQ(A a, B b, C c) WITHIN 5", ("p2",), ("p2",))
    assert edges == ((0, 4), (1, 4), (4, 5), (3, 5))
    assert absences == ((2, "p1"),)
    assert {node[5] for node in graph_of(tree)[0]} == {None}


def test_a_part_that_is_needed_twice_is_one_edge() -> None:
    _, edges, _ = graph_of(planned(clauses("SEQ(A a, A b) WITHIN 5")).tree())
    assert edges == ((0, 1),)
