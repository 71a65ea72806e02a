"""Stages of event patterns: which there are, what they say, and what their queries are."""

from __future__ import annotations

import local
from trellis.analysis.stages import Stage, stages_of
from trellis.languages.sase import parse_sase_text

SCHEMA = [("type", "string"), ("time", "int"), ("x", "int"), ("k", "int")]


def stages(text: str) -> list[Stage]:
    return stages_of(parse_sase_text(text), local.source_of(SCHEMA))


def test_conditions_come_with_their_last_event() -> None:
    found = stages("""
        PATTERN SEQ(A a, ~(N n), (B | C)+ b[], D d)
        WHERE skip_till_any_match {
            [k] and a.x > 1 and b[1].x > a.x and b[i].x > b[i-1].x and count(b[]) > 1 and d.x = b[b.LEN].x
            and (d.x > 3 or a.x > 3) and n.x = d.x }
        WITHIN 10 RETURN a.x AS x OUTPUT NON_OVERLAP
    """)
    assert [(stage.component, stage.conditions) for stage in found] == [
        ("A a", ("[k]", "a.x > 1")),
        ("(B | C)+ b[]", ("[k]", "b[1].x > a.x", "b[i].x > b[i-1].x")),
        ("end of b[]", ("count(b[]) > 1",)),
        ("D d", ("[k]", "d.x = b[b.LEN].x", "(d.x > 3) OR (a.x > 3)")),
        ("~(N n)", ("[k]", "n.x = d.x")),
    ]


def test_queries_are_prefixes_that_count_runs() -> None:
    found = stages(
        "PATTERN SEQ(~(N n), A+ a[], B b) WHERE { sum(a[].x) > 2 and n.x < b.x } WITHIN 5 OUTPUT NON_OVERLAP"
    )
    begin, returned = "WHERE skip_till_next_match", "WITHIN 5\nRETURN Match"
    assert [str(stage.query) for stage in found] == [
        f"PATTERN SEQ(A+ a[])\n{begin} {{ }}\n{returned}(count(*) AS `runs`)",
        f"PATTERN SEQ(A+ a[])\n{begin} {{ sum(a[].x) > 2 }}\n{returned}(count(*) AS `runs`)",
        f"PATTERN SEQ(A+ a[], B b)\n{begin} {{ sum(a[].x) > 2 }}\n{returned}(count(*) AS `runs`)",
        f"PATTERN SEQ(~(N n), A+ a[], B b)\n{begin} {{ sum(a[].x) > 2 AND n.x < b.x }}\n{returned}(count(*) AS `runs`)",
    ]
