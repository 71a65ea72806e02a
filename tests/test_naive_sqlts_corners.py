"""The oracle for SQL-TS where the paper has no example: greedy stars, NULLs, orders, queries without a meaning."""

from __future__ import annotations

import pytest

from naive_sqlts import (
    Query,
    Row,
    SortKey,
    attr,
    element_tests,
    matches,
    op,
    pattern,
    results,
)
from naive_sqlts_notation import RISES, either, everywhere, on, query, select, series, shown


def test_a_star_that_swallows_everything_leaves_the_next_element_without_a_tuple() -> None:
    assert on(query("*X, Y"), [1, 2, 3]) == []
    # Every start is tried and swallows what is left: 3 + 2 + 1 tests of *X, and none of Y.
    assert element_tests(query("*X, Y"), series([1, 2, 3])) == 6
    assert on(query("*X"), [1, 2, 3]) == ["X=0,1,2"]
    assert on(everywhere(query("*X")), [1, 2, 3]) == ["X=0,1,2", "X=1,2", "X=2"]


def test_a_star_does_not_give_back_even_if_the_match_then_fails() -> None:
    assert on(query("*X, Y", op("X.price", "<=", 5), op("Y.price", ">=", 5)), [4, 5, 5]) == []
    assert on(query("*X, Y", op("X.price", "<=", 5), op("Y.price", ">=", 5)), [4, 5, 6]) == ["X=0,1 Y=2"]


def test_running_out_of_tuples_ends_one_attempt_only() -> None:
    asked = query("*X, Y", op("X.price", "<", op("FIRST(X).price", "+", 5)))
    assert on(asked, [10, 3, 9]) == ["X=1 Y=2"]


def test_a_later_condition_on_a_star_speaks_of_its_last_tuple() -> None:
    rising_then = query("*X, Y", RISES, op("Y.price", "<", op("X.price", "-", 4)))
    assert on(rising_then, [1, 2, 9, 6]) == []
    assert on(rising_then, [1, 2, 9, 4]) == ["X=1,2 Y=3"]
    before_last = query("*X, Y", RISES, op("X.previous.price", "=", 2), op("Y.price", "=", 4))
    assert on(before_last, [2, 3, 4]) == ["X=1 Y=2"]  # on X alone, so on each of its tuples: 4 is not one
    assert on(query("*X, Y", RISES, op("X.previous.price", "=", op("Y.price", "-", 2))), [1, 2, 9, 4]) == ["X=1,2 Y=3"]


def test_first_and_last_in_conditions_speak_of_the_star_so_far() -> None:
    assert on(query("*X", op("LAST(X).price", "<", 3)), [1, 2, 3]) == ["X=0,1"]
    assert on(query("*X", op("last(*X.price)", "<", 3)), [1, 2, 3]) == []
    assert on(query("*X", op("FIRST(X).price", "<", 3)), [1, 2, 3, 4]) == ["X=0,1,2,3"]
    assert on(query("*X", op("FIRST(X).previous.price", "=", 2)), [1, 2, 3, 4]) == ["X=2,3"]


def test_next_is_one_tuple_ahead() -> None:
    assert on(query("X", op("X.next.price", ">", "X.price")), [1, 2, 1]) == ["X=0"]  # NULL after the last tuple
    assert on(query("*X, Y", op("X.next.price", ">", "X.price")), [1, 2, 3, 1]) == ["X=0,1 Y=2"]
    assert on(query("X, Y", op("X.next.price", "=", 2)), [1, 2]) == on(query("X, Y", op("Y.price", "=", 2)), [1, 2])
    # Tested at X: three starts with one test each, and the second of the first attempt is Y's.
    assert element_tests(query("X, Y", op("X.next.price", ">", "X.price")), series([1, 2, 1])) == 2 + 1
    assert element_tests(query("X, Y", op("X.next.price", ">", "X.price")), series([3, 2, 1])) == 1 + 1 + 1
    assert results(query("X", output=select("X.next.price")), series([1, 2])) == [(2,), (None,)]


def test_previous_reaches_out_of_the_match_but_not_of_the_cluster() -> None:
    rows = [*series([5, 6, 7], "A"), *series([6, 7], "B")]
    assert shown(matches(query("X", RISES), rows)) == ["X=1", "X=2", "X=4"]
    two_back = op("X.price", ">", op("X.previous.previous.price", "+", 1))
    assert shown(matches(query("X", two_back), rows)) == ["X=2"]
    assert results(query("X", two_back, output=select("X.previous.previous.price")), rows) == [(5,)]


def test_a_condition_that_is_null_does_not_hold() -> None:
    assert on(query("X", op("X.price", ">", 0)), [1, None, 2]) == ["X=0", "X=2"]
    assert on(query("X", ("op", "NOT", (op("X.price", ">", 0),))), [1, None, -2]) == ["X=2"]
    assert on(query("X", op("X.price", "=", "X.price")), [None]) == []
    assert on(query("X", ("op", "IS NULL", (attr("X.price"),))), [1, None]) == ["X=1"]
    assert on(query("X", either(op("X.price", ">", 0), op("X.date", "=", 0))), [None, None]) == ["X=0"]
    assert on(query("*X, Y", op("X.price", ">", 0)), [1, 2, None]) == ["X=0,1 Y=2"]  # NULL ends a star


def test_a_condition_without_variables_is_tested_at_the_first_element() -> None:
    assert on(query("X, Y", op(1, "=", 2)), [1, 2]) == []
    assert element_tests(query("X, Y", op(1, "=", 2)), series([1, 2])) == 2
    assert shown(matches(query("X", op(("key", "name"), "=", "A")), [*series([1], "A"), *series([1], "B")])) == ["X=0"]


def test_no_rows_and_too_few_rows() -> None:
    assert matches(query("X"), []) == []
    assert results(query("X"), []) == []
    assert on(query("X, Y"), [1]) == []
    assert on(query("X, *Y"), [1]) == []
    assert on(query("X"), [1]) == ["X=0"]
    assert on(query("*X"), [1]) == ["X=0"]
    assert element_tests(query("X, Y"), series([1])) == 1


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (SortKey("date"), "X=1 Y=3 Z=0 T=2"),
        (SortKey("date", nulls_first=True), "X=2 Y=1 Z=3 T=0"),
        (SortKey("date", descending=True), "X=0 Y=3 Z=1 T=2"),
        (SortKey("date", descending=True, nulls_first=True), "X=2 Y=0 Z=3 T=1"),
    ],
)
def test_directions_and_nulls_in_the_sequence(key: SortKey, expected: str) -> None:
    rows = [{"date": date} for date in (3, 1, None, 2)]
    assert shown(matches(Query(pattern("X, Y, Z, T"), sequence_by=(key,)), rows)) == [expected]


def test_a_sequence_by_two_columns() -> None:
    rows = [{"day": day, "hour": hour} for day, hour in [(2, 1), (1, 1), (1, 2), (2, 2)]]
    keys = (SortKey("day"), SortKey("hour", descending=True))
    assert shown(matches(Query(pattern("X, Y, Z, T"), sequence_by=keys), rows)) == ["X=2 Y=1 Z=3 T=0"]


def test_nulls_in_cluster_by_are_one_cluster() -> None:
    rows: list[Row] = [{"name": None, "date": 1}, {"name": "A", "date": 1}, {"date": 2}]
    found = matches(query("X, Y"), rows)
    assert [match.cluster for match in found] == [(None,)]
    assert shown(found) == ["X=0 Y=2"]


@pytest.mark.parametrize(
    "wrong",
    [
        Query(()),
        query("X, X"),
        query("X", op("Y.price", "=", 1)),
        query("X", op("count(*X)", "=", 1)),
        query("X", op("ccount(X)", "=", 1)),
        query("X", output=select("FIRST(X).price")),
        query("X", output=(("key", "price"),)),
        query("X", alternatives=((op("Y.price", "=", 1),),)),
    ],
)
def test_queries_without_a_meaning_are_rejected(wrong: Query) -> None:
    with pytest.raises(ValueError, match=r"element|CLUSTER BY"):
        matches(wrong, [])
    with pytest.raises(ValueError, match=r"element|CLUSTER BY"):
        element_tests(wrong, [])
