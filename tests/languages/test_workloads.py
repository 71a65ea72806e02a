"""Workloads as dictionaries, lists and texts, and everything that is wrong with one of them at once."""

from __future__ import annotations

import pickle

import pytest

from trellis.algebra.query import Selection
from trellis.errors import BindingError, QuerySyntaxError, TrellisError, UnsupportedError, WorkloadError
from trellis.languages.sase import parse_sase_text
from trellis.languages.workloads import is_workload, parse_workload, read_workload

TEXT = """
-- what the desk watches; all of it
rising: PATTERN SEQ(MSFT a, GOOG b) WHERE { a.diff < b.diff and a.name <> 'x;y: z' } WITHIN 15 minutes;
`a b`: PATTERN OR(SEQ(A a, B b), AND(C c, D d)) WITHIN :width;;
last: PATTERN SEQ(A a)
"""


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN AND(A a, B b)",
        "PATTERN OR(A a, SEQ(B b, C+ c[]), E e)",
        "PATTERN SEQ(A a, AND(B b, SEQ(C c, OR(D d, E e)), ~(F f)), (G | H) g) WITHIN 5",
        "PATTERN OR(SEQ(A a, B b), SEQ(C a, D b)) WHERE { a.x < b.x }",
        "PATTERN AND(OR(A a, B b), OR(C c, D d))",
        "PATTERN SEQ(AND a, OR b, SEQ c)",
    ],
)
def test_trees_can_be_read_back(text: str) -> None:
    query = parse_sase_text(text, combined=True)
    assert parse_sase_text(str(query), combined=True) == query
    assert " ".join(str(query).split()).startswith(text.split(" WHERE")[0].split(" WITHIN")[0])


def test_brackets_that_say_nothing() -> None:
    nested = parse_sase_text("PATTERN SEQ(SEQ(A a, SEQ(B b)), AND(AND(C c, D d), E e))", combined=True)
    assert str(nested).splitlines()[0] == "PATTERN SEQ(A a, B b, AND(C c, D d, E e))"
    assert str(parse_sase_text("PATTERN SEQ(SEQ(A a), SEQ(B b))")) == str(parse_sase_text("PATTERN SEQ(A a, B b)"))


@pytest.mark.parametrize(("text", "at"), [("PATTERN SEQ(A a, OR(B b, C c))", "OR"), ("PATTERN AND(A a, B b)", "AND")])
def test_a_query_by_itself_is_a_sequence(text: str, at: str) -> None:
    with pytest.raises(UnsupportedError, match=r"for each alternative") as caught:
        parse_sase_text(text)
    span = caught.value.span
    assert span is not None and text[span.start : span.end] == at


@pytest.mark.parametrize(
    ("text", "problem", "at"),
    [
        ("PATTERN AND(A a, B a)", "Two components are called a", "B a"),
        ("PATTERN OR(A a, B+ a[])", "Two components are called a", "B+ a[]"),
        ("PATTERN SEQ(A a, OR(B a, C c))", "Two components are called a", "B a"),
        ("PATTERN OR(A a, ~(B b))", "Every component is negated", "OR(A a, ~(B b))"),
        ("PATTERN AND(A a, )", "Expected the type of an event", ")"),
        ("PATTERN AND A a", "Expected `\\(`", "A"),
        ("PATTERN OR(A a, B b", "The text ends here", ""),
        ("PATTERN NOT(A a)", "Expected SEQ", "NOT"),
    ],
)
def test_trees_that_are_none(text: str, problem: str, at: str) -> None:
    with pytest.raises(TrellisError, match=problem) as caught:
        parse_sase_text(text, combined=True)
    span = caught.value.span
    assert span is not None and text[span.start : span.end] == at


def test_deep_nesting_is_an_error_of_the_text() -> None:
    with pytest.raises(QuerySyntaxError, match="nested too deeply"):
        parse_sase_text("PATTERN " + "SEQ(" * 500 + "A a" + ")" * 500, combined=True)


def test_a_text() -> None:
    first, second, third = parse_workload(TEXT)
    assert (first.name, second.name, third.name) == ("rising", "a b", "last")
    assert str(second.query).startswith("PATTERN OR(SEQ(A a, B b), AND(C c, D d))")
    assert {one.query.selection for one in (first, second, third)} == {Selection.SKIP_TILL_ANY_MATCH}
    for one in (first, second, third):
        assert TEXT[one.offset :].startswith(one.text)
    late = first.placed(BindingError("No column diff.", span=parse_sase_text(first.text).definitions[1].span))
    assert late.span is not None and TEXT[late.span.start : late.span.end] == "GOOG b"


def test_a_dictionary_and_a_list() -> None:
    assert [one.name for one in parse_workload({"up": "PATTERN SEQ(A a)", "and so": "PATTERN AND(A a, B b)"})] == [
        "up",
        "and so",
    ]
    named = parse_workload(["PATTERN SEQ(A a)", "PATTERN SEQ(A a) RETURN Seen(a.x)", "PATTERN SEQ(B b)"])
    assert [one.name for one in named] == ["p1", "Seen", "p3"]


def test_all_that_is_wrong_is_told_at_once() -> None:
    text = """good: PATTERN SEQ(A a);
short: PATTERN SEQ(A a, B);
PATTERN SEQ(A a);
good: PATTERN SEQ(B b);
typed: PATTERN SEQ(A a, Z z);
empty: ;
strict: PATTERN SEQ(A a) WHERE strict_contiguity { };
some: PATTERN SEQ(A a) OUTPUT NON_OVERLAP
"""
    with pytest.raises(WorkloadError) as caught:
        parse_workload(text, types=frozenset("AB"))
    error = caught.value
    assert [name for name, _ in error.wrong] == ["short", "p3", "good", "typed", "empty", "strict", "some"]
    shown = str(error)
    assert shown.startswith("7 of 8 patterns are wrong.")
    assert "line 2: short: PATTERN SEQ(A a, B);\n" + " " * 33 + "^" in shown
    assert "There are no events of the type Z." in shown and "line 5" in shown
    assert str(pickle.loads(pickle.dumps(error))) == shown


def test_two_of_one_name_in_a_list() -> None:
    with pytest.raises(WorkloadError, match="Two patterns are called Up"):
        parse_workload(["PATTERN SEQ(A a) RETURN Up(a.x)", "PATTERN SEQ(B a) RETURN Up(a.x)"])


@pytest.mark.parametrize("nothing", ["", "-- nothing", [], {}])
def test_a_workload_has_patterns(nothing: str | list[str] | dict[str, str]) -> None:
    with pytest.raises(BindingError, match="no pattern"):
        parse_workload(nothing)


def test_a_string_that_is_not_closed() -> None:
    with pytest.raises(QuerySyntaxError, match="not closed"):
        parse_workload("a: PATTERN SEQ(A a) WHERE { a.x = 'u };\nb: PATTERN SEQ(A a)")


def test_what_is_meant_as_a_workload() -> None:
    assert is_workload(TEXT)
    assert not is_workload("PATTERN SEQ(A a)")
    assert not is_workload("SELECT a.b FROM t")
    assert not is_workload("")


def test_what_can_be_read_is_told_apart_from_what_is_wrong() -> None:
    found, wrong, total = read_workload({"a": "PATTERN SEQ(A a)", "b": "PATTERN SEQ(", "c": "PATTERN AND(A a, B b)"})
    assert [one.name for one in found] == ["a", "c"]
    assert [name for name, _ in wrong] == ["b"]
    assert total == 3
