"""Event patterns with prefilters, slices and dropped events: the rows are those of the search through everything."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import local
import trellis
from some import some
from trellis.languages.sase import parse_sase_text

SCHEMA = [("id", "int"), ("type", "string"), ("time", "int"), ("k", "int"), ("x", "int")]
TIMES = ["time", "id"]

# What comes before RETURN, and what is returned beside the number of the match.
PATTERNS = {
    "kleene": (
        "SEQ(A a, B+ b[], C c) WHERE skip_till_next_match { b[i].x > b[i-1].x } WITHIN 20",
        "a.id AS a, array_agg(b[].id) AS b, c.id AS c",
    ),
    "any": (
        "SEQ(A a, B+ b[]) WHERE skip_till_any_match { a.x > 5 and b[i].x >= b[i-1].x } WITHIN 9",
        "a.id AS a, array_agg(b[].id) AS b",
    ),
    "partitions": ("SEQ(A a, B b, C c) WHERE { [k] and b.x < a.x } WITHIN 40", "a.id AS a, b.id AS b, c.id AS c"),
    "no window": ("SEQ(A a, B b) WHERE { [k] and a.x > 8 and b.x = a.x }", "a.id AS a, b.id AS b"),
    "contiguous": (
        "SEQ(A a, (A | B)+ b[]) WHERE strict_contiguity { a.x > 2 } WITHIN 12",
        "a.id AS a, array_agg(b[].id) AS b",
    ),
    "events": ("SEQ(A a, C c) WHERE { c.x > a.x } WITHIN 5 events", "a.id AS a, c.id AS c"),
    "absent after": ("SEQ(A a, ~(B b)) WHERE { b.x > a.x } WITHIN 15", "a.id AS a"),
    "absent between": (
        "SEQ(A a, ~(C c), B b) WHERE skip_till_any_match { } WITHIN 8",
        "a.id AS a, b.id AS b",
    ),
    "timed out": ("SEQ(A a, B+ b[], C c) WHERE { [k] and b[i].x > b[i-1].x } WITHIN 20", "a.id AS a, c.id AS c"),
    "timed out, contiguous": ("SEQ(A a, B b) WHERE strict_contiguity { b.x > a.x } WITHIN 4", "a.id AS a, b.id AS b"),
    "timed out, events": ("SEQ(A a, C c) WHERE { c.x > a.x } WITHIN 5 events", "a.id AS a, c.id AS c"),
    "absent before": ("SEQ(~(C c), A a, B b) WHERE { b.x > a.x } WITHIN 10", "a.id AS a, b.id AS b"),
}
HINTS: dict[str, dict[str, Any]] = {
    "slices of one window": {"slices": 1},
    "slices of three windows": {"slices": 3},
    "masks": {"prefilter": "masks"},
    "joins": {"prefilter": "joins"},
    "ranges": {"prefilter": "ranges"},
    "slices and masks": {"slices": 2, "prefilter": "masks"},
    "all events": {"off": ["keep_events", "prefilter", "slices"]},
}
ALWAYS = [
    ("kleene", "slices of one window"),
    ("partitions", "joins"),
    ("events", "slices of three windows"),
    ("absent after", "slices and masks"),
    ("timed out", "slices and masks"),
]
CASES = [*ALWAYS, *((pattern, hints) for pattern in PATTERNS for hints in HINTS if (pattern, hints) not in ALWAYS)]


def made_up() -> list[tuple[int, str, int, int, int]]:
    draw = random.Random(12)
    time, rows = 0, []
    for number in range(300):
        time += draw.choice((0, 1, 1, 2, 3, 30 if draw.random() < 0.1 else 1))
        rows.append((number, draw.choice("AAABBBCD"), time, draw.randrange(4), draw.randrange(10)))
    return rows


@pytest.fixture(scope="module")
def stream(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(made_up(), "id int, type string, time int, k int, x int").repartition(3)


@pytest.mark.parametrize("output", some(["", "OUTPUT NON_OVERLAP"]))
@pytest.mark.parametrize(("pattern", "hints"), some(CASES, always=len(ALWAYS)))
def test_rules_change_nothing(stream: DataFrame, pattern: str, hints: str, output: str) -> None:
    searched, returned = PATTERNS[pattern]
    text = f"PATTERN {searched} RETURN MATCH_NUMBER() AS n, {returned} {output}"
    text += " SHOW TIMEOUT MATCHES" if "timed out" in pattern else ""
    rows = [dict(zip((name for name, _ in SCHEMA), row, strict=True)) for row in made_up()]
    expected = local.run(parse_sase_text(text, "type", ("time", "id")), rows, SCHEMA)
    assert len(expected) > 3
    found = trellis.sase(text, events=stream, time=TIMES, hints=HINTS[hints])
    assert sorted(map(repr, (row.asDict() for row in found.collect()))) == sorted(map(repr, expected))
