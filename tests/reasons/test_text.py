"""The report as text: what must be on the first screen."""

from __future__ import annotations

import json
from dataclasses import replace

from trellis.reasons.report import End, Miss, MissRow, Part, Step, Variable, Why

FAILED = End("P", "condition", "type = 'Purchase'", 3)
REPORT = Why(
    pattern="C Z* P",
    rows=12,
    total=12,
    partitions=3,
    longest=4,
    shortest=2,
    matches=0,
    starts=12,
    matched=0,
    variables=(
        Variable("C", "type = 'cart'", 3, (Part("type = 'cart'", 3),)),
        Variable("Z", "", 12),
        Variable("P", "type = 'Purchase'", 0, (Part("type = 'Purchase'", 0),)),
    ),
    funnel=(Step("C", 3), Step("Z*", 3), Step("P", 0)),
    ends=(End("C", "condition", "type = 'cart'", 9), FAILED),
    nearest=(Miss((("user", "1"),), 1, 1, FAILED, (MissRow(2, "C", ("cart",)), MissRow(3, "", ("purchase",)))),),
    columns=("type",),
)


def test_the_first_screen() -> None:
    assert str(REPORT).splitlines() == [
        "0 matches of (C Z* P) in 12 rows in 3 partitions",
        "",
        "Rows that satisfy the condition of a variable alone",
        "  C             3  type = 'cart'",
        "  Z            12  always true",
        "  P             0  type = 'Purchase'   <- no row",
        "",
        "How far partial matches come from 12 rows as starts",
        "  C                   3   25.0%  ######",
        "  Z*                  3   25.0%  ######",
        "  P                   0    0.0%  <- none",
        "  a match             0    0.0%  <- none",
        "",
        "What ended those without a match, where they were nearest to one",
        "              9  C: not (type = 'cart')",
        "              3  P: not (type = 'Purchase')",
        "",
        "Nearest miss",
        "  1. user = 1, from row 2, 1 row short: P: not (type = 'Purchase')",
        "     row      type",
        "       2      cart  C",
        "       3  purchase  not P",
    ]


def test_what_is_long_is_cut_to_a_screen() -> None:
    names = [f"V{number}" for number in range(40)]
    long = "x" * 500
    report = replace(
        REPORT,
        pattern=" ".join(names),
        findings=("one", "two"),
        variables=tuple(Variable(name, long, 0, (Part(long, 0), Part(long, 0))) for name in names),
        funnel=tuple(Step(name, 12) for name in names),
        ends=tuple(End(name, "condition", long, 3) for name in names),
        within="3",
        cut=2,
        nearest=(replace(REPORT.nearest[0], rows=tuple(MissRow(n, "V", (long,)) for n in range(8)), gap=9),) * 5,
    )
    lines = str(report).splitlines()
    assert len(lines) <= 48
    assert max(map(len, lines)) <= 110
    assert "  ... 32 places between" in lines
    assert "            105  for 35 other reasons" in lines


def test_ends_are_told_in_words() -> None:
    told = str(
        replace(
            REPORT,
            ends=(End("P", "within", "", 2), End("P", "rows", "", 1), End("$", "anchor", "$: at the end", 1)),
            within="INTERVAL '1' DAY",
            cut=2,
            matches=None,
            notes=("not known: too many steps",),
        )
    )
    assert "P: the row lies beyond WITHIN" in told and "P: there is no more row" in told and "$: at the end" in told
    assert "2  of all these would have gone on, had WITHIN INTERVAL '1' DAY not ended them" in told
    assert told.startswith("An unknown number of matches") and "(not known: too many steps)" in told


def test_as_a_dictionary_it_is_json() -> None:
    told = json.loads(json.dumps(REPORT.to_dict()))
    assert told["funnel"][2] == {"text": "P", "count": 0, "runs": None}
    assert told["variables"][0]["parts"] == [{"text": "type = 'cart'", "rows": 3}]
