"""The oracle for workloads against results worked out by hand: a case for each rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from naive_sase_notation import agg, attr, lit, op, stream, table
from naive_workloads import Check, Node, Pattern, Stream, match_all, matches
from naive_workloads_notation import each, found, pattern, structure
from workload_traps import TRAPS, Trap

# ---------------------------------------------------------------------------------------------------------- structure


def test_seq_and_or() -> None:
    events = stream("B A B C")
    assert found(pattern("SEQ(A a, B b)"), events) == ["a=1 b=2"]
    assert found(pattern("AND(A a, B b)"), events) == ["a=1 b=0", "a=1 b=2"]
    assert found(pattern("OR(A a, B b)"), events) == ["b=0", "a=1", "b=2"]
    for one in ("SEQ(A a)", "AND(A a)", "OR(A a)", "SEQ(AND(OR(A a)))"):
        assert found(pattern(one), events) == ["a=1"]


def test_and_inside_seq() -> None:
    # A is before B and before C, and D is after both.
    sought = pattern("SEQ(A a, AND(B b, C c), D d)")
    assert found(sought, stream("A B C D")) == ["a=0 b=1 c=2 d=3"]
    assert found(sought, stream("A C B D")) == ["a=0 b=2 c=1 d=3"]
    assert [found(sought, stream(text)) for text in ("B A C D", "A B D C", "C A B D", "A C D B")] == [[]] * 4


def test_seq_inside_and() -> None:
    # B is after A and D after C; otherwise they may be interleaved.
    sought = pattern("AND(SEQ(A a, B b), SEQ(C c, D d))")
    for text in ("A B C D", "A C B D", "A C D B", "C A B D", "C A D B", "C D A B"):
        assert len(found(sought, stream(text))) == 1
    assert [found(sought, stream(text)) for text in ("B A C D", "A B D C", "D A C B")] == [[]] * 3


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        ("SEQ(A a, SEQ(B b, C c))", "SEQ(A a, B b, C c)"),
        ("SEQ(SEQ(A a, B b), C c)", "SEQ(A a, B b, C c)"),
        ("AND(A a, AND(B b, C c))", "AND(A a, B b, C c)"),
        ("OR(A a, OR(B b, C c))", "OR(A a, B b, C c)"),
        ("SEQ(A a, SEQ(~(B b)), C c)", "SEQ(A a, ~(B b), C c)"),
    ],
)
def test_nesting_of_the_same_operator_says_nothing(nested: str, flat: str) -> None:
    events = stream("C A B C A B C A C")
    assert found(pattern(nested), events) == found(pattern(flat), events) != []


def test_or_inside_seq() -> None:
    sought = pattern("SEQ(A a, OR(B b, AND(C c, D d)))")
    assert found(sought, stream("A D B C")) == ["a=0 b=2", "a=0 c=3 d=1"]
    assert found(sought, stream("B D A C")) == []


def test_the_same_assignment_by_two_clauses_is_one_match() -> None:
    # Both clauses find a=0 b=1; the second one alone finds b before a.
    assert found(pattern("OR(SEQ(A a, B b), AND(B b, A a))"), stream("A B A")) == ["a=0 b=1", "a=2 b=1"]
    # Other variables make other assignments, so the only A is found twice.
    assert found(pattern("OR(A a, A b)"), stream("A")) == ["a=0", "b=0"]
    # Branches may give a variable other types.
    assert found(pattern("OR(SEQ(A a, C c), SEQ(B a, C c), SEQ((A | B) a, C c))"), stream("A B C")) == [
        "a=0 c=2",
        "a=1 c=2",
    ]


def test_different_assignments_of_the_same_events_are_different_matches() -> None:
    assert found(pattern("AND(A a, A b)"), stream("A A")) == ["a=0 b=1", "a=1 b=0"]
    assert found(pattern("SEQ(A+ a[], A+ b[])"), stream("A A A"))[1:3] == ["a=0 b=1,2", "a=0,1 b=2"]
    rows = match_all([pattern("AND(A a, A b)")], stream("A A"))
    assert [row.match_number for row in rows] == [1, 2]
    assert rows[0].events == rows[1].events == tuple(stream("A A"))


def test_an_event_takes_one_place() -> None:
    for text in ("SEQ(A a, A b)", "AND(A a, A b)", "AND(A+ a[], A b)", "AND(A+ a[], A+ b[])", "SEQ(A a, A+ b[])"):
        assert found(pattern(text), stream("A")) == []
    assert found(pattern("AND(A a, (A | B) b)"), stream("A B")) == ["a=0 b=1"]


# ------------------------------------------------------------------------------------------------------------- Kleene


def test_kleene_in_seq() -> None:
    sought = pattern("SEQ(A a, B+ b[], C c)")
    assert found(sought, stream("B A B X B C B")) == ["a=1 b=2,4 c=5", "a=1 b=2 c=5", "a=1 b=4 c=5"]


def test_kleene_in_and_is_anywhere() -> None:
    expected = ["a=1 b=0", "a=1 b=0,2", "a=1 b=2"]
    assert found(pattern("AND(A a, B+ b[])"), stream("B A B")) == expected
    # The window is of the whole match.
    assert found(pattern("AND(A a, B+ b[])", within=1), stream("B A B")) == ["a=1 b=0", "a=1 b=2"]
    # Inside SEQ it stays where the AND is.
    assert found(pattern("SEQ(C c, AND(A a, B+ b[]), C d)"), stream("B C B A B C B")) == [
        "c=1 a=3 b=2,4 d=5",
        "c=1 a=3 b=2 d=5",
        "c=1 a=3 b=4 d=5",
    ]


@pytest.mark.parametrize("count", range(7))
def test_how_many_sets_there_are(count: int) -> None:
    events = stream("A " * count)

    def number(text: str) -> int:
        return len(found(pattern(text), events))

    assert number("SEQ(A+ a[])") == 2**count - 1
    # Each event is in a, in b or in none, and neither is empty.
    assert number("AND(A+ a[], A+ b[])") == 3**count - 2 * 2**count + 1
    assert number("AND(A a, A b)") == count * (count - 1)
    # A set of at least two events, and which of them is a; in SEQ it is the first.
    assert number("AND(A a, A+ b[])") == count * (2 ** max(count - 1, 0) - 1)
    assert number("SEQ(A a, A+ b[])") == 2**count - 1 - count


def test_conditions_on_each_member() -> None:
    events = table("type x time", [("B", 5, 0), ("A", 3, 1), ("B", 4, 2), ("B", 2, 3)])
    above = op(each("b", "x"), ">", attr("a", "x"))
    assert found(pattern("AND(A a, B+ b[])", above), events) == ["a=1 b=0", "a=1 b=0,2", "a=1 b=2"]
    assert found(pattern("AND(A a, B+ b[])", Check(("b", "a"), lambda b, a: b["x"] > a["x"])), events) == [
        "a=1 b=0",
        "a=1 b=0,2",
        "a=1 b=2",
    ]
    # b[1] and b[LEN] are the members that come first and last, wherever a is.
    first, last = op(attr("b", "x", 1), "=", lit(5)), op(attr("b", "x", "LEN"), "<", attr("a", "x"))
    assert found(pattern("AND(A a, B+ b[])", first, last), events) == ["a=1 b=0,2,3", "a=1 b=0,3"]


def test_conditions_on_each_pair_of_members() -> None:
    events = table("type x time", [("A", 1, 0), ("A", 4, 1), ("B", 3, 2), ("B", 5, 3)])
    below = op(each("a", "x"), "<", each("b", "x"))
    # The 4 is not below the 3, so no set with both.
    assert found(pattern("SEQ(A+ a[], B+ b[])", below), events) == [
        "a=0 b=2",
        "a=0,1 b=3",
        "a=0 b=2,3",
        "a=0 b=3",
        "a=1 b=3",
    ]


def test_conditions_on_neighbouring_members() -> None:
    events = table("type x time", [("B", 1, 0), ("B", 3, 1), ("A", 0, 2), ("B", 2, 3)])
    rising = op(attr("b", "x", "i"), ">", attr("b", "x", "i-1"))
    # Neighbours in the chosen set: 0 and 3 are, if 1 is left out. b[i] says nothing of a single member.
    assert found(pattern("AND(A a, B+ b[])", rising), events) == [
        "a=2 b=0,1",
        "a=2 b=0",
        "a=2 b=1",
        "a=2 b=0,3",
        "a=2 b=3",
    ]
    # b[i] may stand beside an event that is later.
    above = op(attr("b", "x", "i"), ">", attr("c", "x"))
    with_later = table("type x time", [("B", 0, 0), ("B", 3, 1), ("C", 2, 2)])
    assert found(pattern("SEQ(B+ b[], C c)", above), with_later) == ["b=0,1 c=2", "b=0 c=2", "b=1 c=2"]
    most = op(agg("count", "b", "..i-1"), "<", lit(2))
    assert len(found(pattern("AND(A a, B+ b[])", most), events)) == 6
    total = op(agg("sum", "b", "all", "x"), "=", lit(5))
    assert found(pattern("AND(A a, B+ b[])", total), events) == ["a=2 b=1,3"]


# --------------------------------------------------------------------------------------------------------- conditions


def test_a_condition_is_on_the_clauses_that_have_its_variables() -> None:
    events = table("type x time", [("A", 1, 0), ("B", 0, 1), ("C", 0, 2)])
    rising = op(attr("b", "x"), ">", attr("a", "x"))
    assert found(pattern("SEQ(A a, OR(B b, C c))", rising), events) == ["a=0 c=2"]
    either = ("op", "OR", (op(attr("b", "x"), ">", lit(1)), op(attr("c", "x"), ">", lit(1))))
    assert found(pattern("OR(B b, C c)", either), events) == ["b=1", "c=2"]  # no clause has both
    assert found(pattern("SEQ(A a, OR(B b, C c))", op(lit(1), "=", lit(2))), events) == []


def test_null() -> None:
    events = table("type x k time", [("A", None, 1, 0), ("B", 1, None, 1), ("B", 1, 1, 2), ("A", 1, None, 3)])
    equal = op(attr("a", "x"), "=", attr("b", "x"))
    assert found(pattern("AND(A a, B b)", equal), events) == ["a=3 b=1", "a=3 b=2"]
    assert found(pattern("AND(A a, B b)", ("op", "NOT", (equal,))), events) == []
    assert found(pattern("AND(A a, B b)", same="k"), events) == ["a=0 b=2"]
    assert found(pattern("OR(A a, B b)", same="k"), events) == ["a=0", "b=2"]
    assert found(pattern("AND(A a, B b)", Check(("a",), lambda a: None)), events) == []
    # A row without a type is of no type.
    assert found(pattern("SEQ(A a)"), table("type time", [(None, 0), ("A", 1)])) == ["a=1"]


# ---------------------------------------------------------------------------------------------------- windows and time


def test_windows_are_inclusive() -> None:
    events = stream("B@0 A@5 B@10 B@11")
    assert found(pattern("AND(A a, B b)", within=5), events) == ["a=1 b=0", "a=1 b=2"]
    assert found(pattern("AND(A a, B b)", within="2 events"), events) == ["a=1 b=0", "a=1 b=2"]
    assert found(pattern("AND(A a, B b)", within="3 events"), events) == ["a=1 b=0", "a=1 b=2", "a=1 b=3"]
    assert found(pattern("AND(A a, A b)", within=0), stream("A@1 A@1 A@2")) == ["a=0 b=1", "a=1 b=0"]
    assert found(pattern("SEQ(A a, A b)", within="1 events"), stream("A A")) == []
    day = datetime(2024, 1, 1)
    instants = table("type time", [("A", day), ("B", day + timedelta(seconds=5)), ("B", day + timedelta(seconds=6))])
    assert found(pattern("SEQ(A a, B b)", within=timedelta(seconds=5)), instants) == ["a=0 b=1"]


def test_a_window_of_events_counts_those_of_the_partition() -> None:
    sought = pattern("AND(A a, B b)", same="k", within="2 events")
    assert found(sought, stream("A1 X2 B2 X B1")) == ["a=0 b=4"]
    assert found(sought, stream("A1 X1 B1")) == []
    rows = table("type k time", [("A", 1, 0), ("X", 2, 1), ("B", 1, 2)])
    assert len(match_all([replace(sought, equivalence=())], rows, partition_by=["k"])) == 1
    assert match_all([replace(sought, equivalence=())], rows) == []


def test_equal_times_follow_the_order_of_the_rows() -> None:
    assert found(pattern("SEQ(A a, B b)"), stream("A@5 B@5")) == ["a=0 b=1"]
    assert found(pattern("SEQ(A a, B b)"), stream("B@5 A@5")) == []
    rows = table("type time id", [("B", 1, 2), ("A", 1, 1)])
    assert match_all([pattern("SEQ(A a, B b)")], rows) == []
    assert [row.events for row in match_all([pattern("SEQ(A a, B b)")], rows, time=["time", "id"])] == [
        (rows[1], rows[0])
    ]


def test_events_without_a_time() -> None:
    # They come first, and take part where no window in time is asked for.
    rows = table("type time", [("A", 3), ("B", 5), ("B", None), ("A", None)])

    def times(sought: Pattern) -> list[tuple[int | None, int | None]]:
        return [(row.start, row.end) for row in match_all([sought], rows)]

    assert times(pattern("SEQ(B b, A a)")) == [(None, None), (None, 3)]
    assert times(pattern("SEQ(B b, A a)", within="2 events")) == [(None, None)]
    assert times(pattern("SEQ(B b, A a)", within=99)) == []
    assert times(pattern("OR(A a, B b)", within=99)) == [(3, 3), (5, 5)]
    # Nor are they what must be absent.
    assert times(pattern("SEQ(~(B b), A a)", within=99)) == [(3, 3)]
    assert times(pattern("SEQ(~(B b), A a)")) == []


# ------------------------------------------------------------------------------------------------------------ negation


def test_negation_beside_and() -> None:
    sought = pattern("SEQ(AND(A a, B b), ~(D d), C c)")
    assert found(sought, stream("B D A C")) == ["a=2 b=0 c=3"]
    assert found(sought, stream("B A D C")) == []
    assert found(pattern("SEQ(C c, ~(D d), AND(A a, B b))"), stream("C A D B")) == ["c=0 a=1 b=3"]
    assert found(pattern("SEQ(C c, ~(D d), AND(A a, B b))"), stream("C D A B")) == []


def test_the_example_of_the_paper() -> None:
    # §2: SEQ(AND(A, B, C), NOT(D)), "the arrival of a security guard". The window is that of the first event.
    sought = pattern("SEQ(AND(A a, B b, C c), ~(D d))", within=5)
    assert found(sought, stream("C@0 A@1 B@2 D@5")) == []
    assert found(sought, stream("C@0 A@1 B@2 D@6")) == ["a=1 b=2 c=0"]
    assert found(sought, stream("C@0 D@0 A@1 D@1 B@2")) == ["a=2 b=4 c=0"]
    assert found(replace(sought, within=("events", 4)), stream("C A B X D")) == ["a=1 b=2 c=0"]
    assert found(replace(sought, within=("events", 4)), stream("C A B D")) == []
    assert found(replace(sought, within=None), stream("C A B X X D")) == []


def test_negation_at_the_beginning() -> None:
    sought = pattern("SEQ(~(D d), AND(A a, B b))", within=5)
    assert found(sought, stream("D@0 B@3 A@5")) == []
    assert found(sought, stream("D@0 B@3 A@6")) == ["a=2 b=1"]
    assert found(sought, stream("B@3 D@4 A@6")) == ["a=2 b=0"]


def test_negation_inside_and() -> None:
    # No D with which all of them would be in one window.
    sought = pattern("AND(A a, B b, ~(D d))", within=5)
    for text in ("D@0 A@3 B@5", "A@3 D@4 B@5", "A@3 B@5 D@8"):
        assert found(sought, stream(text)) == []
    assert found(sought, stream("D@0 A@4 B@6 D@10")) == ["a=1 b=2"]
    assert found(replace(sought, within=("events", 3)), stream("D X A B X D")) == ["a=2 b=3"]
    assert found(replace(sought, within=("events", 3)), stream("X A B D")) == []
    assert found(replace(sought, within=None), stream("D@0 A@4 B@900")) == []


def test_negation_inside_and_inside_seq() -> None:
    sought = pattern("SEQ(A a, AND(B b, ~(D d)), C c)")
    assert found(sought, stream("D A B C D")) == ["a=1 b=2 c=3"]
    assert [found(sought, stream(text)) for text in ("A D B C", "A B D C")] == [[], []]
    # After b, and as the inner SEQ is before c, before c. Where e is does not matter.
    inner = pattern("SEQ(A a, AND(SEQ(B b, ~(D d)), E e), C c)")
    assert found(inner, stream("A D B E C D")) == ["a=0 b=2 e=3 c=4"]
    assert [found(inner, stream(text)) for text in ("A B D E C", "A B E D C", "A E B D C")] == [[], [], []]


def test_an_event_of_the_match_is_not_the_absent_one() -> None:
    assert found(pattern("AND(A a, ~(A b))", within=5), stream("A@0 A@5 A@11")) == ["a=2"]
    # So a set has all events of its type that the window could hold.
    assert found(pattern("AND(A+ a[], ~(A b))", within=5), stream("A@0 A@3 A@9")) == ["a=0,1", "a=2"]


def test_conditions_of_what_is_absent() -> None:
    events = table("type k x time", [("A", 1, 5, 0), ("D", 1, 6, 1), ("B", 1, 7, 2), ("D", 2, 9, 3)])
    sought = pattern("AND(A a, B b, ~(D d))", within=9)
    assert found(sought, events) == []
    assert found(replace(sought, conditions=(op(attr("d", "x"), "<", attr("a", "x")),)), events) == ["a=0 b=2"]
    between = (op(attr("d", "x"), ">", attr("a", "x")), op(attr("d", "x"), "<", attr("b", "x")))
    assert found(replace(sought, conditions=between), events) == []
    assert found(replace(sought, conditions=(op(attr("d", "x"), ">", attr("b", "x")),)), events) == []
    # The other D is of another k. The conditions of d are no conditions of a and b.
    above = (op(attr("d", "x"), ">", attr("b", "x")),)
    assert found(replace(sought, conditions=above, equivalence=("k",)), events) == ["a=0 b=2"]
    in_python = (Check(("d", "a"), lambda d, a: d["x"] == a["x"] + 4),)
    assert found(replace(sought, conditions=in_python), events) == []
    # Of a repeated component, each member: 6 is above 5, and 9 above both.
    each_below = pattern("SEQ(A+ a[], ~(D d), B b)", op(each("a", "x"), "<", attr("d", "x")))
    rows = table("type x time", [("A", 5, 0), ("A", 6, 1), ("D", 6, 2), ("B", 0, 3)])
    assert found(each_below, rows) == ["a=0,1 b=3", "a=1 b=3"]


def test_each_absence_is_on_its_own_and_or_chooses_one() -> None:
    both = pattern("SEQ(A a, ~(B b), ~(C c), D d)")
    either = pattern("SEQ(A a, OR(~(B b), ~(C c)), D d)")
    texts = ("A D", "A B D", "A C D", "A B C D")
    assert [len(found(both, stream(text))) for text in texts] == [1, 0, 0, 0]
    assert [len(found(either, stream(text))) for text in texts] == [1, 1, 1, 0]


# ------------------------------------------------------------------------------------------------------------- output


def test_rows_of_the_result() -> None:
    rows = table(
        "kind at k g",
        [("B", 4, 1, "u"), ("A", 2, 1, "u"), ("A", 1, 2, "u"), ("B", 3, 2, "u"), ("B", 3, 1, None), ("A", 1, 1, None)],
    )
    workload = [pattern("SEQ(A a, B b)", same="k", name="p"), pattern("AND(A a, B b)", name="q")]
    result = match_all(workload, rows, partition_by=["g"], time=["at"], type="kind")
    shown = [
        (row.pattern, row.match_number, row.start, row.end, [rows.index(event) for event in row.events])
        for row in result
    ]
    assert shown == [
        # p is numbered for each g and k. NULL is a g of its own.
        ("p", 1, 1, 3, [2, 3]),
        ("p", 1, 2, 4, [1, 0]),
        ("p", 1, 1, 3, [5, 4]),
        # q is numbered for each g: by the last event, then by the first.
        ("q", 1, 1, 3, [2, 3]),
        ("q", 2, 2, 3, [1, 3]),
        ("q", 3, 1, 4, [2, 0]),
        ("q", 4, 2, 4, [1, 0]),
        ("q", 1, 1, 3, [5, 4]),
    ]


def test_matches_are_numbered_by_their_positions() -> None:
    # By the last event, the first one, and then the others, whatever the order of the components.
    assert found(pattern("AND(B+ b[], A a)"), stream("B B A B")) == [
        *("b=0,1 a=2", "b=0 a=2", "b=1 a=2"),
        *("b=0,1,3 a=2", "b=0,3 a=2", "b=1,3 a=2", "b=3 a=2"),
    ]


@pytest.mark.parametrize(
    "sought",
    [
        pattern("SEQ(A a, B a)"),
        pattern("SEQ(A a, OR(B a, C c))"),
        pattern("OR(A a, SEQ(A+ a[], B b))"),
        pattern("OR(SEQ(A a, B b), SEQ(A a, ~(B b)))"),
        pattern("SEQ(~(A a))"),
        pattern("OR(A a, ~(B b))"),
        Pattern("p", Node("SEQ", ())),
        Pattern("p", Node("XOR", (structure("A a"),))),
        pattern("SEQ(A a)", attr("b", "x")),
        pattern("SEQ(A a)", attr("a", "x", 1)),
        pattern("SEQ(A a)", each("a", "x")),
        pattern("SEQ(A+ a[])", attr("a", "x")),
        pattern("SEQ(A+ a[], B+ b[])", op(attr("a", "x", "i"), "=", attr("b", "x", "i"))),
        pattern("SEQ(A+ a[], ~(B b), C c)", op(attr("a", "x", "i"), "=", attr("b", "x"))),
        pattern("AND(A a, ~(B b), ~(C c))", op(attr("b", "x"), "=", attr("c", "x"))),
        pattern("AND(A a, B b)", Check(("a", "a"), lambda one, other: True)),
        pattern("AND(A a, B b)", Check((), lambda: True)),
        pattern("AND(A a, B b)", Check(("c",), lambda c: True)),
    ],
)
def test_patterns_without_a_meaning(sought: Pattern) -> None:
    with pytest.raises(ValueError, match=r"."):
        matches(sought, Stream(()))


def test_two_patterns_of_one_name() -> None:
    with pytest.raises(ValueError, match="same name"):
        match_all([pattern("SEQ(A a)"), pattern("SEQ(B b)")], [])


# -------------------------------------------------------------------------------------------------------------- traps


@pytest.mark.parametrize("trap", TRAPS, ids=str)
def test_traps(trap: Trap) -> None:
    given = [
        (row.pattern, " ".join(str(event["id"]) for event in row.events))
        for row in match_all(trap.patterns, trap.rows, time=["time", "id"])
    ]
    assert {name: [ids for found_by, ids in given if found_by == name] for name in trap.matches} == trap.matches
