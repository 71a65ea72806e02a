"""When rows that only `Z*` takes may be dropped, and when not: one case for each condition of the rule."""

from __future__ import annotations

import random

import pytest

import local
from trellis.analysis.repeatable import is_repeatable
from trellis.languages.match_recognize import parse_clause_text

SCHEMA = [("t", "int"), ("k", "string"), ("v", "int")]
A, B, C = "A AS k = 'a'", "B AS k = 'b' AND B.v >= A.v", "C AS k = 'c'"


def _clause(
    pattern: str, measures: str = "A.v AS a", define: str = "", skip: str = "SKIP PAST LAST ROW", rows: str = "ONE ROW"
) -> str:
    names = [text for text in (A, B, C) if text[0] in pattern]
    return (
        f"ORDER BY t, v MEASURES {measures} {rows} PER MATCH AFTER MATCH {skip} PATTERN ({pattern}) "
        f"DEFINE {', '.join([*names, *([define] if define else [])])}"
    )


DROPPED = [
    ("A Z* B", {}),
    ("A Z*? B", {}),
    ("A Z* B Z* C", {}),
    ("A Z* (B|C)", {"measures": "CLASSIFIER() AS c, first(v) AS f, last(v) AS l"}),
    ("A (Z* B)+", {"measures": "count(B.*) AS n, sum(B.v) AS s"}),
    ("A (Z*? B)+?", {"skip": "SKIP TO LAST B"}),
    ("A Z* {- B -}", {}),
    ("A Z* B", {"measures": "MATCH_NUMBER() AS n, first(t) AS f", "skip": "SKIP TO NEXT ROW"}),
]
BESIDE = [
    ("A Z* B", {"measures": "prev(last(B.v)) AS p, next(A.k, 2) AS q"}),
    ("A Z* B", {"measures": "coalesce(prev(A.v), -1) AS p, prev(A.v + 1) AS q, next(coalesce(B.k, 'none')) AS r"}),
    ("A Z* D", {"define": "D AS v > prev(v)"}),
    ("A Z* D", {"define": "D AS next(v) = 2", "measures": "D.v AS d, prev(D.v) AS p"}),
    ("A Z* D", {"define": "D AS k = 'b' AND v >= prev(A.v)", "skip": "SKIP TO NEXT ROW"}),
    ("A Z* D", {"define": "D AS coalesce(prev(v), 1) = 1", "measures": "D.t AS t"}),
    ("A Z* D", {"define": "D AS prev(coalesce(v, 1) + 1) > 2 AND k = 'b'", "measures": "D.t AS t"}),
    ("A Z* D", {"define": "D AS k > prev(k) OR k < next(k)", "measures": "D.k AS k, count(D.*) AS n"}),
    ("A (Z* D)+", {"define": "D AS v > prev(v, 2) AND v >= first(D.v)", "measures": "sum(D.v) AS s"}),
    (
        "A Z* D Z* B",
        {"define": "D AS v + prev(v) > 2 AND D.v >= A.v", "measures": "CLASSIFIER() AS c, MATCH_NUMBER() AS n"},
    ),
]
KEPT = [
    ("A B Z* C", {}, "a dropped row between A and B would make a new match"),
    ("A Z* B+", {}, "between two rows of B"),
    ("A Z+ B", {}, "Z must take a row"),
    ("A Z{0,3} B", {}, "Z takes a number of rows"),
    ("Z* A", {}, "a match begins with Z"),
    ("A Z*", {}, "a match ends with Z"),
    ("A Z* B?", {"define": ""}, "a match may end with Z"),
    ("A Z* B? Z* C", {}, "two loops between A and C"),
    ("A (Z* B | C)", {}, "C follows A at once"),
    ("(A Z* B)?", {}, "the pattern can be empty"),
    ("^ A Z* B", {}, "an anchor"),
    ("A Z* B", {"measures": "count(*) AS n"}, "all rows are counted"),
    ("A Z* B", {"measures": "count(Z.v) AS n"}, "Z is counted"),
    ("A Z* B", {"measures": "last(v, 1) AS p"}, "the last row but one may be a Z"),
    ("A Z* B", {"measures": "prev(classifier(B)) AS p"}, "the name of the row before B"),
    ("A Z* B", {"rows": "ALL ROWS"}, "all rows are shown"),
    ("A Z* B Z* C", {"skip": "SKIP TO LAST Z"}, "the search goes on at a Z"),
    ("A Z* B", {"define": "Z AS v > 0"}, "Z has a condition"),
    ("A Z* D", {}, "D may be any row"),
]


@pytest.mark.parametrize(("pattern", "more"), DROPPED)
def test_dropped(pattern: str, more: dict[str, str]) -> None:
    clause = _clause(pattern, **more)
    assert local.plan_clause(clause, SCHEMA).before.keep is not None
    assert local.plan_clause(clause, SCHEMA, off=["eliminate_rows"]).before.keep is None


@pytest.mark.parametrize(("pattern", "more"), BESIDE)
def test_dropped_after_what_stands_beside_is_computed(pattern: str, more: dict[str, str]) -> None:
    plan = local.plan_clause(_clause(pattern, **more), SCHEMA)
    assert plan.before.keep is None
    assert plan.neighbours is not None
    assert all(place.shift == 0 for place in (*plan.scan.places, *plan.scan.measure_places))
    assert local.plan_clause(_clause(pattern, **more), SCHEMA, off=["eliminate_rows"]).neighbours is None


@pytest.mark.parametrize(("pattern", "more", "why"), KEPT)
def test_kept(pattern: str, more: dict[str, str], why: str) -> None:
    plan = local.plan_clause(_clause(pattern, **more), SCHEMA)
    assert plan.before.keep is None, why
    assert plan.neighbours is None, why


@pytest.mark.parametrize(("pattern", "more"), [*DROPPED, *BESIDE])
@pytest.mark.parametrize("change", ["", "WITHIN", "PARTITION BY"])
def test_same_rows(pattern: str, more: dict[str, str], change: str) -> None:
    clause = _clause(pattern, **more)
    if change == "WITHIN":
        clause = clause.replace(" DEFINE", " WITHIN 3 DEFINE")
    elif change == "PARTITION BY":
        clause = f"PARTITION BY t % 2 {clause}"
    draw = random.Random(7)
    for _ in range(20):
        rows = [
            {"t": draw.choice([None, *range(12)]), "k": draw.choice(["a", "b", "c", "x", None]), "v": draw.randrange(3)}
            for _ in range(draw.randrange(16))
        ]
        assert local.run(clause, rows, SCHEMA) == local.run(clause, rows, SCHEMA, off=["eliminate_rows"])


def test_rand_is_not_evaluated_twice() -> None:
    clause = "ORDER BY t MEASURES A.v AS a PATTERN (A Z* B) DEFINE A AS rand() < 0.5, B AS k = 'b'"
    query = parse_clause_text(clause)
    assert not is_repeatable(query.definitions[0].condition)
    assert is_repeatable(query.definitions[1].condition)
