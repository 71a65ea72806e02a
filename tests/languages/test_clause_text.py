"""The body of MATCH_RECOGNIZE."""

from __future__ import annotations

import pytest

from languages.queries import CLAUSES
from trellis.algebra.expression import Identifier, Literal, Name
from trellis.algebra.query import RowsPerMatch, Skip, SkipTo, SortKey, Subset
from trellis.errors import BindingError, QuerySyntaxError, TrellisError, UnsupportedError
from trellis.languages.match_recognize import parse_clause_text

_SHOW = "SHOW TIMEOUT MATCHES"
_ONE_SHOW = f"ONE ROW PER MATCH {_SHOW}"


def name(text: str) -> Name:
    return Name((Identifier(text),))


def test_all_parts() -> None:
    query = parse_clause_text(CLAUSES[3])
    assert [str(key) for key in query.partition_by] == ["a", "upper(b)"]
    assert query.order_by == (SortKey(name("ts"), True, False), SortKey(name("seq")))
    assert [measure.name for measure in query.measures] == ["c", "x", "y"]
    assert query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED
    assert query.after_match == Skip(SkipTo.LAST, "U")
    assert str(query.pattern) == "^ A*? (B | C | ()){2,3}? PERMUTE(D, E+) F?? $"
    assert query.within == Literal("INTERVAL '2' HOUR")
    assert query.subsets == (Subset("U", ("A", "B")), Subset("V", ("C", "D")))
    assert [definition.variable for definition in query.definitions] == ["A", "B"]


@pytest.mark.parametrize("text", CLAUSES)
def test_round_trip(text: str) -> None:
    query = parse_clause_text(text)
    assert parse_clause_text(str(query)) == query
    assert str(parse_clause_text(str(query))) == str(query)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", RowsPerMatch.ONE),
        ("one row per match", RowsPerMatch.ONE),
        ("ALL ROWS PER MATCH", RowsPerMatch.ALL),
        ("ALL ROWS PER MATCH SHOW EMPTY MATCHES", RowsPerMatch.ALL),
        ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", RowsPerMatch.ALL_OMIT_EMPTY),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", RowsPerMatch.ALL_WITH_UNMATCHED),
    ],
)
def test_rows_per_match(text: str, expected: RowsPerMatch) -> None:
    assert parse_clause_text(f"{text} PATTERN (A)").rows_per_match is expected


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("one row per match show timeout matches", RowsPerMatch.ONE),
        ("ALL ROWS PER MATCH SHOW TIMEOUT MATCHES", RowsPerMatch.ALL),
        ("ALL ROWS PER MATCH SHOW EMPTY MATCHES SHOW TIMEOUT MATCHES", RowsPerMatch.ALL),
        ("ALL ROWS PER MATCH OMIT EMPTY MATCHES SHOW TIMEOUT MATCHES", RowsPerMatch.ALL_OMIT_EMPTY),
    ],
)
def test_timeouts(text: str, rows: RowsPerMatch) -> None:
    query = parse_clause_text(f"ORDER BY x {text} AFTER MATCH SKIP TO NEXT ROW PATTERN (A) WITHIN 1")
    assert query.timeouts and query.rows_per_match is rows
    assert parse_clause_text(str(query)) == query


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PAST LAST ROW", Skip()),
        ("to next row", Skip(SkipTo.NEXT_ROW)),
        ("TO FIRST a", Skip(SkipTo.FIRST, "A")),
        ("TO LAST A", Skip(SkipTo.LAST, "A")),
        ("TO A", Skip(SkipTo.LAST, "A")),
        ("TO FIRST FIRST", Skip(SkipTo.FIRST, "FIRST")),
        ("TO FIRST", Skip(SkipTo.LAST, "FIRST")),
        ("TO LAST `low`", Skip(SkipTo.LAST, "low")),
        ("TO NEXT", Skip(SkipTo.LAST, "NEXT")),
    ],
)
def test_after_match(text: str, expected: Skip) -> None:
    query = parse_clause_text(f"AFTER MATCH SKIP {text} PATTERN (A FIRST `low` NEXT)")
    assert query.after_match == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", SortKey(name("a"))),
        ("a ASC", SortKey(name("a"))),
        ("a DESC", SortKey(name("a"), True, False)),
        ("a NULLS LAST", SortKey(name("a"), False, False)),
        ("a DESC NULLS FIRST", SortKey(name("a"), True, True)),
        ("within DESC", SortKey(name("within"), True, False)),
        ("nulls NULLS FIRST", SortKey(name("nulls"))),
    ],
)
def test_sort_keys(text: str, expected: SortKey) -> None:
    assert parse_clause_text(f"ORDER BY {text} PATTERN (A)").order_by == (expected,)


def test_keywords_as_names() -> None:
    query = parse_clause_text(
        """PARTITION BY measures, pattern ORDER BY define, subset
        MEASURES x AS pattern, y define, z AS within, after AS after
        PATTERN (PATTERN DEFINE ROW) DEFINE DEFINE AS DEFINE.pattern > 1, PATTERN AS one = 1"""
    )
    assert [measure.name for measure in query.measures] == ["pattern", "define", "within", "after"]
    assert [definition.variable for definition in query.definitions] == ["DEFINE", "PATTERN"]


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("", QuerySyntaxError, ""),
        ("PARTITION BY a", QuerySyntaxError, ""),
        ("PATTERN (A", QuerySyntaxError, ""),
        ("PATTERN A", QuerySyntaxError, "A"),
        ("PATTERN ()) DEFINE", QuerySyntaxError, ")"),
        ("ORDER BY a PARTITION BY b PATTERN (A)", QuerySyntaxError, "PARTITION"),
        ("PATTERN (A) MEASURES a AS b", QuerySyntaxError, "MEASURES"),
        ("PATTERN (A) ORDER BY a", QuerySyntaxError, "ORDER"),
        ("ORDER BY a ORDER BY b PATTERN (A)", QuerySyntaxError, "ORDER"),
        ("PATTERN (A) PATTERN (B)", QuerySyntaxError, "PATTERN"),
        ("PATTERN (A) DEFINE A AS 1 = 1 SUBSET U = (A)", QuerySyntaxError, "SUBSET"),
        ("MEASURES PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("MEASURES a AS b, PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("MEASURES a PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("MEASURES a AS 'b' PATTERN (A)", QuerySyntaxError, "'b'"),
        ("MEASURES a + AS b PATTERN (A)", QuerySyntaxError, "AS"),
        ("ORDER BY a NULLS PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("ALL ROWS PER MATCH SHOW PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("ALL ROWS PER MATCH SHOW TIMEOUT PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("ONE ROW PER MATCH SHOW EMPTY MATCHES PATTERN (A)", QuerySyntaxError, "EMPTY"),
        ("ALL ROWS PER MATCH SHOW TIMEOUT MATCHES SHOW EMPTY MATCHES PATTERN (A)", QuerySyntaxError, "SHOW"),
        ("ORDER BY x ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A & B) WITHIN 1", UnsupportedError, _ONE_SHOW),
        ("ONE ROW PER PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("AFTER MATCH PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("AFTER MATCH SKIP PATTERN (A)", QuerySyntaxError, "PATTERN"),
        ("AFTER MATCH SKIP PAST ROW PATTERN (A)", QuerySyntaxError, "ROW"),
        ("SEEK PATTERN (A)", UnsupportedError, "SEEK"),
        ("INITIAL PATTERN (A)", UnsupportedError, "INITIAL"),
        ("PARTITION BY x INITIAL PATTERN (A)", UnsupportedError, "INITIAL"),
        ("PARTITION BY x SEEK PATTERN (A)", UnsupportedError, "SEEK"),
        ("ORDER BY x INITIAL PATTERN (A)", UnsupportedError, "INITIAL"),
        ("ORDER BY x DESC SEEK PATTERN (A)", UnsupportedError, "SEEK"),
        ("AFTER MATCH SKIP TO NEXT ROW INITIAL PATTERN (A)", UnsupportedError, "INITIAL"),
        ("PATTERN (A) SUBSET U = A", QuerySyntaxError, "A"),
        ("PATTERN (A) SUBSET U = ()", QuerySyntaxError, ")"),
        ("PATTERN (A) DEFINE A AS", QuerySyntaxError, ""),
        ("PATTERN (A) DEFINE A AS 1 = 1,", QuerySyntaxError, ""),
        ("PATTERN (A) DEFINE A AS 1 = 1 B AS 2 = 2", QuerySyntaxError, "B"),
        ("PATTERN (A) DEFINE A = 1", QuerySyntaxError, "="),
        ("PATTERN (A) GROUP BY x", QuerySyntaxError, "GROUP"),
        ("PATTERN (A A**)", QuerySyntaxError, "*"),
    ],
)
def test_mistakes(text: str, kind: type[TrellisError], word: str) -> None:
    with pytest.raises(kind) as caught:
        parse_clause_text(text)
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word


def test_a_part_out_of_order_says_the_order() -> None:
    with pytest.raises(
        QuerySyntaxError, match="PARTITION BY, ORDER BY, MEASURES, ROWS PER MATCH, AFTER MATCH, PATTERN"
    ):
        parse_clause_text("PATTERN (A) ORDER BY x")


@pytest.mark.parametrize(
    ("text", "word", "problem"),
    [
        ("PATTERN (A) DEFINE B AS x > 1", "B", "does not stand in the pattern"),
        ("PATTERN (A) DEFINE A AS x > 1, a AS x > 2", "a", "defined twice"),
        ("PATTERN (A B) SUBSET A = (B)", "A = (B)", "name of a variable"),
        ("PATTERN (A B) SUBSET U = (A), u = (B)", "u = (B)", "defined twice"),
        ("PATTERN (A B) SUBSET U = (A, X)", "U = (A, X)", "holds X"),
        ("PATTERN (A B) SUBSET U = (A), V = (U)", "V = (U)", "holds U"),
        ("PATTERN (A B) SUBSET U = (A, B) DEFINE U AS x > 1", "U", "is a subset"),
        ("AFTER MATCH SKIP TO FIRST X PATTERN (A)", "X", "not a variable"),
        ("MEASURES a AS x, b AS X PATTERN (A)", "X", "Two measures"),
        ("PATTERN (A) DEFINE A AS FINAL LAST(x) > 1", "FINAL LAST(x)", "cannot stand in DEFINE"),
        ("PATTERN (A) DEFINE A AS 1 < final sum(x)", "final sum(x)", "cannot stand in DEFINE"),
        ("MEASURES sum(1 + avg(x)) AS s PATTERN (A)", "avg(x)", "inside the aggregate SUM"),
        ("MEASURES sum(LAST(x)) AS s PATTERN (A)", "LAST(x)", "inside the aggregate SUM"),
        ("MEASURES sum(x) FILTER (WHERE x > PREV(x)) AS s PATTERN (A)", "PREV(x)", "inside the aggregate"),
        ("MEASURES LAST(sum(x)) AS s PATTERN (A)", "sum(x)", "inside LAST"),
        ("MEASURES FIRST(LAST(x)) AS s PATTERN (A)", "LAST(x)", "inside FIRST"),
        ("MEASURES FIRST(PREV(x)) AS s PATTERN (A)", "PREV(x)", r"PREV\(FIRST\(...\)\)"),
        ("MEASURES PREV(NEXT(x)) AS s PATTERN (A)", "NEXT(x)", "inside PREV"),
        ("MEASURES PREV(1 + LAST(x)) AS s PATTERN (A)", "LAST(x)", "whole argument"),
        ("MEASURES LAST(x, -1) AS s PATTERN (A)", "-1", "offset"),
        ("MEASURES LAST(x, 1.5) AS s PATTERN (A)", "1.5", "offset"),
        ("MEASURES LAST(x, y) AS s PATTERN (A)", "y", "offset"),
        ("MEASURES LAST(x, NULL) AS s PATTERN (A)", "NULL", "offset"),
        ("MEASURES LAST(A.x + B.y) AS s PATTERN (A B)", "B.y", "reads rows of A and of B"),
        ("MEASURES LAST(A.x + y) AS s PATTERN (A B)", "y", "reads rows of A and of all variables"),
        ("MEASURES sum(A.x * B.y) AS s PATTERN (A B)", "B.y", "reads rows of A and of B"),
        ("MEASURES sum(A.x) FILTER (WHERE B.y > 1) AS s PATTERN (A B)", "B.y", "reads rows"),
        ("MEASURES PREV(LAST(A.x + B.x)) AS s PATTERN (A B)", "B.x", "reads rows"),
        ("MEASURES max(CLASSIFIER(A) || B.x) AS s PATTERN (A B)", "B.x", "reads rows"),
        ("MEASURES sum(*) AS s PATTERN (A)", "*", "COUNT"),
        ("MEASURES count(DISTINCT A.*) AS s PATTERN (A)", "A.*", "COUNT"),
        ("MEASURES count(X.*) AS s PATTERN (A)", "X.*", "not a variable"),
        ("MEASURES CLASSIFIER(X) AS s PATTERN (A)", "CLASSIFIER(X)", "not a variable"),
        ("MEASURES CLASSIFIER(`a`) AS s PATTERN (A)", "CLASSIFIER(`a`)", "not a variable"),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A {- B -})", "B", "exclusion"),
        ("PARTITION BY CLASSIFIER() PATTERN (A)", "CLASSIFIER()", "PARTITION BY or ORDER BY"),
        ("ORDER BY a, PREV(x) PATTERN (A)", "PREV(x)", "PARTITION BY or ORDER BY"),
        ("ORDER BY 1 + sum(x) PATTERN (A)", "sum(x)", "PARTITION BY or ORDER BY"),
        ("ORDER BY MATCH_NUMBER() PATTERN (A)", "MATCH_NUMBER()", "PARTITION BY or ORDER BY"),
        ("PATTERN (A) WITHIN INTERVAL '1' DAY", "INTERVAL '1' DAY", "needs ORDER BY"),
        ("ORDER BY x PATTERN (A) WITHIN x + 1", "x + 1", "constant"),
        (f"ORDER BY x ONE ROW PER MATCH {_SHOW} PATTERN (A)", f"ONE ROW PER MATCH {_SHOW}", "needs WITHIN"),
        (
            f"ORDER BY x ALL ROWS PER MATCH WITH UNMATCHED ROWS {_SHOW} PATTERN (A) WITHIN 1",
            f"ALL ROWS PER MATCH WITH UNMATCHED ROWS {_SHOW}",
            "WITH UNMATCHED ROWS",
        ),
        ("ORDER BY x PATTERN (A) WITHIN 'x'", "'x'", "constant"),
    ],
)
def test_queries_that_contradict_themselves(text: str, word: str, problem: str) -> None:
    with pytest.raises(BindingError, match=problem) as caught:
        parse_clause_text(text)
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word
    assert error.cure


@pytest.mark.parametrize(
    "text",
    [
        "MEASURES PREV(FIRST(A.x, 1), 2) AS s, sum(A.x + A.y) AS t, LAST(x + y, :n) AS u PATTERN (A)",
        "MEASURES count(*) AS n, count(U.*) AS m, CLASSIFIER(U) AS c PATTERN (A B) SUBSET U = (A, B)",
        "MEASURES sum(A.x + 1 + MATCH_NUMBER()) AS n PATTERN (A)",
        "MEASURES FIRST(A.address.city || upper(A.x)) AS n PATTERN (A)",
        "MEASURES sum(address.city + x) AS n PATTERN (A)",
        "AFTER MATCH SKIP TO U PATTERN (A B) SUBSET U = (A, B)",
        "ALL ROWS PER MATCH PATTERN (A {- B -})",
        "PATTERN (A) DEFINE A AS RUNNING LAST(x) > PREV(x, 0)",
        "PATTERN (())",
    ],
)
def test_queries_that_are_fine(text: str) -> None:
    parse_clause_text(text)


@pytest.mark.parametrize(
    "width",
    [
        "INTERVAL '2' HOUR", "INTERVAL 5 MINUTES", "INTERVAL '1 day -2 hours'", "INTERVAL '1-2' YEAR TO MONTH",
        "INTERVAL '0-1' YEAR TO MONTH", "INTERVAL '0 00:00:01' DAY TO SECOND", "INTERVAL '00:30' HOUR TO MINUTE",
        "INTERVAL 1 DAY 2 HOURS", "INTERVAL '0.5' SECOND", "INTERVAL '+1' DAY", "10", "0.5", "1L", "1e-3", ":width",
        "INTERVAL '1 month'", "INTERVAL '1' microsecond",
    ],
)  # fmt: skip
def test_widths(width: str) -> None:
    assert parse_clause_text(f"ORDER BY x PATTERN (A) WITHIN {width} DEFINE A AS 1 = 1").within is not None


@pytest.mark.parametrize(
    ("width", "problem"),
    [
        ("INTERVAL '0' HOUR", "zero"),
        ("INTERVAL 0 MINUTES", "zero"),
        ("INTERVAL '0 00:00:00' DAY TO SECOND", "zero"),
        ("INTERVAL '0 hours 0 minutes'", "zero"),
        ("INTERVAL '-1' DAY", "negative"),
        ("INTERVAL -1 DAY", "negative"),
        ("- INTERVAL '1' DAY", "negative"),
        ("INTERVAL '-1-2' YEAR TO MONTH", "negative"),
        ("INTERVAL '1 day -25 hours'", "negative"),
        ("INTERVAL '1 parsec'", "neither a number nor an interval"),
        ("INTERVAL 'x'", "neither a number nor an interval"),
        ("INTERVAL 'x' DAY TO SECOND", "neither a number nor an interval"),
        ("NULL", "NULL"),
        ("0", "zero"),
        ("0.0", "zero"),
        ("-5", "negative"),
        ("TRUE", "constant"),
    ],
)
def test_widths_that_are_refused(width: str, problem: str) -> None:
    text = f"ORDER BY x PATTERN (A) WITHIN {width}"
    with pytest.raises(BindingError, match=problem) as caught:
        parse_clause_text(text)
    assert caught.value.span is not None
    assert text[caught.value.span.start : caught.value.span.end] == width
