"""The oracle against cases small enough to work out by hand: output rows, skips, order, windows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from naive import NaiveQuery, Pattern, SkipError, run
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
    agg,
    alt,
    by_id,
    cat,
    col,
    letter_rows,
    lit,
    matches,
    measured,
    nav,
    number_rows,
    plus,
    rep,
    star,
)

# ---------------------------------------------------------------------------------------------------- rows per match


AB_OR_EMPTY = alt(cat(A, B), EMPTY)
MEASURES = (("no", ("match_number",)), ("n", agg("count", star="*")), ("label", ("classifier", None)))


def test_empty_matches_take_numbers_and_show_their_row() -> None:
    rows, columns = letter_rows("-AB"), ["id", "x"]
    query = by_id(AB_OR_EMPTY, define=LETTERS, measures=MEASURES, rows_per_match="ALL")
    empty = {"id": 0, "no": 1, "n": 0, "label": None, "x": "-"}
    matched = [
        {"id": 1, "no": 2, "n": 1, "label": "A", "x": "A"},
        {"id": 2, "no": 2, "n": 2, "label": "B", "x": "B"},
    ]
    assert run(rows, columns, query) == [empty, *matched]
    assert run(rows, columns, replace(query, rows_per_match="ALL_OMIT_EMPTY")) == matched
    assert run(rows, columns, replace(query, rows_per_match="ALL_WITH_UNMATCHED")) == [empty, *matched]
    assert run(rows, columns, replace(query, rows_per_match="ONE")) == [
        {"no": 1, "n": 0, "label": None},
        {"no": 2, "n": 2, "label": "B"},
    ]


def test_measures_of_an_empty_match() -> None:
    query = by_id(rep(U, 0, 0), rows_per_match="ALL")
    assert measured(letter_rows("-"), query, ID, nav("FIRST", ID), nav("PREV", ID, 0), agg("sum", ID)) == [(None,) * 4]


def test_unmatched_rows() -> None:
    query = by_id(cat(A, B), define=LETTERS, measures=MEASURES, rows_per_match="ALL_WITH_UNMATCHED")
    nothing = {"no": None, "n": None, "label": None}
    assert run(letter_rows("-ABA"), ["id", "x"], query) == [
        {"id": 0, **nothing, "x": "-"},
        {"id": 1, "no": 1, "n": 1, "label": "A", "x": "A"},
        {"id": 2, "no": 1, "n": 2, "label": "B", "x": "B"},
        {"id": 3, **nothing, "x": "A"},
    ]


def test_a_failed_start_inside_an_earlier_match_is_not_unmatched() -> None:
    query = by_id(cat(A, B), define=LETTERS, rows_per_match="ALL_WITH_UNMATCHED", skip=("NEXT_ROW",))
    assert [row["id"] for row in run(letter_rows("ABA"), ["id", "x"], query)] == [0, 1, 2]


def test_overlapping_matches_repeat_rows() -> None:
    query = by_id(cat(U, V), rows_per_match="ALL", skip=("NEXT_ROW",), measures=(("no", ("match_number",)),))
    assert [(row["no"], row["id"]) for row in run(letter_rows("---"), ["id", "x"], query)] == [
        (1, 0),
        (1, 1),
        (2, 1),
        (2, 2),
    ]


def test_exclusion_hides_rows_but_they_count() -> None:
    query = by_id(cat(A, ("excl", plus(B)), C), define=LETTERS, rows_per_match="ALL")
    assert measured(letter_rows("ABBC"), query, ID, agg("count", star="*"), nav("LAST", col("B", "id"))) == [
        (0, 1, None),
        (3, 4, 2),
    ]
    assert matches("ABBC", query.pattern) == ["ABBC"]


def test_exclusion_of_one_iteration() -> None:
    query = by_id(rep(alt(A, ("excl", B)), 3, 3), define=LETTERS, rows_per_match="ALL")
    assert measured(letter_rows("ABA"), query, ID) == [(0,), (2,)]


def test_a_match_with_all_its_rows_excluded_shows_nothing_but_takes_a_number() -> None:
    query = by_id(alt(("excl", A), B), define=LETTERS, rows_per_match="ALL")
    assert measured(letter_rows("AB"), query, ID, ("match_number",)) == [(1, 2)]


def test_exclusion_with_unmatched_rows_is_forbidden() -> None:
    query = by_id(star(cat(A, ("excl", B))), rows_per_match="ALL_WITH_UNMATCHED")
    with pytest.raises(ValueError, match="exclusion"):
        run([], ["id", "x"], query)


# ---------------------------------------------------------------------------------------------------- skipping


@pytest.mark.parametrize(
    ("text", "pattern", "skip", "expected"),
    [
        ("AAA", plus(A), ("PAST_LAST_ROW",), ["AAA"]),
        ("AAA", plus(A), ("NEXT_ROW",), ["AAA", "AA", "A"]),
        ("ABBAB", cat(A, plus(B)), ("LAST", "B"), ["ABB", "AB"]),
        ("ABBAB", cat(star(A), plus(B)), ("FIRST", "B"), SkipError),  # ABB, then BB from the first B on
        ("ABABA", cat(A, B, A), ("LAST", "A"), ["ABA", "ABA"]),
        ("AB", cat(A, B), ("FIRST", "A"), SkipError),
        ("AAB", plus(A), ("LAST", "A"), SkipError),  # the second match is the single row 1
        ("AC", cat(A, star(B), C), ("FIRST", "B"), SkipError),
        ("-", star(A), ("LAST", "A"), [""]),  # an empty match has no variable to skip to
        ("-AB", cat(A, B), ("LAST", "S"), ["AB"]),
        ("ABBA", cat(A, B), ("LAST", "S"), ["AB"]),
    ],
)
def test_skip(text: str, pattern: Pattern, skip: tuple[str, ...], expected: list[str] | type[SkipError]) -> None:
    subsets = (("S", ("A", "B")),)
    if isinstance(expected, list):
        assert matches(text, pattern, skip=skip, subsets=subsets) == expected
    else:
        with pytest.raises(expected):
            matches(text, pattern, skip=skip, subsets=subsets)


def test_match_number_starts_again_in_each_partition() -> None:
    rows = [{"k": k, "id": i} for i, k in enumerate([2, None, 2, None, 1])]
    query = by_id(U, partition_by=("k",), measures=(("no", ("match_number",)), *IDS))
    assert [(row["k"], row["no"], row["ids"]) for row in run(rows, ["id", "k"], query)] == [
        (None, 1, [1]),
        (None, 2, [3]),
        (1, 1, [4]),
        (2, 1, [0]),
        (2, 2, [2]),
    ]


# ---------------------------------------------------------------------------------------------------- the frame


def test_columns_of_the_output() -> None:
    rows = [{"z": 0, "t": 1, "k": 2, "a": 3}]
    query = NaiveQuery(U, partition_by=("k",), order_by=(("t", False, True),), measures=(("m", lit(4)),))
    one, every = (run(rows, ["z", "t", "k", "a"], replace(query, rows_per_match=mode)) for mode in ("ONE", "ALL"))
    assert [list(row.items()) for row in one] == [[("k", 2), ("m", 4)]]
    assert [list(row.items()) for row in every] == [[("k", 2), ("t", 1), ("m", 4), ("z", 0), ("a", 3)]]


@pytest.mark.parametrize(
    ("descending", "nulls_first", "expected"),
    [
        (False, True, [1, 2, 4, 0, 3]),
        (False, False, [2, 4, 0, 3, 1]),
        (True, True, [1, 0, 3, 2, 4]),
        (True, False, [0, 3, 2, 4, 1]),
    ],
)
def test_order(descending: bool, nulls_first: bool, expected: list[int]) -> None:
    rows = number_rows(7, None, 5, 7, 5)
    query = NaiveQuery(plus(U), order_by=(("n", descending, nulls_first),), measures=IDS)
    assert run(rows, ["id", "n"], query) == [{"ids": expected}]


def test_second_order_key_breaks_ties() -> None:
    query = NaiveQuery(plus(U), order_by=(("n", False, True), ("id", True, False)), measures=IDS)
    assert run(number_rows(2, 1, 2, 1), ["id", "n"], query) == [{"ids": [3, 1, 2, 0]}]


@pytest.mark.parametrize("descending", [False, True])
def test_within(descending: bool) -> None:
    query = NaiveQuery(plus(U), order_by=(("n", descending, True),), measures=(("n", agg("array_agg", N)),), within=3)
    found = [row["n"] for row in run(number_rows(0, 3, 4, None, 9), ["id", "n"], query)]
    assert found == ([[9], [4, 3], [0]] if descending else [[0, 3], [4], [9]])


def test_within_leaves_empty_matches_alone() -> None:
    query = NaiveQuery(star(U), order_by=(("n", False, True),), measures=LABELS, within=0)
    assert run(number_rows(None, 1), ["id", "n"], query) == [{"labels": []}, {"labels": ["U"]}]
