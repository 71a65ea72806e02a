"""Conditions of events go to the edge of their last event; what cannot be placed is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

import local
from trellis.analysis.events import bind_events
from trellis.errors import BindingError, TrellisError, UnsupportedError
from trellis.languages.sase import parse_sase_text
from trellis.planning.driver import plan_query
from trellis.planning.hints import Hints

SCHEMA = [("type", "string"), ("time", "int"), ("x", "int"), ("k", "int"), ("site", "string")]


def edges(text: str) -> dict[str, str]:
    """The tests of each edge that the conditions of WHERE added, as text."""
    _, tests = bind_events(parse_sase_text(text), local.source_of(SCHEMA))
    return {
        str(edge): " AND ".join(str(one) for one in found if "`type`" not in str(one)) for edge, found in tests.items()
    }


def test_a_condition_stands_at_its_last_event() -> None:
    found = edges("""
        PATTERN SEQ(A a, B+ b[], ~(N n), C c)
        WHERE skip_till_next_match {
            a.x > 1 and b[1].x > a.x and b[i].x > b[i-1].x and b[i].x < avg(b[..i-1].x)
            and b[b.LEN].x > 3 and c.x > b[b.LEN].x and c.x < sum(b[].x) and n.x = c.x and count(b[]) > 1 }
    """)
    assert found == {
        "A": "[`x` @ CURRENT] > 1",
        "B": "[`x` @ CURRENT] > [`x` @ LAST(A)]",
        "B[i]": "[`x` @ CURRENT] > [`x` @ LAST(B)] AND [`x` @ CURRENT] < [avg(`x`) OVER B]",
        "B[LEN]": "[`x` @ LAST(B)] > 3 AND [count(*) OVER B] > 1",
        "~N": "[`x` @ CURRENT] = [`x` @ LAST(C)]",
        "C": "[`x` @ CURRENT] > [`x` @ LAST(B)] AND [`x` @ CURRENT] < [sum(`x`) OVER B]",
    }


def test_equivalence_is_a_partition_but_for_strict_contiguity() -> None:
    bound, _ = bind_events(parse_sase_text("PATTERN SEQ(A a, B b) WHERE { [k] }"), local.source_of(SCHEMA))
    assert [name for name, _ in bound.partition_by] == ["k"]
    strict = "PATTERN SEQ(A a, B b) WHERE strict_contiguity { [k] }"
    bound, _ = bind_events(parse_sase_text(strict), local.source_of(SCHEMA))
    assert bound.partition_by == ()
    assert edges(strict) == {"A": "[`k` IS NOT NULL @ CURRENT]", "B": "[`k` @ CURRENT] = [`k` @ FIRST(A)]"}


@pytest.mark.parametrize(
    ("text", "kind", "problem", "place"),
    [
        ("PATTERN SEQ(A a) WHERE { x > 1 }", BindingError, "does not say of which event", "x"),
        ("PATTERN SEQ(A a) WHERE { a.z > 1 }", BindingError, "z", "a.z"),
        ("PATTERN SEQ(A a) WHERE { [z] }", BindingError, "z", "z"),
        ("PATTERN SEQ(A a) WHERE { a[i].x > 1 }", BindingError, "single event and has no index", "a[i].x"),
        ("PATTERN SEQ(A+ a[]) WHERE { a.x > 1 }", BindingError, "say which of its events", "a.x"),
        ("PATTERN SEQ(A+ a[], B b) WHERE { a[i].x > b.x }", BindingError, "being taken", "a[i].x"),
        ("PATTERN SEQ(A+ a[], ~(N n), B b) WHERE { a[i].x > n.x }", BindingError, "being taken", "a[i].x"),
        ("PATTERN SEQ(A a, ~(N n), ~(M m), B b) WHERE { m.x > n.x }", BindingError, "m and n must both", "m.x > n.x"),
        ("PATTERN SEQ(A+ a[]) WHERE { a[].x > 1 }", BindingError, "several events", "a[].x"),
        ("PATTERN SEQ(A+ a[]) WHERE { sum(a[1].x) > 1 }", BindingError, "single event", "a[1].x"),
        ("PATTERN SEQ(A a) WHERE { sum(a.x) > 1 }", BindingError, "one repeated component", "sum(a.x)"),
        ("PATTERN SEQ(A a) WHERE { c.x > 1 }", BindingError, "c is not a component", "c.x"),
        ("PATTERN SEQ(A a) WHERE { soundex(c.x) = '' }", BindingError, "c is not a component", "c.x"),
        ("PATTERN SEQ(A a) WHERE { soundex(site) = '' }", BindingError, "site does not say of which event", "site"),
        ("PATTERN SEQ(A a) WHERE { [a.k] }", BindingError, "names a component", "a.k"),
        ("PATTERN SEQ(A a) WHERE { a = 1 }", BindingError, "whole event cannot be compared", "a"),
        ("PATTERN SEQ(A a) WHERE { a.x }", BindingError, "of type int, not a truth value", "a.x"),
        ("PATTERN SEQ(A a, B b) WHERE { a.x + b.x }", BindingError, "is not a truth value.", "a.x + b.x"),
        ("PATTERN SEQ(A+ a[]) WHERE { sum(sum(a[].x)) > 1 }", BindingError, "SUM cannot stand inside", "sum(a[].x)"),
        ("PATTERN SEQ(A+ a[]) RETURN PREV(a[1].x) AS x", BindingError, "navigates in rows", "PREV(a[1].x)"),
        ("PATTERN SEQ(A a) RETURN a.x + :more AS x", BindingError, "no value", ":more"),
        ("PATTERN SEQ(A a, B b) WITHIN :width", BindingError, "no value", ":width"),
        ("PATTERN SEQ(A+ a[]) WHERE { sum(a[]) > 1 }", BindingError, "in count only", "a[]"),
        ("PATTERN SEQ(A+ a[]) WHERE { LAST(a[1].x) > 1 }", BindingError, "navigates in rows", "LAST(a[1].x)"),
        ("PATTERN SEQ(A a) WHERE { a.x > :most }", BindingError, "no value", ":most"),
        ("PATTERN SEQ(A a, ~(N n), B b) RETURN n.x AS x", BindingError, "nothing to return", "n.x"),
        ("PATTERN SEQ(A+ a[]) RETURN a[i].x AS x", BindingError, "no single event of a match", "a[i].x"),
        ("PATTERN SEQ(A a) RETURN a.x AS x, a.k AS X", BindingError, "two columns X", "X"),
        ("PATTERN SEQ(A a) WHERE { MATCH_NUMBER() = 1 }", BindingError, "not known while", "MATCH_NUMBER()"),
        ("PATTERN SEQ(A a) WHERE { a.x = length(CLASSIFIER()) }", BindingError, "not known while", "CLASSIFIER()"),
        ("PATTERN SEQ(A a) RETURN CLASSIFIER() AS x", BindingError, "not known in RETURN", "CLASSIFIER()"),
        ("PATTERN SEQ(A a) RETURN count(*) AS n, MATCH_NUMBER() AS m", BindingError, "in common", "MATCH_NUMBER()"),
        ("PATTERN SEQ(A+ a[]) WHERE { a[i] = a[1] }", BindingError, "whole event cannot be compared", "a[i]"),
        ("PATTERN SEQ(A+ a[]) WHERE { a[1] = 5 }", BindingError, "whole event cannot be compared", "a[1]"),
        ("PATTERN SEQ(A a, ~(N n))", BindingError, "nothing says for how long", "~(N n)"),
        ("PATTERN SEQ(~(N n), A a)", BindingError, "n must be absent at the beginning", "~(N n)"),
        ("PATTERN SEQ(A a, B b) WHERE { concat(a.site, b.site) = 'xy' }", UnsupportedError, "kernels lack", ""),
        ("PATTERN SEQ(A+ a[]) WHERE { a[i].x > median(a[..i-1].x) }", UnsupportedError, "median", ""),
    ],
)
def test_refused(text: str, kind: type[TrellisError], problem: str, place: str) -> None:
    with pytest.raises(kind, match=problem) as raised:
        local.plan_clause(parse_sase_text(text), SCHEMA)
    span = raised.value.span
    assert span is not None
    assert not place or text[span.start : span.end] == place


def test_errors_about_the_time_speak_of_events() -> None:
    timed = [*SCHEMA, ("at", "timestamp")]
    with pytest.raises(BindingError, match="WITHIN measures the time of the events, which must be a time or a number"):
        local.plan_clause(parse_sase_text("PATTERN SEQ(A a, B b) WITHIN 3", time_columns="site"), SCHEMA)
    with pytest.raises(BindingError, match="Write WITHIN 10 minutes for times"):
        local.plan_clause(parse_sase_text("PATTERN SEQ(A a, B b) WITHIN 3", time_columns="at"), timed)
    with pytest.raises(BindingError, match="A window is `3 hours`"):
        parse_sase_text("PATTERN SEQ(A a, B b) WITHIN 0")
    stream = replace(local.source_of(timed), watermark="at")
    with pytest.raises(BindingError, match="Pass time='at'"):
        plan_query(parse_sase_text("PATTERN SEQ(A a, B b) WITHIN 3"), stream, Hints())
