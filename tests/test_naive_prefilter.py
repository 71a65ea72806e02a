"""The oracle of the rules before the match: by hand, and against the oracle of the match itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import naive
from naive import NaiveQuery, Pattern, Row
from naive_notation import A, B, C, U, agg, alt, cat, col, lit, nav, op, opt, perm, plus, rep, star
from naive_prefilter import (
    buckets,
    independent_conditions,
    may_eliminate,
    may_prefilter,
    mentions,
    must_keep,
    noise,
    prefiltered,
    special_patterns,
    widest,
)
from properties.prefilter_strategies import COLUMNS, Case, partitioned_cases

Z = U  # without a condition
DEFINE = tuple((name, op("=", ("col", None, "x"), lit(name))) for name in "ABC")


def table(text: str, keys: list[Any] | None = None) -> list[Row]:
    """A row for each letter; without keys, one unit apart."""
    return [
        {"id": i, "t": t, "x": letter} for i, (letter, t) in enumerate(zip(text, keys or range(len(text)), strict=True))
    ]


def query(pattern: Pattern, **more: Any) -> NaiveQuery:
    return NaiveQuery(pattern, **{"define": DEFINE, "order_by": (("t", False, True), ("id", False, True)), **more})


def kept(text: str, asked: NaiveQuery, keys: list[Any] | None = None) -> str:
    stay = must_keep(table(text, keys), asked)
    return "".join(letter if i in stay else "." for i, letter in enumerate(text))


# ------------------------------------------------------------------------------------------------------ what must stay


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("-ABC-", cat(A, B, C), ".ABC."),
        ("-AB-C", cat(A, B, C), "....."),
        ("A-B--", cat(A, star(Z), B), "A-B.."),
        # Not preferred, and skipped over: they stay all the same.
        ("AABAB", cat(A, star(Z), B), "AABAB"),
        ("AAB", cat(A, rep(A, 0, None, False)), "AA."),
        ("AB-A", alt(cat(A, B), A), "AB.A"),
        ("A-B", opt(cat(A, B)), "..."),
    ],
)
def test_rows_of_all_matches_stay(text: str, pattern: Pattern, expected: str) -> None:
    assert kept(text, query(pattern)) == expected


def test_equal_rows_are_told_apart() -> None:
    rows = table("AAB")
    rows[1] = dict(rows[0])
    assert must_keep(rows, query(cat(A, B))) == {1, 2}


def test_within_and_partitions() -> None:
    assert kept("A-B-A-B", query(cat(A, star(Z), B), within=2), [0, 1, 2, 3, 7, 8, 10]) == "A-B...."
    rows = [row | {"g": g} for row, g in zip(table("AABB"), (1, 2, 1, None), strict=True)]
    assert must_keep(rows, query(cat(A, B), partition_by=("g",))) == {0, 2}


def test_a_condition_on_the_match_number() -> None:
    """Only a second match may have a B, so that both are possible."""
    define = (DEFINE[0], ("B", op("AND", DEFINE[1][1], op("=", ("match_number",), lit(2)))))
    assert kept("AB-AB", query(cat(A, opt(B)), define=define)) == "AB.AB"


def test_the_widest_match() -> None:
    asked = query(cat(A, star(Z), B))
    assert widest(table("A-BA", [0, 4, 9, 20]), asked) == 9
    assert widest(table("B-A"), asked) is None
    assert widest(table("AB", [None, 3]), asked) is None


# ---------------------------------------------------------------------------------------------------------- prefilters


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (cat(A, star(Z), B), {"AB", "AUB"}),
        (cat(alt(A, B), alt(C, Z)), {"AC", "AU", "BC", "BU"}),
        (cat(A, plus(cat(plus(B), C))), {"ABC"}),
        (cat(opt(A), plus(C)), {"AC", "C"}),
        (perm(A, B), {"AB", "BA"}),
        (rep(A, 2, 4), {"AA"}),
        (rep(A, 0, 0), {""}),
        (star(alt(A, cat(B, C))), {"", "A", "BC"}),
        (cat(("start",), A, ("excl", star(B)), ("end",)), {"A", "AB"}),
    ],
)
def test_special_patterns(pattern: Pattern, expected: set[str]) -> None:
    assert {"".join(special) for special in special_patterns(pattern)} == expected


def test_independent_conditions() -> None:
    x: Any = ("col", None, "x")
    between = op(">", col("B", "x"), col("A", "x"))
    define = (
        ("A", op("AND", op("=", x, lit("a")), op(">", x, nav("PREV", x)))),
        ("B", op("AND", between, op("AND", op("IS NULL", col("B", "x")), op("<", agg("count", star="*"), lit(3))))),
        ("C", op("OR", op("=", x, lit("c")), between)),
    )
    assert independent_conditions(query(cat(A, B, C, Z), define=define)) == {
        "A": [op("=", x, lit("a"))],
        "B": [op("IS NULL", col("B", "x"))],
        "C": [],
        "U": [lit(True)],
    }


@pytest.mark.parametrize(
    ("symbols", "expected"),
    [
        ((0, 1), {1}),  # from A at 12 to B at 15
        ((0,), {1, 2}),  # from A on, a window
        ((1,), {0, 1}),  # a window up to B
    ],
)
@pytest.mark.parametrize("descending", [False, True])
def test_buckets(symbols: tuple[int, ...], expected: set[int], descending: bool) -> None:
    sign = -1 if descending else 1
    rows = [row | {"g": None} for row in table("A-B-", [sign * 12, sign * 13, sign * 15, None])]
    order = (("t", descending, False), ("id", False, True))
    asked = query(cat(A, star(Z), B), order_by=order, partition_by=("g",), within=10)
    found = buckets(rows, asked, 10, ("A", "B"), symbols, independent_conditions(asked))
    # Mirrored, the bucket of 12 is that of -12, which is one of -20 to -11.
    assert found == {((None,), -1 - bucket if descending else bucket) for bucket in expected}


def test_buckets_of_a_symbol_in_the_middle() -> None:
    asked = query(cat(A, B, C), within=10)
    conditions = independent_conditions(asked)
    assert buckets(table("B", [15]), asked, 10, tuple("ABC"), (1,), conditions) == {((), b) for b in (0, 1, 2)}
    # Too far apart, in the wrong order, without a key.
    for rows in (table("AC", [0, 11]), table("CA", [0, 1]), table("AC", [None, 1])):
        assert buckets(rows, asked, 10, tuple("ABC"), (0, 2), conditions) == set()


# ------------------------------------------------------------------------------------------------- elimination of rows

GAP = cat(A, star(Z), B)
X: Any = ("col", None, "x")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("A-BC", query(cat(A, star(Z), B, C))),  # neighbours
        ("A-B", query(cat(A, rep(Z, 0, 2), B))),
        ("A-B", query(cat(A, plus(Z), B))),
        ("-AB", query(cat(star(Z), A, B))),
        ("AB-", query(cat(A, B, star(Z)))),
        ("AB-B", query(cat(A, star(Z), plus(B)))),
        ("AB", query(cat(A, opt(Z), B))),
        ("AB", query(cat(("start",), A, star(Z), B))),
        ("AB", query(cat(A, ("excl", star(Z)), B))),
        ("AB", query(alt(GAP, ("empty",)))),
        ("A-B", query(GAP, rows_per_match="ALL")),
        ("A-B", query(GAP, rows_per_match="ALL_WITH_UNMATCHED")),
        ("A-B", query(GAP, skip=("LAST", "U"))),
        ("A-B", query(GAP, skip=("FIRST", "W"), subsets=(("W", ("U", "B")),))),
        ("A-B", query(GAP, measures=(("m", agg("count", star="*")),))),
        ("A-B", query(GAP, measures=(("m", agg("count", star="U")),))),
        ("A-B", query(GAP, measures=(("m", agg("count", X)),))),
        ("A-B", query(GAP, measures=(("m", agg("count", lit(1))),))),
        ("A-B", query(GAP, measures=(("m", col("U", "x")),))),
        ("A-B", query(GAP, measures=(("m", col("W", "x")),), subsets=(("W", ("U", "A")),))),
        ("A-B", query(GAP, measures=(("m", ("classifier", "U")),))),
        ("A-B", query(GAP, measures=(("m", nav("LAST", X, 1)),))),
        ("A-B", query(GAP, measures=(("m", nav("FIRST", X, 1)),))),
        ("A-B", query(GAP, measures=(("m", nav("PREV", X)),))),
        ("A-B", query(GAP, define=(DEFINE[0], ("B", op("<", agg("count", star="*"), lit(3)))))),
    ],
)
def test_rows_that_are_observed(text: str, asked: NaiveQuery) -> None:
    assert not may_eliminate(asked)


@pytest.mark.parametrize(
    "asked",
    [
        query(GAP),
        query(cat(A, star(Z), B, rep(Z, 0, None, False), C), skip=("LAST", "B")),
        query(GAP, within=2, skip=("NEXT_ROW",), measures=(("m", ("match_number",)), ("n", agg("count", star="B")))),
        query(GAP, measures=(("m", X), ("n", nav("LAST", X)), ("o", nav("FIRST", X)), ("p", ("classifier", None)))),
        query(A),
    ],
)
def test_rows_that_nobody_sees(asked: NaiveQuery) -> None:
    assert may_eliminate(asked)
    assert not may_prefilter(asked) or asked.within is not None


def test_neighbours_that_are_computed_before() -> None:
    asked = query(GAP, measures=(("m", nav("PREV", col("B", "x"))),))
    assert may_eliminate(asked, neighbours=True) and not may_eliminate(asked)
    # From a row of the gap, even that is too late.
    assert not may_eliminate(query(GAP, measures=(("m", nav("PREV", col("U", "x"))),)), neighbours=True)


def test_noise() -> None:
    assert noise(table("A-B-C"), query(GAP)) == {1, 3, 4}
    # A variable whose conditions are all between rows may take any row.
    define = (DEFINE[0], ("B", op(">", col("B", "x"), col("A", "x"))))
    assert noise(table("A-B-C"), query(GAP, define=define)) == set()


# ------------------------------------------------------------------------------- what the definitions say of each other

more = settings(suppress_health_check=list(HealthCheck))


def results(rows: list[Row], asked: NaiveQuery) -> Any:
    try:
        return naive.run(rows, COLUMNS, asked, limit=100_000)
    except naive.SkipError as refused:
        return str(refused)
    except naive.TooManyCandidates:
        assume(False)


def quiet(asked: NaiveQuery) -> NaiveQuery:
    """Without what a prefilter could not stand: most queries would have some of it."""
    mode = {"ALL_WITH_UNMATCHED": "ALL"}.get(asked.rows_per_match, asked.rows_per_match)
    return replace(asked, measures=(("ids", agg("array_agg", ("col", None, "id"))),), rows_per_match=mode)


@more
@given(partitioned_cases(), st.data())
def test_a_prefilter_changes_nothing(case: Case, data: st.DataObject) -> None:
    asked = quiet(case.query)
    assume(asked.within is not None and may_prefilter(asked))
    assert asked.within is not None
    try:
        stay_at_least = must_keep(case.rows, asked, limit=100_000)
    except naive.TooManyCandidates:
        assume(False)
    symbols = {}
    for special in sorted(special_patterns(asked.pattern)):
        places = st.sets(st.integers(0, len(special) - 1), min_size=1, max_size=3)
        symbols[special] = sorted(data.draw(places))
    stay = prefiltered(case.rows, asked, asked.within, symbols)
    event(f"dropped {10 * (len(case.rows) - len(stay)) // max(1, len(case.rows))}0 %")
    assert stay_at_least <= stay
    left = [row for place, row in enumerate(case.rows) if place in stay]
    assert results(left, asked) == results(case.rows, asked)


@more
@given(partitioned_cases())
def test_elimination_changes_nothing(case: Case) -> None:
    unseen = [measure for measure in case.query.measures if not mentions(measure[1], "PREV", "NEXT")]
    asked = replace(case.query, measures=(*unseen, ("last", ("col", None, "id"))), rows_per_match="ONE")
    assume(may_eliminate(asked))
    gone = noise(case.rows, asked)
    event("rows eliminated" if gone else "no row eliminated")
    left = [row for place, row in enumerate(case.rows) if place not in gone]
    assert results(left, asked) == results(case.rows, asked)
