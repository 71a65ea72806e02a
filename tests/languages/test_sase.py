"""SASE+ as text: what is read, and what is refused where."""

from __future__ import annotations

import pytest

from languages.event_queries import CONTAMINATION, EVENT_QUERIES, SHOPLIFTING, STOCKS
from trellis.algebra.events import Component, components_of
from trellis.algebra.expression import Literal, Member, MemberIndex, Operator
from trellis.algebra.query import Query, Selection, VariableKind, Wanted
from trellis.errors import BindingError, QuerySyntaxError, TrellisError, UnsupportedError
from trellis.languages.event_builder import build_events
from trellis.languages.sase import is_sase, parse_sase_text


def where(text: str) -> tuple[object, ...]:
    events = parse_sase_text(text).events
    assert events is not None
    return events.where


def test_the_queries_of_the_paper() -> None:
    query = parse_sase_text(SHOPLIFTING)
    assert query.kind is VariableKind.EVENT
    assert components_of(query.pattern) == (Component("A"), Component("B", absent=True), Component("C"))
    assert str(query.within) == "INTERVAL 12 HOURS"
    assert parse_sase_text(CONTAMINATION).selection is Selection.SKIP_TILL_ANY_MATCH
    assert components_of(parse_sase_text(STOCKS).pattern) == (Component("A", repeated=True), Component("B"))
    share = where(STOCKS)[-1]
    assert isinstance(share, Operator) and str(share) == "b.volume < (0.8 * a[a.LEN].volume)"


@pytest.mark.parametrize("name", ["b", "`b`", "`b b`", "é"])
def test_the_last_of_a_variable_with_any_name(name: str) -> None:
    text = f"PATTERN SEQ(A+ {name}[], B c) WHERE {{ {name}[{name}.LEN].x = c.x }}"
    query = parse_sase_text(text)
    assert parse_sase_text(str(query)) == query


@pytest.mark.parametrize("text", EVENT_QUERIES)
def test_the_text_of_a_query_can_be_read_back(text: str) -> None:
    query = parse_sase_text(text)
    assert parse_sase_text(str(query)) == query


@pytest.mark.parametrize(
    ("member", "index"),
    [
        ("b[1].x", MemberIndex.FIRST),
        ("b[i].x", MemberIndex.CURRENT),
        ("b[ i - 1 ].x", MemberIndex.PREVIOUS),
        ("b[b.LEN].x", MemberIndex.LAST),
        ("B[len].x", MemberIndex.LAST),
    ],
)
def test_members(member: str, index: MemberIndex) -> None:
    (condition,) = where(f"PATTERN SEQ(A+ b[]) WHERE strict_contiguity {{ {member} > 1 }}")
    assert isinstance(condition, Operator)
    read = condition.operands[0]
    assert isinstance(read, Member) and read.index is index


@pytest.mark.parametrize(
    ("written", "read"), [("80%*a.x", "0.8 * a.x"), ("12.5% * a.x", "0.125 * a.x"), ("a.x % 500", "a.x % 500")]
)
def test_percentages_are_not_remainders(written: str, read: str) -> None:
    (condition,) = where(f"PATTERN SEQ(A a) WHERE {{ {written} = 1 }}")
    assert str(condition) == f"({read}) = 1"
    (condition,) = where("PATTERN SEQ(A a) WHERE { a.x > 5% }")
    assert isinstance(condition, Operator) and condition.operands[1] == Literal("0.05")
    (condition,) = where("PATTERN SEQ(A a) WHERE { 500 %a.x = 1 }")
    assert str(condition) == "(500 % a.x) = 1"
    (condition,) = where("PATTERN SEQ(A end) WHERE { 5% end.x = 1 }")
    assert str(condition) == "(5 % end.x) = 1"


@pytest.mark.parametrize(
    "text",
    [
        "WHERE { case when a.x > 5% then 5% else 5% end = 1 and a.x between 5% and 5% }",
        "WHERE a.x > 5% WITHIN 3",
        "RETURN 5% AS share, a.x > 5% is null AS unknown",
        "RETURN Share(a.x in (5%, 5%) AS low, 5% in (1, 2) AS high)",
    ],
)
def test_percentages_end_before_what_no_value_begins_with(text: str) -> None:
    assert "%" not in str(parse_sase_text(f"PATTERN SEQ(A a) {text}"))


def test_the_length_of_a_component_is_a_number() -> None:
    text = "PATTERN SEQ(A a, B+ b[]) WHERE {{ {0} >= 3 and a.len > b[b.LEN].x }} RETURN {0} AS n, {0} * 2 AS m"
    assert parse_sase_text(text.format("b.len")) == parse_sase_text(text.format("count(b[])"))
    (measure,) = parse_sase_text("PATTERN SEQ(B+ b[]) RETURN b.LEN").measures
    assert (measure.name, str(measure.expression)) == ("LEN", "count(b[])")
    built = build_events("B+ b[]").where("b.LEN > 2").returning(n="b.LEN").query()
    assert built == parse_sase_text("PATTERN SEQ(B+ b[]) WHERE { count(b[]) > 2 } RETURN count(b[]) AS n")


def test_parts_that_may_be_left_out() -> None:
    query = parse_sase_text("PATTERN SEQ((A | B) a, ANY(C, D)+ d[]) WHERE { [k, site.id] } OUTPUT NON_OVERLAP")
    assert query.selection is Selection.SKIP_TILL_NEXT_MATCH
    assert query.wanted is Wanted.NON_OVERLAPPING
    assert query.events is not None
    assert [variable.types for variable in query.events.variables] == [("A", "B"), ("C", "D")]
    assert [str(name) for name in query.events.same] == ["k", "site.id"]
    assert parse_sase_text("PATTERN SEQ(A a)").wanted is Wanted.ALL


def test_windows() -> None:
    def window(text: str) -> Query:
        return parse_sase_text(f"PATTERN SEQ(A a) WITHIN {text}")

    assert str(window("1 hour 30 minutes").within) == "INTERVAL 1 HOUR 30 MINUTES"
    assert str(window("INTERVAL '2' DAY").within) == "INTERVAL '2' DAY"
    assert str(window("10").within) == "10"
    counted = window("500 events").events
    assert counted is not None and counted.most_events == 500


def test_what_is_returned() -> None:
    query = parse_sase_text("PATTERN SEQ(A a, B+ b[]) RETURN Stolen(a.tag, b[1].time, count(b[]) AS n)")
    assert [measure.name for measure in query.measures] == ["tag", "time", "n"]
    assert query.events is not None and query.events.result_type == "Stolen"
    query = parse_sase_text("PATTERN SEQ(A a, B+ b[]) RETURN upper(a.tag) AS tag OUTPUT ALL")
    assert query.events is not None and query.events.result_type == "Match"


def test_what_is_meant_as_an_event_pattern() -> None:
    assert is_sase("-- alarms\n pattern seq(A a)")
    assert not is_sase("SELECT 1")


def test_columns_of_type_and_time() -> None:
    query = parse_sase_text("PATTERN SEQ(A a)", "kind", ["ts", "id"])
    assert [str(key.expression) for key in query.order_by] == ["`ts`", "`id`"]
    with pytest.raises(BindingError, match="No column holds the time"):
        parse_sase_text("PATTERN SEQ(A a)", time_columns=[])
    with pytest.raises(TypeError, match="must be a string, not an int"):
        parse_sase_text("PATTERN SEQ(A a)", time_columns=["ts", 5])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("text", "kind", "problem", "place"),
    [
        ("PATTERN (A a)", QuerySyntaxError, "Expected SEQ", "("),
        ("PATTERN SEQ(A)", QuerySyntaxError, "the name of the component", ")"),
        ("PATTERN SEQ(A+ a)", QuerySyntaxError, "is repeated, so it has brackets", "a"),
        ("PATTERN SEQ(A a[])", QuerySyntaxError, "has brackets, so it is repeated", "a"),
        ("PATTERN SEQ(A* a[])", QuerySyntaxError, "`\\+` or a name", "*"),
        ("PATTERN SEQ(~(A+ a[]), B b)", QuerySyntaxError, "cannot be repeated", "+"),
        ("PATTERN SEQ(A a, B a)", BindingError, "Two components are called a", "B a"),
        ("PATTERN SEQ(~(A a))", BindingError, "Every component is negated", "SEQ(~(A a))"),
        ("PATTERN SEQ(A a) WHERE often { }", QuerySyntaxError, "a selection strategy", "often"),
        ("PATTERN SEQ(A a) WHERE strict_contiguity(z) { }", BindingError, "z is not a component", "z"),
        ("PATTERN SEQ(A a) RETURN a.*", QuerySyntaxError, "`a AS event` returns a whole event", "*"),
        (
            "PATTERN SEQ(A a) WHERE { sum(a.x) OVER () > 1 }",
            UnsupportedError,
            "inside an event pattern",
            "sum(a.x) OVER",
        ),
        ("PATTERN SEQ(A a) WHERE { a.x = 1 or a.x = 2 }", QuerySyntaxError, "Expected AND", "or"),
        ("PATTERN SEQ(A+ a[]) WHERE { a[i-2].x = 1 }", QuerySyntaxError, "no index of a", "[i-2]"),
        ("PATTERN SEQ(A+ a[]) WHERE { a[i+1].x = 1 }", QuerySyntaxError, "no index of a", "[i+1]"),
        ("PATTERN SEQ(A a) WITHIN 0 events", QuerySyntaxError, "1 or more", "0 events"),
        ("PATTERN SEQ(A a) WITHIN 0 hours", BindingError, "zero", "0 hours"),
        ("PATTERN SEQ(A a) RETURN a.x + 1", QuerySyntaxError, "AS and the name", ""),
        ("PATTERN SEQ(A a) OUTPUT SOME", QuerySyntaxError, "ALL or NON_OVERLAP", "SOME"),
        (
            "PATTERN SEQ(A a) RETURN a.x WITHIN 3",
            QuerySyntaxError,
            "the end of the query(.|\\s)*in this order",
            "WITHIN",
        ),
        ("PATTERN SEQ(A a) WITHIN 5 SHOW MATCHES", QuerySyntaxError, "TIMEOUT", "MATCHES"),
        ("PATTERN SEQ(A a) WITHIN 5 SHOW TIMEOUT MATCHES OUTPUT ALL", QuerySyntaxError, "in this order", "OUTPUT"),
        (
            "PATTERN SEQ(A a, B b) SHOW TIMEOUT MATCHES",
            BindingError,
            "there is no window(.|\\s)*Add WITHIN",
            "SHOW TIMEOUT MATCHES",
        ),
        (
            "PATTERN SEQ(A a, B b) WHERE skip_till_any_match { } WITHIN 5 SHOW TIMEOUT MATCHES",
            BindingError,
            "every beginning of a match would time out(.|\\s)*skip_till_next_match",
            "SHOW TIMEOUT MATCHES",
        ),
        (
            "PATTERN SEQ(A a, B b) WITHIN 5 RETURN 1 + count(*) AS n SHOW TIMEOUT MATCHES",
            BindingError,
            "has no such end(.|\\s)*Leave out",
            "count(*)",
        ),
        ("PATTERN SEQ()", QuerySyntaxError, "the type of an event(.|\\s)*A component is", ")"),
    ],
)
def test_refused(text: str, kind: type[TrellisError], problem: str, place: str) -> None:
    with pytest.raises(kind, match=problem) as raised:
        parse_sase_text(text)
    span = raised.value.span
    assert span is not None
    assert text[span.start : span.end] == place


def test_compressed_matches_do_not_time_out() -> None:
    text = "PATTERN SEQ(A a, B b) WITHIN 5 SHOW TIMEOUT MATCHES"
    assert parse_sase_text(text).timeouts and not parse_sase_text("PATTERN SEQ(A a) WITHIN 5").timeouts
    with pytest.raises(BindingError, match=r"has no such end(.|\s)*compressed=True") as caught:
        parse_sase_text(text, compressed=True)
    assert caught.value.span is not None and caught.value.span.start == text.index("SHOW")


def test_types_may_be_known() -> None:
    known = frozenset({"Order", "Payment", "Shelf"})
    parse_sase_text("PATTERN SEQ(Order o, (Payment | Shelf) p)", types=known)
    with pytest.raises(BindingError, match="no events of the type Ordr") as caught:
        parse_sase_text("PATTERN SEQ(Shelf s, (Payment | Ordr) o)", types=known)
    assert caught.value.cure == "Did you mean Order?"
    assert caught.value.span is not None and caught.value.span.start == 32
    with pytest.raises(BindingError) as caught:
        parse_sase_text("PATTERN SEQ(~(Exit e), Order o)", types=known)
    assert caught.value.cure == "The types are Order, Payment, Shelf."


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN SEQ(A `a`, `5` b, (`order placed` | C)+ c[]) WHERE { `a`.x = 1 and c[i].x > c[i-1].x }",
        "PATTERN SEQ(A a) WHERE skip_till_any_match { } WITHIN 5 events OUTPUT NON_OVERLAP",
        "PATTERN SEQ(A a, ~(B b), C+ c[]) WHERE { [x, y] and (a.x = 1 or c[1].x = 2) } WITHIN 3 hours "
        "RETURN T(a.x AS `q r`)",
    ],
)
def test_the_text_of_a_query_is_read_back(text: str) -> None:
    query = parse_sase_text(text)
    assert parse_sase_text(str(query)) == query
