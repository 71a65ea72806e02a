"""The oracle for SQL-TS against the paper: its examples on small data with answers found by hand, and the rules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from naive_sqlts import (
    Expr,
    Query,
    Row,
    SortKey,
    agg,
    element_tests,
    matches,
    op,
    pattern,
    results,
)
from naive_sqlts_notation import DATE, RISES, either, everywhere, on, query, select, series, shown, times

# ------------------------------------------------------------------------------------------------ §2: the language


UP_THEN_DOWN = query(
    "X, Y, Z",
    op("Y.price", ">", times(1.15, "X.price")),
    op("Z.price", "<", times(0.80, "Y.price")),
    output=select("X.name"),
)


def test_example_2_1() -> None:
    rows = [*series([100, 120, 90, 130, 90], "INTC"), *series([81, 80.5, 84], "IBM")]
    # 120 > 115 and 90 < 96. Then 130 at index 3 starts the rest; from 90 (index 2) also 130 > 103.5 and 90 < 104.
    assert results(UP_THEN_DOWN, rows) == [("INTC",)]
    assert shown(matches(UP_THEN_DOWN, rows)) == ["X=0 Y=1 Z=2"]
    assert shown(matches(everywhere(UP_THEN_DOWN), rows)) == ["X=0 Y=1 Z=2", "X=2 Y=3 Z=4"]


def test_figure_1_clusters_are_searched_separately_and_in_sequence() -> None:
    rows: list[Row] = [
        {"name": "INTC", "price": 62, "date": 27},
        {"name": "IBM", "price": 84, "date": 27},
        {"name": "IBM", "price": 81, "date": 25},
        {"name": "INTC", "price": 60, "date": 25},
        {"name": "INTC", "price": 63.5, "date": 26},
        {"name": "IBM", "price": 80.5, "date": 26},
    ]
    found = matches(query("X, Y, Z"), rows)
    assert [match.cluster for match in found] == [("INTC",), ("IBM",)]
    assert shown(found) == ["X=3 Y=4 Z=0", "X=2 Y=5 Z=1"]


def clicks(session: int, pages: str) -> list[Row]:
    """One click in a second, on pages whose types are the letters of `pages`."""
    begin = datetime(2004, 6, 1)
    return [
        {"SessNo": session, "ClickTime": begin + timedelta(seconds=number), "PageNo": number, "PageType": page}
        for number, page in enumerate(pages)
    ]


def session_query(elements: str, *conditions: Expr, **options: Any) -> Query:
    return Query(pattern(elements), conditions, ("SessNo",), (SortKey("ClickTime"),), **options)


def test_example_2_2() -> None:
    dream = session_query(
        "X, Y, Z",
        op("X.PageType", "=", "a"),
        op("Y.PageType", "=", "d"),
        op("Z.PageType", "=", "p"),
        output=select("Y.PageNo", "Z.PageNo"),
    )
    rows = [*clicks(1, "cadpadp"), *clicks(2, "adcp"), *clicks(3, "dpa")]
    assert results(dream, rows) == [(2, 3), (5, 6)]  # in session 2 a tuple intervenes; "ad" ends session 1's first half
    # Every click is tested against X; after each "a" one against Y, after each "ad" one against Z. Session 1: c, adp,
    # adp are 7 tests; session 2: adc (3), then d, c, p (3); session 3: d, p, a (3; no tuple is left for Y).
    assert element_tests(dream, rows) == 7 + 6 + 3


def test_example_2_3() -> None:
    """The auction table is joined beforehand, which the appendix allows: "a derived table".

    The condition on time is the text's, "within 15 minutes from closing"; printed is the opposite, <.
    """
    converging = Query(
        pattern("X, Y, Z, T"),
        (
            op(op("T.time", "+", 15), ">", "T.deadline"),
            op("Y.amount", "<", times(1.02, "X.amount")),
            op("Y.amount", ">", times(0.98, "Z.amount")),
            op("T.amount", "<", times(1.02, "Z.amount")),
        ),
        ("auctn_id",),
        (SortKey("time"),),
        output=select("T.auctn_id", "T.time", "T.amount"),
    )
    amounts = [100, 110, 111, 112, 113, 114, 115]
    rows = [{"auctn_id": 7, "time": 10 * n, "amount": a, "deadline": 60} for n, a in enumerate(amounts)]
    # T must be later than 45. Starts: 100 (110 is no raise of 2%); 110, T is 113 at 40: too early; 111, T is 114 at 50.
    assert results(converging, rows) == [(7, 50, 114)]
    assert shown(matches(converging, rows)) == ["X=2 Y=3 Z=4 T=5"]
    assert shown(matches(everywhere(converging), rows)) == ["X=2 Y=3 Z=4 T=5", "X=3 Y=4 Z=5 T=6"]


def test_a_predicate_is_tested_as_soon_as_it_is_instantiated() -> None:
    """§2: "the first input tuple is read and assigned to X without any condition checked"."""
    fits_nowhere = query("X, Y, Z", op("Y.price", "<", times(1.02, "X.price")))
    assert element_tests(fits_nowhere, series([1, 2, 4])) == 2 + 2 + 1  # never one against Z
    at_the_end = query("X, Y, Z", op(op("Y.price", "<", times(1.02, "X.price")), "AND", op("Z.price", "=", "Z.price")))
    assert element_tests(at_the_end, series([1, 2, 4])) == 3 + 2 + 1


def test_previous_is_the_tuple_before_in_the_sequence() -> None:
    """§2: the condition "could have also been written as Y.amount < 1.02 * Y.previous.amount"."""
    by_variable = everywhere(query("X, Y", op("Y.price", "<", times(1.02, "X.price"))))
    by_previous = everywhere(query("X, Y", op("Y.price", "<", times(1.02, "Y.previous.price"))))
    prices = [100, 101, 110, 109, 120]
    assert on(by_variable, prices) == on(by_previous, prices) == ["X=0 Y=1", "X=2 Y=3"]


HALVED = query(
    "X, *Y, Z",
    op("Y.price", "<", "Y.previous.price"),
    op("Z.previous.price", "<", times(0.5, "X.price")),
    output=select("X.name", "X.date", "Z.previous.date"),
)


def test_example_2_4() -> None:
    assert results(HALVED, series([80, 100, 90, 60, 45, 50, 30, 40])) == [("IBM", 1, 4)]  # 30 is less than half of 50
    assert on(HALVED, [80, 100, 90, 60, 45, 50, 30, 40]) == ["X=1 Y=2,3,4 Z=5"]
    # The match has taken 50 as Z, so a fall that begins there is not found; SELECT ALL finds it, and no other.
    falls = [100, 90, 45, 50, 20, 21]
    assert on(HALVED, falls) == ["X=0 Y=1,2 Z=3"]
    assert on(everywhere(HALVED), falls) == ["X=0 Y=1,2 Z=3", "X=3 Y=4 Z=5"]
    assert on(HALVED, [100, 90, 45]) == []  # still falling when the data ends: there is no Z
    assert on(HALVED, [100, 90, 50, 60]) == []  # not more than 50%


BEFORE_DESCRIPTION = session_query(
    "*A, B",
    op("A.PageType", "<>", "d"),
    op("B.PageType", "=", "d"),
    op("count(*A)", "<", 20),
    output=(("key", "SessNo"), agg("count(*A)")),
)


def test_example_2_5() -> None:
    rows = [*clicks(1, "ccd"), *clicks(2, "dc"), *clicks(3, "c" * 19 + "d"), *clicks(4, "ccc"), *clicks(5, "dacdd")]
    assert results(BEFORE_DESCRIPTION, rows) == [(1, 2), (3, 19), (5, 2)]
    # SELECT ALL takes every start in the sequence; session 5: "ac" and "c" before the second "d".
    assert results(everywhere(BEFORE_DESCRIPTION), [*clicks(1, "ccd"), *clicks(5, "dacdd")]) == [
        (1, 2),
        (1, 1),
        (5, 2),
        (5, 1),
    ]


def test_example_2_5_finds_the_end_of_a_sequence_that_is_too_long() -> None:
    """The rule of `search`; the paper's words on this example suggest that such a session gives nothing."""
    assert results(BEFORE_DESCRIPTION, clicks(1, "c" * 25 + "d")) == [(1, 19)]


def test_example_2_5_when_the_star_consumes_every_d() -> None:
    """§2.1: "we obtain a query that is never satisfied"."""
    never = session_query("*A, B", op("A.PageType", "=", "d"), op("B.PageType", "=", "d"))
    for length in range(5):
        for pages in itertools.product("cd", repeat=length):
            assert matches(everywhere(never), clicks(1, "".join(pages))) == []


def test_maximal_stars_of_section_2_1() -> None:
    """§2.1, on (*X, *Y): "*X will match the first 3 values, and only the fourth value (i.e., 7) will be left"."""
    assert on(query("*X, *Y", op("X.price", "<=", 5), op("Y.price", ">=", 5)), [4, 5, 5, 7]) == ["X=0,1,2 Y=3"]
    assert on(query("*X, *Y", op("X.price", "<", 5), op("Y.price", ">=", 5)), [4, 5, 5, 7]) == ["X=0 Y=1,2,3"]


EXCESSIVE = session_query(
    "*X, Y",
    op("X.PageType", "<>", "p"),
    op("ccount(X)", "<", 100),
    op(op("first(X.ClickTime)", "+", timedelta(minutes=20)), ">", "X.ClickTime"),
    op("Y.PageType", "<>", "p"),
    output=select("Y.SessNo", "ccount(X)", "Y.PageNo"),
)


def test_example_2_6_counts_to_99() -> None:
    assert results(EXCESSIVE, clicks(1, "c" * 120)) == [(1, 99, 99)]  # the 20 clicks after Y (number 99) find no end
    assert results(EXCESSIVE, clicks(1, "c" * 99)) == []
    assert results(EXCESSIVE, clicks(1, "c" * 100)) == [(1, 99, 99)]
    assert results(EXCESSIVE, clicks(1, "c" * 98 + "pc")) == []  # the purchase ends every star and is no Y
    assert results(EXCESSIVE, clicks(1, "c" * 99 + "p")) == []


def test_example_2_6_waits_20_minutes() -> None:
    minutes = [0, 10, 19, 20, 25]
    begin = datetime(2004, 6, 1)
    rows = [
        {"SessNo": 1, "ClickTime": begin + timedelta(minutes=m), "PageNo": m, "PageType": "c"} for m in minutes
    ]  # 0 + 20 > 20 is false
    assert results(EXCESSIVE, rows) == [(1, 3, 20)]
    # From 10 on, 20 and 25 are within 20 minutes: the star ends with the data, and there is no Y.
    assert shown(matches(everywhere(EXCESSIVE), rows)) == ["X=0,1,2 Y=3"]


# ----------------------------------------------------------------------------------- §3 and §4: plain elements, counts


def text_query(word: str) -> Query:
    names = [f"P{number}" for number in range(len(word))]
    return query(",".join(names), *(op(f"{name}.price", "=", letter) for name, letter in zip(names, word, strict=True)))


def test_text_search_of_section_3_1() -> None:
    found = on(text_query("abcabcacab"), "babcbabcabcaabcabcabcacabc")
    assert found == [" ".join(f"P{number}={number + 15}" for number in range(10))]
    # The 17 letters of the tables (the running text leaves out one a): the first failure is at j = 4, i = 4.
    assert on(text_query("abcabcacab"), "abcbabcabcaabcabc") == []
    assert element_tests(text_query("abcabcacab"), series("abcb")) == 4 + 1 + 1 + 1


def test_element_tests_of_a_text_search() -> None:
    # From 0: a, a, b against a. From 1: a, a, b. Then DISJOINT is at the end; ALL tries "ab" (2 tests) and "b" (1).
    assert element_tests(text_query("aab"), series("aaab")) == 6
    assert element_tests(everywhere(text_query("aab")), series("aaab")) == 9
    assert element_tests(text_query("aab"), []) == 0


TWO_DROPS_TWO_RISES = query(
    "X, Y, Z, T, U",
    op("X.name", "=", "IBM"),
    op("Y.price", "<", "X.price"),
    op("Z.price", "<", "Y.price"),
    op(40, "<", "Z.price"),  # not printed in the query, but in its text and in p2 of §4
    op("Z.price", "<", 50),
    op("Z.price", "<", "T.price"),
    op("T.price", "<", 52),
    op("T.price", "<", "U.price"),
    output=select("X.date", "X.price", "U.date", "U.price"),
)


def test_example_3_2() -> None:
    prices = [60, 55, 45, 57, 54, 47, 49, 53, 50]
    assert results(TWO_DROPS_TWO_RISES, series(prices)) == [(3, 57, 7, 53)]
    assert results(TWO_DROPS_TWO_RISES, series(prices, "INTC")) == []
    assert on(TWO_DROPS_TWO_RISES, [60, 50, 40, 45, 50]) == []  # 40 < 40 is false
    # From 60: X, Y, Z hold, T = 57 fails: 4. From 55: X, Y hold, Z = 57 fails: 3. From 45: Y = 57 fails: 2. From 57: 5.
    # Then from 50, the only tuple left: 1.
    assert element_tests(TWO_DROPS_TWO_RISES, series(prices)) == 4 + 3 + 2 + 5 + 1


# -------------------------------------------------------------------------------- §5 and §6: stars and their aggregates


RISE_FALL_RISE = query(
    "*X, *Y, *Z",
    RISES,
    op("Y.price", "<", "Y.previous.price"),
    op("Z.price", ">", "Z.previous.price"),
    output=select("X.name", "FIRST(X).date", "LAST(Z).date"),
)
PRINTED = [20, 21, 23, 24, 22, 20, 18, 15, 14, 18, 21]


def counters(asked: Query, rows: list[Row]) -> list[int]:
    """§5: "the cumulative number of input objects that have matched the pattern sequence so far", of the one match."""
    (match,) = matches(asked, rows)
    return list(itertools.accumulate(len(indexes) for _, indexes in match.elements))


def test_example_5_1_with_the_printed_prices_and_counters() -> None:
    rows = series([19, *PRINTED])  # a lower price before them, without which 20 is no rise
    assert counters(RISE_FALL_RISE, rows) == [4, 9, 11]
    assert results(RISE_FALL_RISE, rows) == [("IBM", 1, 11)]
    # 19 against X; then X: 4 and the 22 that ends it; Y: 5 and the 18 that ends it; Z: 2, and the data ends.
    assert element_tests(RISE_FALL_RISE, rows) == 1 + 5 + 6 + 2


def test_example_5_1_with_the_printed_prices_alone() -> None:
    assert counters(RISE_FALL_RISE, series(PRINTED)) == [3, 8, 10]
    assert on(RISE_FALL_RISE, PRINTED) == ["X=1,2,3 Y=4,5,6,7,8 Z=9,10"]
    # All starts in *X, whose star is maximal to the right only. From the falls and the last rise there is none.
    assert on(everywhere(RISE_FALL_RISE), PRINTED) == [
        "X=1,2,3 Y=4,5,6,7,8 Z=9,10",
        "X=2,3 Y=4,5,6,7,8 Z=9,10",
        "X=3 Y=4,5,6,7,8 Z=9,10",
    ]


M_SHAPE = query(
    "*X, Y, *Z, *T, U, *V, S",
    op("X.name", "=", "IBM"),
    RISES,
    op(30, "<", "Y.price"),
    op("Y.price", "<", 40),
    op("Z.price", "<", "Z.previous.price"),
    op("T.price", ">", "T.previous.price"),
    op(35, "<", "U.price"),
    op("U.price", "<", 40),
    op("V.price", "<", "V.previous.price"),
    op("S.price", "<", 30),
    output=select("X.next.date", "X.next.price", "S.previous.date", "S.previous.price"),
)


def test_example_5_3() -> None:
    prices = [20, 30, 36, 35, 33, 31, 34, 39, 37, 33, 28, 29]
    assert on(M_SHAPE, prices) == ["X=1,2 Y=3 Z=4,5 T=6,7 U=8 V=9,10 S=11"]
    assert results(M_SHAPE, series(prices)) == [(3, 35, 10, 28)]
    assert on(M_SHAPE, prices[:-1]) == []  # S is missing
    assert on(M_SHAPE, [20, 30, 36, 33, 31, 34, 39, 37, 33, 28, 29]) != []  # Y may already be on the way down ...
    assert on(M_SHAPE, [20, 30, 36, 31, 34, 39, 37, 33, 28, 29]) == []  # ... but has to leave a fall for *Z
    assert on(M_SHAPE, [20, 30, 36, 35, 33, 31, 34, 39, 37, 33, 28, 27]) == []  # 27 belongs to *V: no S


RELAXED_DOUBLE_BOTTOM = Query(
    pattern("X,*Y, *Z, *T, *U, *V, *W, *R, S"),
    (
        op("X.price", ">=", times(0.98, "X.previous.price")),
        op("Y.price", "<", times(0.98, "Y.previous.price")),
        op(times(0.98, "Z.previous.price"), "<", "Z.price"),
        op("Z.price", "<", times(1.02, "Z.previous.price")),
        op("T.price", ">", times(1.02, "T.previous.price")),
        op(times(0.98, "U.previous.price"), "<", "U.price"),
        op("U.price", "<", times(1.02, "U.previous.price")),
        op("V.price", "<", times(0.98, "V.previous.price")),
        op(times(0.98, "W.previous.price"), "<", "W.price"),
        op("W.price", "<", times(1.02, "W.previous.price")),
        op("R.price", ">", times(1.02, "R.previous.price")),
        op("S.price", "<=", times(1.02, "S.previous.price")),
    ),
    sequence_by=DATE,
    output=select("X.next.date", "X.next.price", "S.previous.date", "S.previous.price"),
)


def test_example_6_1() -> None:
    prices = [100, 100, 95, 90, 90, 91, 95, 95, 90, 90, 95, 95]
    assert on(RELAXED_DOUBLE_BOTTOM, prices) == ["X=1 Y=2,3 Z=4,5 T=6 U=7 V=8 W=9 R=10 S=11"]
    assert results(RELAXED_DOUBLE_BOTTOM, series(prices)) == [(2, 95, 10, 95)]
    assert on(RELAXED_DOUBLE_BOTTOM, prices[1:]) == []  # the first tuple has no previous one and is no X
    assert (
        on(RELAXED_DOUBLE_BOTTOM, [100, 100, 95, 90, 95, 95, 90, 90, 95, 95]) == []
    )  # a bottom of one day is not flat


def test_continuous_aggregates_take_the_current_tuple_in() -> None:
    prices = [1, 2, 3, 4, 5]
    assert on(query("*X", op("csum(X.price)", "<", 7)), prices) == ["X=0,1,2", "X=3", "X=4"]
    assert on(query("*X", op("cavg(X.price)", "<=", 2)), prices) == ["X=0,1,2"]
    assert on(query("*X", op("cmax(X.price)", "<", 3)), prices) == ["X=0,1"]
    assert on(query("*X", op("cmin(X.price)", ">", 3)), prices) == ["X=3,4"]
    assert on(query("*X", op("X.price", "<", op("first(X.price)", "+", 2))), prices) == ["X=0,1", "X=2,3", "X=4"]


def test_aggregates_of_a_complete_star() -> None:
    output = select("count(*X)", "sum(*X.price)", "avg(*X.price)", "min(*X.price)", "max(*X.price)", "last(*X.price)")
    asked = query("*X, Y", op("X.price", "<", 5), output=(*output, *select("ccount(X)", "X.price", "FIRST(X).price")))
    assert results(asked, series([1, 4, 3, 5])) == [(3, 8, 8 / 3, 1, 4, 3, 3, 3, 1)]


def test_aggregates_pass_over_nulls_but_first_and_last_do_not() -> None:
    output = select("count(*X)", "count(*X.price)", "sum(*X.price)", "first(*X.price)", "last(*X.price)")
    assert results(query("*X", output=output), series([None, 2, None])) == [(3, 1, 2, None, None)]
    assert results(query("*X", output=output), series([None])) == [(1, 0, None, None, None)]


def test_a_final_aggregate_is_tested_at_the_element_after_its_star() -> None:
    asked = query("*X, Y, Z", op("X.price", "<", 5), op("count(*X)", ">=", 2))
    assert on(asked, [1, 2, 7, 8]) == ["X=0,1 Y=2 Z=3"]
    # From 1: X takes 1 and is ended by 7, and Y fails on the 7: 3 tests. From 7: 1. From 8: 1. None is against Z.
    assert element_tests(asked, series([1, 7, 8])) == 3 + 1 + 1
    before_a_star = query("*X, *Y", op("X.price", "<", 5), op("count(*X)", "=", 2), op("Y.price", ">", 5))
    assert on(before_a_star, [1, 2, 7, 8]) == ["X=0,1 Y=2,3"]


def test_the_dummy_element_after_a_last_star() -> None:
    rising = query("X, *Y", op("Y.price", ">", "Y.previous.price"))
    always = replace(rising, conditions=(*rising.conditions, op("count(*Y)", ">", 0)))
    prices = [1, 2, 3, 2, 4]
    assert on(rising, prices) == ["X=0 Y=1,2", "X=3 Y=4"]  # the 2 that ends *Y is the next X; the last *Y ends the data
    assert on(always, prices) == on(rising, prices)
    assert element_tests(always, series(prices)) == element_tests(rising, series(prices)) == 4 + 2
    two = replace(rising, conditions=(*rising.conditions, op("count(*Y)", "=", 2)))
    assert on(two, prices) == ["X=0 Y=1,2"]
    assert on(two, [1, 2, 3, 4]) == ["X=1 Y=2,3"]


def test_a_conjunct_with_a_star_and_its_final_aggregate_speaks_of_the_last_tuple() -> None:
    above = query("*X, Y", RISES, op("X.price", ">", op(2, "*", "avg(*X.price)")))
    assert on(above, [0, 1, 2, 30, 0]) == ["X=1,2,3 Y=4"]
    assert on(above, [0, 1, 2, 3, 0]) == []


# -------------------------------------------------------------------------------------------------- §7: disjunctions


def test_example_7_1() -> None:
    asked = Query(
        pattern("X,*Y, Z, *T,U"),
        (
            op("X.price", ">", times(0.98, "X.previous.price")),
            op("Y.price", "<", times(0.98, "Y.previous.price")),
            either(op(times(0.98, "Z.previous.price"), "<", "Z.price"), op("Z.price", ">", 50)),
            op("T.price", ">", times(1.02, "T.previous.price")),
            either(op(times(0.98, "U.previous.price"), "<", "U.price"), op("U.price", ">", 50)),
        ),
        sequence_by=DATE,
        output=select("X.next.date", "X.next.price", "U.previous.date", "U.previous.price"),  # printed: S, unknown
    )
    prices = [100, 100, 95, 90, 90, 95, 100, 100]
    assert on(asked, prices) == ["X=1 Y=2,3 Z=4 T=5,6 U=7"]
    assert results(asked, series(prices)) == [(2, 95, 6, 100)]
    # A fall of 2% exactly is not in *Y and not above 0.98 times the price before it: the price has to be above 50.
    assert on(asked, [200, 200, 100, 98, 110, 110]) == ["X=1 Y=2 Z=3 T=4 U=5"]
    assert on(asked, [200, 200, 50, 49, 60, 60]) == []


def rises(*names: str) -> tuple[Expr, ...]:
    return tuple(op(f"{low}.price", "<", f"{high}.price") for low, high in itertools.pairwise(names))


FOUR_RISES = (op("X.previous.price", "<", "X.price"), *rises("X", "Y", "Z", "T"))
FOUR_BETWEEN = tuple(part for name in "XYZT" for part in (op(f"{name}.price", ">", 55), op(f"{name}.price", "<", 57)))
IBM_ONLY = op("X.name", "=", "IBM")
EITHER = Query(pattern("X, Y, Z, T"), (IBM_ONLY,), sequence_by=DATE, alternatives=(FOUR_RISES, FOUR_BETWEEN))
ONE_CONDITION = Query(
    pattern("X, Y, Z, T"),
    (IBM_ONLY, either(("op", "AND", FOUR_RISES), ("op", "AND", FOUR_BETWEEN))),
    sequence_by=DATE,
)


def starts(asked: Query, prices: Sequence[Any]) -> list[int]:
    return [match.elements[0][1][0] for match in matches(asked, series(prices))]


def test_example_7_2() -> None:
    prices = [50, 51, 52, 53, 54, 56, 56, 56, 56]
    assert on(EITHER, prices) == ["X=1 Y=2 Z=3 T=4", "X=5 Y=6 Z=7 T=8"]
    assert starts(everywhere(EITHER), prices) == [1, 2, 5]
    assert matches(EITHER, series(prices, "INTC")) == []


def test_a_disjunction_of_patterns_is_two_queries() -> None:
    overlapping = [50, 54, 55.5, 55.6, 55.7, 55.8, 40]
    assert starts(EITHER, overlapping) == [1, 2]  # 54 to 55.7 rise, 55.5 to 55.8 are between 55 and 57
    assert starts(ONE_CONDITION, overlapping) == [1]  # as one condition, DISJOINT has no overlap
    assert starts(everywhere(EITHER), overlapping) == starts(everywhere(ONE_CONDITION), overlapping) == [1, 2]
    assert starts(EITHER, [50, 55.5, 55.6, 55.7, 55.8]) == [1]  # both, by the same sequence: one answer
    alone = [replace(EITHER, conditions=(IBM_ONLY, *one), alternatives=()) for one in (FOUR_RISES, FOUR_BETWEEN)]
    assert element_tests(EITHER, series(overlapping)) == sum(element_tests(one, series(overlapping)) for one in alone)


def test_alternatives_with_stars_may_give_two_matches_from_one_start() -> None:
    asked = query("*X", alternatives=((op("X.price", "<", 5),), (op("X.price", "<", 9),)))
    assert on(asked, [1, 7, 9]) == ["X=0", "X=0,1"]


def test_an_alternative_without_conditions_is_not_no_alternative() -> None:
    assert on(query("X", alternatives=((op("X.price", ">", 9),), ())), [1]) == ["X=0"]
    assert on(query("X", alternatives=((op("X.price", ">", 9),),)), [1]) == []
