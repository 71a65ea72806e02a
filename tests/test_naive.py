"""The oracle against cases small enough to work out by hand: patterns, conditions, values."""

from __future__ import annotations

from typing import Any

import pytest

from naive import Expr, Pattern, TooManyCandidates, operate, run
from naive_notation import (
    EMPTY,
    ID,
    IDS,
    LABELS,
    LETTERS,
    A,
    B,
    C,
    N,
    U,
    V,
    W,
    X,
    Y,
    agg,
    alt,
    by_id,
    candidates,
    cat,
    col,
    letter_rows,
    lit,
    matches,
    measured,
    nav,
    number_rows,
    op,
    opt,
    perm,
    plus,
    rep,
    star,
)

# ---------------------------------------------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("ABBCD", cat(A, plus(B), C), ["ABBC"]),
        ("ACD", cat(A, plus(B), C), []),
        ("", star(A), []),
        ("ACABC", cat(A, star(B), C), ["AC", "ABC"]),
        # The left alternative wins even if it is shorter, unless the rest of the pattern fails.
        ("AB", alt(A, cat(A, B)), ["A"]),
        ("ABC", cat(alt(A, cat(A, B)), C), ["ABC"]),
        ("AB", alt(cat(A, B), A), ["AB"]),
        # Greedy and reluctant.
        ("AAB", star(A), ["AA", ""]),
        ("AA", rep(A, 0, None, False), ["", ""]),
        ("AA", rep(A, 1, None, False), ["A", "A"]),
        ("AAB", cat(rep(A, 0, None, False), B), ["AAB"]),
        ("xx", cat(opt(U), V), ["UV"]),
        ("xx", cat(rep(U, 0, 1, False), V), ["V", "V"]),
        ("AAAAA", rep(A, 2, 3), ["AAA", "AA"]),
        ("AAAAA", rep(A, 2, 3, False), ["AA", "AA"]),
        ("AAA", rep(A, 0, 2), ["AA", "A"]),
        ("AA", rep(A, 0, 0), ["", ""]),
        ("ABAB", rep(cat(A, B), 2, 2), ["ABAB"]),
        # Iterations that may be empty.
        ("Y", cat(rep(opt(A), 2), Y), ["Y"]),
        ("AY", cat(rep(opt(A), 2), Y), ["AY"]),
        ("AAAY", cat(rep(opt(A), 2), Y), ["AAAY"]),
        ("AAAY", cat(rep(opt(A), 2, 2), Y), ["AAY"]),
        ("AAB", star(star(A)), ["AA", ""]),
        ("AAB", rep(star(A), 1, None, False), ["AA", ""]),
        ("AAB", plus(alt(A, EMPTY)), ["AA", ""]),
        ("AAB", plus(alt(EMPTY, A)), ["", "", ""]),
        ("AAB", star(alt(EMPTY, A)), ["", "", ""]),
        ("AAB", cat(star(alt(EMPTY, A)), B), ["AAB"]),
        ("AAA", cat(A, opt(alt(EMPTY, A))), ["A", "A", "A"]),
        ("AA", rep(alt(EMPTY, A), 1, None, False), ["", ""]),
        ("AA", rep(alt(EMPTY, A), 1, 1), ["", ""]),
        ("A", rep(alt(A, EMPTY), 3, 3), ["A"]),
        ("B", EMPTY, [""]),
        # PERMUTE.
        ("xxx", perm(U, V, W), ["UVW"]),
        ("CAB", perm(A, B, C), ["CAB"]),
        ("BBA", perm(A, plus(B)), ["BBA"]),
        # Anchors; the search never starts after the last row.
        ("AA", cat(("start",), A), ["A"]),
        ("AB", cat(("start",), star(A), ("end",)), []),
        ("BA", cat(star(A), ("end",)), ["A"]),
        ("AB", ("start",), [""]),
        ("AB", ("end",), []),
    ],
)
def test_matches_of_letters(text: str, pattern: Pattern, expected: list[str]) -> None:
    assert matches(text, pattern) == expected


@pytest.mark.parametrize(
    ("rows", "pattern", "expected"),
    [
        (2, rep(alt(U, V), 1, 2), ["UU", "UV", "U", "VU", "VV", "V"]),
        (2, rep(alt(U, V), 1, 2, False), ["U", "UU", "UV", "V", "VU", "VV"]),
        (2, cat(star(U), star(V)), ["UU", "UV", "U", "VV", "V", ""]),
        (3, perm(U, V, W), ["UVW", "UWV", "VUW", "VWU", "WUV", "WVU"]),
        (2, perm(opt(U), V), ["UV", "V", "VU", "V"]),
        (1, rep(opt(U), 2, 2), ["U", "U", ""]),
        (1, rep(alt(EMPTY, U), 1, 2), ["", "U", "", "U", "U"]),
        (1, rep(alt(EMPTY, U), 0, 2), ["", "U", "U", ""]),
        (1, star(alt(EMPTY, U)), ["", "U", "U", ""]),
        (1, rep(alt(EMPTY, U), 0, None, False), ["", "", "U", "U"]),
        (1, cat(alt(U, EMPTY), ("end",)), ["U"]),
    ],
)
def test_preference_order(rows: int, pattern: Pattern, expected: list[str]) -> None:
    # All ways are listed, in their order; of those with the same labels the matcher needs the first.
    assert candidates(rows, pattern) == list(dict.fromkeys(expected))


def test_limit_stops_an_enumeration_that_is_too_big() -> None:
    with pytest.raises(TooManyCandidates):
        run(letter_rows("A" * 20), ["id", "x"], by_id(cat(star(star(A)), Y), define=LETTERS), limit=1000)


# ---------------------------------------------------------------------------------------------------- conditions


def test_fall_and_rise() -> None:
    query = by_id(
        cat(U, plus(A), plus(B)),
        define=(("A", op("<", N, nav("PREV", N))), ("B", op(">", N, nav("PREV", N)))),
        measures=LABELS + IDS,
    )
    assert run(number_rows(10, 8, 6, 7, 9, 9, 4, 5), ["id", "n"], query) == [
        {"labels": list("UAABB"), "ids": [0, 1, 2, 3, 4]},
        {"labels": list("UAB"), "ids": [5, 6, 7]},
    ]


def test_unknown_condition_is_not_true() -> None:
    query = by_id(A, define=(("A", op(">", N, lit(1))),), measures=IDS)
    assert run(number_rows(2, None, 0), ["id", "n"], query) == [{"ids": [0]}]


def test_running_first_has_no_second_row_at_the_first() -> None:
    query = by_id(plus(A), define=(("A", op("IS NULL", nav("FIRST", ID, 1))),), measures=IDS)
    assert [row["ids"] for row in run(letter_rows("---"), ["id", "x"], query)] == [[0], [1], [2]]


def test_a_variable_in_its_own_condition_is_the_current_row() -> None:
    # A.n is the row being tried and LAST(A.n, 1) the A before it, which the first A does not have.
    query = by_id(
        plus(A),
        define=(("A", op("OR", op("IS NULL", nav("LAST", col("A", "n"), 1)), op(">", col("A", "n"), lit(2)))),),
        measures=IDS,
    )
    assert [row["ids"] for row in run(number_rows(1, 3, 4, 2), ["id", "n"], query)] == [[0, 1, 2], [3]]


def test_another_variable_is_its_last_row_so_far() -> None:
    # B must exceed the last A; with A+ greedy and unconditional the match backs off until that holds.
    query = by_id(cat(plus(U), B), define=(("B", op(">", N, col("U", "n"))),), measures=IDS)
    assert [row["ids"] for row in run(number_rows(1, 2, 5, 3), ["id", "n"], query)] == [[0, 1, 2]]


def test_running_aggregate_counts_the_row_being_tried() -> None:
    query = by_id(plus(A), define=(("A", op("<=", agg("sum", col("A", "n")), lit(5))),), measures=IDS)
    assert [row["ids"] for row in run(number_rows(1, 2, 3, 6), ["id", "n"], query)] == [[0, 1], [2]]


def test_match_number_in_a_condition_is_the_number_sought() -> None:
    query = by_id(A, define=(("A", op("=", ID, ("match_number",))),), measures=IDS)
    assert run(letter_rows("----"), ["id", "x"], query) == [{"ids": [1]}, {"ids": [2]}, {"ids": [3]}]


def test_classifier_in_a_condition() -> None:
    query = by_id(
        cat(alt(A, B), V),
        define=(("A", op("=", X, lit("A"))), ("V", op("=", nav("PREV", ("classifier", None)), lit("B")))),
        measures=LABELS,
    )
    # At row 0 the label A leads V to fail, B (unconditional) is the candidate that holds.
    assert run(letter_rows("AA"), ["id", "x"], query) == [{"labels": ["B", "V"]}]


# ---------------------------------------------------------------------------------------------------- navigation


def test_navigation_in_measures_of_one_row() -> None:
    query = by_id(cat(A, plus(B), C), define=LETTERS, subsets=(("S", ("A", "C")),))
    # ids:     0 1 2 3 4 5
    rows = letter_rows("-ABBC-")
    assert measured(
        rows,
        query,
        ID,
        col("B", "id"),
        nav("FIRST", col("B", "id")),
        nav("FIRST", col("B", "id"), 1),
        nav("FIRST", col("B", "id"), 2),
        nav("LAST", ID, 1),
        nav("FIRST", ID),
        nav("PREV", col("A", "id")),
        nav("PREV", ID, 0),
        nav("PREV", ID, 5),
        nav("NEXT", ID),
        nav("NEXT", ID, 2),
        nav("PREV", nav("FIRST", col("B", "id"), 1), 3),
        nav("NEXT", nav("LAST", col("B", "id"), 5), 0),
        nav("LAST", col("S", "id"), 1),
        ("classifier", None),
        ("classifier", "S"),
        nav("FIRST", ("classifier", "S")),
        nav("PREV", ("classifier", None)),
        nav("NEXT", ("classifier", None)),
        nav("PREV", op("+", col("B", "id"), col("B", "id"))),
    ) == [(4, 3, 2, 3, None, 3, 1, 0, 4, None, 5, None, 0, None, 1, "C", "C", "A", "B", None, 4)]


def test_a_navigation_to_no_row_is_null_whatever_it_evaluates() -> None:
    inside = nav("PREV", ("call", "coalesce", (N, lit(0))))
    outside = ("call", "coalesce", (nav("PREV", N), lit(0)))
    rows = number_rows(None, None)
    assert measured(rows, by_id(U), inside, outside) == [(None, 0), (0, 0)]


def test_navigation_stays_in_the_partition() -> None:
    rows = [{"k": k, "id": i} for i, k in enumerate([1, 2, 1, 2])]
    query = by_id(U, partition_by=("k",))
    assert measured(rows, query, ID, nav("PREV", ID), nav("NEXT", ID)) == [
        (0, None, 2),
        (2, 0, None),
        (1, None, 3),
        (3, 1, None),
    ]


def test_running_and_final_in_all_rows() -> None:
    query = by_id(cat(A, plus(B)), define=LETTERS, rows_per_match="ALL")
    assert measured(
        letter_rows("ABB-"),
        query,
        ID,
        col("B", "id"),
        nav("LAST", col("B", "id"), None, "FINAL"),
        nav("LAST", ID, None, "RUNNING"),
        nav("LAST", ID, None, "FINAL"),
        nav("FIRST", ID, 1),
        nav("FIRST", ID, 1, "FINAL"),
        nav("NEXT", ID),
        nav("PREV", nav("LAST", ID, None, "FINAL"), 2),
        agg("count", star="*"),
        agg("count", star="*", mode="FINAL"),
        agg("count", star="B"),
        ("classifier", None),
        ("classifier", "B"),
        ("match_number",),
    ) == [
        (0, None, 2, 0, 2, None, 1, 1, 0, 1, 3, 0, "A", None, 1),
        (1, 1, 2, 1, 2, 1, 1, 2, 0, 2, 3, 1, "B", "B", 1),
        (2, 2, 2, 2, 2, 1, 1, 3, 0, 3, 3, 2, "B", "B", 1),
    ]


# ---------------------------------------------------------------------------------------------------- aggregates


def test_aggregates() -> None:
    rows = number_rows(4, None, 1, 4)
    assert measured(
        rows,
        by_id(plus(U)),
        agg("count", star="*"),
        agg("count", N),
        agg("count", N, distinct=True),
        agg("sum", N),
        agg("sum", N, distinct=True),
        agg("avg", N),
        agg("min", N),
        agg("max", N),
        agg("array_agg", N),
        agg("array_agg", N, distinct=True),
        agg("var_pop", N),
        agg("var_samp", N),
        agg("stddev_pop", N),
        agg("stddev_samp", N),
        agg("max_by", N, ID),
        agg("min_by", ID, N),
        agg("max_by", N, op("=", ID, lit(1))),
        agg("count_if", op(">", N, lit(1))),
        agg("bool_and", op(">", N, lit(1))),
        agg("bool_or", op(">", N, lit(1))),
    ) == [
        (4, 3, 2, 9, 5, 3.0, 1, 4, [4, 1, 4], [4, 1], 2.0, 3.0, 2**0.5, 3**0.5)
        # max_by and min_by return a NULL value (the n of id 1) but ignore a NULL order.
        + (4, 2, None, 2, False, True)
    ]


def test_aggregates_over_no_rows() -> None:
    query = by_id(cat(U, star(B)), define=(("B", lit(False)),))
    col_b = col("B", "n")
    functions = ("sum", "avg", "min", "max", "var_pop", "stddev_samp", "bool_or")
    assert measured(number_rows(1), query, agg("count", star="B"), agg("count", col_b)) == [(0, 0)]
    assert measured(number_rows(1), query, *(agg(fn, col_b) for fn in functions)) == [(None,) * len(functions)]
    assert measured(number_rows(1), query, agg("max_by", col_b, col_b), agg("count_if", op("=", col_b, lit(1)))) == [
        (None, 0)
    ]
    assert measured(number_rows(1), query, agg("array_agg", col_b)) == [([],)]


def test_a_sample_of_one_has_no_variance() -> None:
    assert measured(number_rows(1), by_id(U), agg("var_samp", N), agg("stddev_samp", N), agg("var_pop", N)) == [
        (None, None, 0.0)
    ]


def test_aggregate_over_a_subset_and_of_classifier() -> None:
    query = by_id(cat(A, B, C), define=LETTERS, subsets=(("S", ("A", "C")),))
    assert measured(
        letter_rows("ABC"),
        query,
        agg("sum", col("S", "id")),
        agg("count", star="S"),
        agg("array_agg", ("classifier", "S")),
    ) == [(2, 2, ["A", "C"])]


# ---------------------------------------------------------------------------------------------------- scalars


@pytest.mark.parametrize(
    ("symbol", "args", "expected"),
    [
        ("AND", (None, False), False),
        ("AND", (None, True), None),
        ("OR", (None, True), True),
        ("OR", (None, False), None),
        ("NOT", (None,), None),
        ("=", (None, None), None),
        ("<=>", (None, None), True),
        ("<=>", (None, 0), False),
        ("<=>", (2, 2.0), True),
        ("IN", (1, 2, None), None),
        ("IN", (1, None, 1), True),
        ("IN", (1, 2, 3), False),
        ("BETWEEN", (1, 2, None), False),
        ("BETWEEN", (2, 2, None), None),
        ("BETWEEN", (2, 1, 2), True),
        ("%", (-7, 3), -1),
        ("%", (7, -3), 1),
        ("/", (1, 2), 0.5),
        ("NEG", (3,), -3),
        ("+", (1, None), None),
        ("IS NULL", (None,), True),
        ("IS NOT NULL", (None,), False),
    ],
)
def test_operators(symbol: str, args: tuple[Any, ...], expected: object) -> None:
    assert operate(symbol, list(args)) is expected or operate(symbol, list(args)) == expected


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (("case", ((op("=", N, lit(1)), lit("one")), (op("=", N, lit(5)), lit("five"))), lit("else")), "five"),
        (("case", ((op("=", N, lit(None)), lit("null")),), lit("else")), "else"),
        (("case", ((lit(False), lit("no")),), None), None),
        (("call", "coalesce", (lit(None), N, lit(1))), 5),
        (("call", "least", (lit(None), N, lit(1))), 1),
        (("call", "greatest", (lit(None), lit(None))), None),
        (("call", "abs", (op("NEG", N),)), 5),
        (("call", "nullif", (N, lit(5))), None),
        (("call", "nullif", (N, lit(None))), 5),
        (("call", "if", (lit(None), lit(1), lit(2))), 2),
    ],
)
def test_case_and_calls(expr: Expr, expected: object) -> None:
    assert measured(number_rows(5), by_id(U), expr) == [(expected,)]
