"""Clauses that nothing can match."""

from __future__ import annotations

import pytest

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression, Identifier, Name
from trellis.analysis.clauses import clauses_of
from trellis.analysis.contradictions import empty_patterns, is_contradictory
from trellis.analysis.types import Type, type_from_spark
from trellis.languages.sase import parse_sase_text

_TYPES = {"x": "int", "y": "int", "z": "double", "name": "string", "time": "bigint"}


def type_of(expression: Expression) -> Type | None:
    if isinstance(expression, e.Column):
        return type_from_spark(_TYPES[expression.path[0]])
    return type_from_spark("int")


def is_empty(text: str, time: Name | None = None) -> bool:
    clauses = clauses_of("p", parse_sase_text(f"PATTERN {text}", combined=True))
    return empty_patterns(clauses, type_of, time) == ("p",)


@pytest.mark.parametrize(
    "conditions",
    [
        "a.x > 5 and a.x < 3",
        "a.x < b.x and b.x < a.x",
        "a.x < b.x and b.x < c.x and c.x < a.x",
        "a.x = 3 and b.x = 4 and a.x = b.x",
        "a.z < b.z and b.z <= a.z",
        "a.name = 'u' and a.name = 'v'",
        "a.x in (1, 2) and a.x > 2",
        "a.x is null and a.x = b.x",
        "false",
    ],
)
def test_conditions_that_contradict_each_other(conditions: str) -> None:
    assert is_empty(f"SEQ(A a, B b, C c) WHERE {{ {conditions} }}")


@pytest.mark.parametrize(
    "conditions",
    [
        "a.x < 5 and b.x > 7",
        "a.x < b.x and b.y < a.y",
        "a.z > 3 and a.z < 4",
        "a.x < b.x and b.x < c.x",
        "a.x > 5 and abs(b.x) < 3",
    ],
)
def test_conditions_that_can_hold(conditions: str) -> None:
    assert not is_empty(f"SEQ(A a, B b, C c) WHERE {{ {conditions} }}")


def test_a_pattern_is_empty_if_all_of_its_clauses_are() -> None:
    assert not is_empty("OR(A a, B b) WHERE { a.x < 1 and a.x > 1 }")
    assert is_empty("OR(A a, B b) WHERE { a.x < 1 and a.x > 1 and b.x < 1 and b.x > 1 }")


def test_what_is_absent_or_repeated_is_not_looked_at() -> None:
    assert not is_empty("SEQ(A a, ~(B b)) WHERE { b.x < 1 and b.x > 1 } WITHIN 5")
    assert not is_empty("SEQ(A a, B+ b[]) WHERE { b[1].x < 1 and b[b.LEN].x > 1 }")


def test_time_goes_on() -> None:
    time = Name((Identifier("time"),))
    text = "SEQ(A a, B b) WHERE { a.time > b.time }"
    assert is_empty(text, time) and not is_empty(text)
    assert not is_empty("AND(A a, B b) WHERE { a.time > b.time }", time)
    (clause,) = clauses_of("p", parse_sase_text(f"PATTERN {text}"))
    assert is_contradictory(clause, type_of, time)
