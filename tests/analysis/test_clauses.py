"""OR split, AND and SEQ flattened, and conditions where their events are."""

from __future__ import annotations

import pytest

from trellis.algebra.clauses import Clause, Window
from trellis.algebra.expression import Literal
from trellis.analysis.clauses import clauses_of
from trellis.errors import BindingError, TrellisError, UnsupportedError
from trellis.languages.sase import parse_sase_text


def clauses(text: str) -> tuple[Clause, ...]:
    return clauses_of("p", parse_sase_text(f"PATTERN {text}", combined=True))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SEQ(A a, B b)", ["A A, B B | A -> B"]),
        ("AND(A a, B b)", ["A A, B B"]),
        ("SEQ(A a, AND(B b, C c), D d)", ["A A, B B, C C, D D | A -> B, A -> C, A -> D, B -> D, C -> D"]),
        ("AND(SEQ(A a, B b), C c)", ["A A, B B, C C | A -> B"]),
        ("SEQ(A a, OR(B b, C c))", ["A A, B B | A -> B", "A A, C C | A -> C"]),
        ("AND(OR(A a, B b), OR(C c, D d))", ["A A, C C", "A A, D D", "B B, C C", "B B, D D"]),
        ("OR(SEQ(A a, B b), SEQ(C a, B b))", ["A A, B B | A -> B", "C A, B B | A -> B"]),
        ("SEQ(A a, ~(N n), B b)", ["A A, B B, ~(N N after A before B) | A -> B"]),
        ("SEQ(A a, ~(N n), AND(B b, C c))", ["A A, B B, C C, ~(N N after A before B, C) | A -> B, A -> C"]),
        ("SEQ(A a, AND(B b, ~(N n)), C c)", ["A A, B B, C C, ~(N N after A before C) | A -> B, A -> C, B -> C"]),
        ("AND(A a, ~(N n))", ["A A, ~(N N)"]),
        ("SEQ(A a, OR(~(N n), ~(M m)))", ["A A, ~(N N after A)", "A A, ~(M M after A)"]),
    ],
)
def test_structure(text: str, found: list[str]) -> None:
    assert [str(clause) for clause in clauses(text)] == [f"{one} | WITHIN unbounded" for one in found]


def test_conditions_are_on_the_clauses_that_have_their_events() -> None:
    first, second = clauses("SEQ(A a, OR(B b, C c)) WHERE { a.x < b.x and a.x < c.y and a.z = 1 and c.z > 2 }")
    assert [str(one) for one in first.conditions] == ["a.x < b.x"]
    assert [str(one) for one in second.conditions] == ["a.x < c.y"]
    assert [str(one) for one in first.parts[0].tests] == [str(one) for one in second.parts[0].tests] == ["a.z = 1"]
    assert [str(one) for one in second.parts[1].tests] == ["2 < c.z"]


def test_conditions_on_what_is_absent() -> None:
    (clause,) = clauses("SEQ(A a, ~(N n), B b) WHERE { n.x = 1 and n.y = a.y and a.z < b.z }")
    (absence,) = clause.absences
    assert [str(one) for one in absence.event.tests] == ["n.x = 1"]
    assert [one.variables for one in absence.conditions] in ([("A", "N")], [("N", "A")])
    assert [str(one) for one in clause.conditions] == ["a.z < b.z"]


def test_conditions_on_sets() -> None:
    (clause,) = clauses("SEQ(A a, B+ b[]) WHERE { b[i].x > b[i-1].x and b[].x > a.x and avg(b[].x) < a.y }")
    assert [str(one) for one in clause.parts[1].tests] == ["b[i-1].x < b[i].x"]
    assert sorted(str(one) for one in clause.conditions) == ["a.x < b[].x", "avg(b[].x) < a.y"]


def test_one_event_agrees_with_itself_only_if_it_has_a_value() -> None:
    (clause,) = clauses("SEQ(A a) WHERE { [k] }")
    assert clause.parts[0].label == "A {`?0`.k IS NOT NULL}"
    (two,) = clauses("SEQ(A a, B b) WHERE { [k, j] }")
    assert [part.label for part in two.parts] == ["A", "B"] and list(map(str, two.keys)) == ["j", "k"]


@pytest.mark.parametrize(
    ("width", "scale", "size"),
    [
        (Window(Literal("INTERVAL 15 MINUTES")), "time", 900e6),
        (Window(Literal("INTERVAL '2' HOUR")), "time", 7200e6),
        (Window(Literal("10")), "number", 10.0),
        (Window(events=500), "events", 500.0),
        (Window(), "unbounded", None),
        (Window(Literal("INTERVAL 1 DAY")), "by the clock: INTERVAL 1 DAY", 86400e6),
        (Window(Literal("INTERVAL 1 MONTH")), "by the clock: INTERVAL 1 MONTH", 30 * 86400e6),
    ],
)
def test_windows(width: Window, scale: str, size: float | None) -> None:
    assert (width.scale, width.size) == (scale, size)


@pytest.mark.parametrize(
    ("text", "problem", "at"),
    [
        ("OR(A a, B b) WHERE { a.x = b.x }", "never in one match", "a.x = b.x"),
        ("SEQ(A a, B b) WHERE { x = 1 }", "x does not say of which event", "x"),
        ("SEQ(A+ a[], B b) WHERE { a.x = 1 }", "a is repeated", "a.x"),
        ("SEQ(A a, B b) WHERE { a[1].x = 1 }", "a is a single event", "a[1].x"),
        ("SEQ(A a, ~(B b), ~(C c)) WHERE { b.x = c.x } WITHIN 5", "b and c must both be absent", "b.x = c.x"),
        ("AND(A+ a[], B+ b[]) WHERE { a[i].x < b[i].x }", "i counts the events of one variable", "a[i].x < b[i].x"),
        ("SEQ(A a) WHERE { MATCH_NUMBER() = 1 }", "not known while events are taken", "MATCH_NUMBER()"),
    ],
)
def test_mistakes(text: str, problem: str, at: str) -> None:
    with pytest.raises(BindingError, match=problem) as caught:
        clauses(text)
    span = caught.value.span
    assert span is not None and f"PATTERN {text}"[span.start : span.end].upper() == at.upper()


def test_too_many_alternatives() -> None:
    parts = ", ".join(f"OR(A a{number}, B b{number})" for number in range(12))
    with pytest.raises(UnsupportedError, match="4,096 alternatives") as caught:
        clauses(f"AND({parts})")
    assert isinstance(caught.value, TrellisError)
