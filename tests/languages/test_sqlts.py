"""SQL-TS texts: what they become, and what is wrong with others."""

from __future__ import annotations

from dataclasses import replace

import pytest

import local
from trellis.algebra.query import Query, SkipTo, Wanted
from trellis.algebra.statement import MatchClause
from trellis.errors import TrellisError
from trellis.languages.statement import parse_statement, require_sequence
from trellis.planning.driver import plan_query
from trellis.planning.hints import Hints

TABLES = "FROM t CLUSTER BY k SEQUENCE BY s AS (X, *Y, Z)"


def clause_of(text: str) -> MatchClause:
    (clause,) = parse_statement(text).clauses
    return clause


def query_of(text: str) -> Query:
    return clause_of(text).query


def conditions(where: str, tables: str = TABLES) -> dict[str, str]:
    return {one.variable: str(one.condition) for one in query_of(f"SELECT X.a {tables} WHERE {where}").definitions}


def measure(item: str) -> str:
    return str(query_of(f"SELECT {item} {TABLES}").measures[0].expression)


def test_a_query_becomes_a_row_pattern() -> None:
    statement = parse_statement(
        "SELECT X.k, Z.previous.s AS low FROM t CLUSTER BY k SEQUENCE BY s, u DESC, v NULLS FIRST AS (X, *Y, Z)"
        " WHERE Y.a < Y.previous.a AND Z.previous.a < 0.5 * X.a ORDER BY low LIMIT 3"
    )
    (clause,) = statement.clauses
    assert str(clause.query.pattern) == "X Y++ Z"
    assert [str(key) for key in clause.query.order_by] == ["s ASC NULLS LAST", "u DESC NULLS LAST", "v ASC NULLS FIRST"]
    assert clause.input == "t"
    # A column of the clusters is in the result of a row pattern anyway: the measure has another name.
    assert statement.final == "SELECT `k (2)` AS `k`, `low` AS `low` FROM {trellis_match_0} ORDER BY low LIMIT 3"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("X.a > 1 AND Z.a > 2", {"X": "X.a > 1", "Z": "Z.a > 2"}),
        ("1 < 2", {"X": "1 < 2"}),
        ("Z.a > X.a", {"Z": "Z.a > X.a"}),
        ("X.a BETWEEN 1 AND 2", {"X": "(X.a >= 1) AND (X.a <= 2)"}),
        ("Y.previous.previous.a = Y.next.a", {"Y": "PREV(Y.a, 2) = NEXT(Y.a, 1)"}),
        ("Y.previous->a = Y.previous.next.a", {"Y": "PREV(Y.a, 1) = Y.a"}),
        ("Y.b.c = 1", {"Y": "Y.b.c = 1"}),
        ("Y.previous = 1", {"Y": "Y.previous = 1"}),
        ("FIRST(Y).a < Y.a", {"Y": "FIRST(Y.a) < Y.a"}),
        ("FIRST(Y).previous.a < Z.a", {"Z": "PREV(FIRST(Y.a), 1) < Z.a"}),
        ("first(Y.s) + 20 Minute > Y.s", {"Y": "(FIRST(Y.s) + INTERVAL 20 MINUTE) > Y.s"}),
        ("ccount(Y) < 9 AND csum(Y.a) < 8", {"Y": "(count(Y.*) < 9) AND (sum(Y.a) < 8)"}),
        ("sum(Y.a) < 8", {"Y": "sum(Y.a) < 8"}),
        ("count(*Y) > 2 AND last(*Y.a) > 1", {"Z": "(count(Y.*) > 2) AND (LAST(Y.a) > 1)"}),
        ("max(*Y.a) > X.a", {"Z": "max(Y.a) > X.a"}),
        ("X.a > 1 OR X.b > 2", {"X": "(X.a > 1) OR (X.b > 2)"}),
        ("X.a > 1 OR Z.b > 2", {"Z": "(X.a > 1) OR (Z.b > 2)"}),
        # What speaks of no element makes no pattern of its own.
        ("(k = 1 AND Z.a > 2) OR (1 < 2 AND Z.a < 2)", {"Z": "((k = 1) AND (Z.a > 2)) OR ((1 < 2) AND (Z.a < 2))"}),
    ],
)
def test_conditions_go_where_they_are_known(where: str, expected: dict[str, str]) -> None:
    assert conditions(where) == expected


def test_what_a_last_star_leaves_behind_is_tested_at_the_end() -> None:
    query = query_of("SELECT X.a FROM t SEQUENCE BY s AS (X, *Y) WHERE count(*Y) > 2")
    assert str(query.pattern) == "X Y++ <end>"
    assert str(query.definitions[0]) == "`end` AS count(Y.*) > 2"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("X.next.a", "NEXT(X.a, 1)"),
        ("LAST(Y).a", "LAST(Y.a)"),
        ("count(*Y)", "count(Y.*)"),
        ("percentile(*Y.a, 0.5)", "percentile(Y.a, 0.5)"),
        ("corr(*Y.a, *Y.b)", "corr(Y.a, Y.b)"),
        ("count(DISTINCT *Y.a)", "count(DISTINCT Y.a)"),
        ("K", "K"),
        ("X.a + 1", "X.a + 1"),
    ],
)
def test_measures(item: str, expected: str) -> None:
    assert measure(item) == expected


def test_names_of_columns() -> None:
    statement = parse_statement(f"SELECT X.a, Z.a, count(*Y), X.next.b, X.a + 1 n {TABLES}")
    assert statement.final == (
        "SELECT `a` AS `a`, `a (2)` AS `a`, `count(*Y)` AS `count(*Y)`, `b` AS `b`, `n` AS `n` FROM {trellis_match_0}"
    )


def test_windows() -> None:
    for width in ("INTERVAL '10' MINUTE", ":width", "INTERVAL 1 DAY"):
        query = query_of(f"SELECT X.a {TABLES} WITHIN {width} WHERE Y.a > 1 ORDER BY a")
        assert str(query.within) == width and not query.timeouts
        query = query_of(f"SELECT ALL X.a {TABLES} WITHIN {width} SHOW TIMEOUT MATCHES")
        assert str(query.within) == width and query.timeouts
    query = query_of(f"SELECT A.b {TABLES} WITHIN 10 Minutes SHOW TIMEOUT MATCHES, u AS A WHERE X.k = A.k")
    assert str(query.within) == "INTERVAL 10 MINUTES" and query.timeouts


def test_overlapping_and_several_patterns() -> None:
    assert query_of(f"SELECT ALL X.a {TABLES}").after_match.to is SkipTo.NEXT_ROW
    assert query_of(f"SELECT DISJOINT X.a {TABLES}").after_match.to is SkipTo.PAST_LAST_ROW
    query = query_of(
        f"SELECT X.a {TABLES} WHERE (X.a > 1 AND Z.a > 2) OR (X.a < 1 AND Z.b > X.b) OR X.c > 1 OR X.d > 1"
    )
    assert query.wanted is Wanted.EACH
    assert str(query.pattern) == "`X#1` `Y#1`++ `Z#1` | `X#2` `Y#2`++ `Z#2` | `X#3` `Y#3`++ `Z#3`"
    defined = {one.variable: str(one.condition) for one in query.definitions}
    assert defined["Z#2"] == "`Z#2`.b > `X#2`.b"
    assert defined["X#3"] == "(`X#3`.c > 1) OR (`X#3`.d > 1)"


def test_what_needs_no_search_is_done_before() -> None:
    clause = clause_of(
        "SELECT Z.a, A.c FROM u AS A, t CLUSTER BY k SEQUENCE BY s AS (X, Z)"
        " WHERE A.k = Z.k AND A.b > 1 AND X.k <> 'x' AND Z.a < A.c"
    )
    assert "(SELECT * FROM (SELECT * FROM t WHERE (k <> 'x'))) AS trellis_sequence" in clause.input
    assert "FROM u AS A WHERE (A.b > 1)" in clause.input
    assert "ON trellis_sequence.k = trellis_joined.`trellis_A`.k" in clause.input
    assert [str(one) for one in clause.query.definitions] == ["Z AS Z.a < `trellis_A`.c"]
    assert [str(key) for key in clause.query.partition_by] == ["k", "`trellis_row`"]


def test_what_might_fail_is_left_to_the_search() -> None:
    """Before the search it would be computed for clusters in which no row comes so far."""
    clause = clause_of(f"SELECT X.a {TABLES} WHERE X.a > 1 AND 10 / k > 2 AND k > -1")
    assert clause.input == "(SELECT * FROM t WHERE (k > (- 1)))"
    assert [str(one) for one in clause.query.definitions] == ["X AS (X.a > 1) AND ((10 / k) > 2)"]


def test_keys_may_have_the_name_of_the_table_before_them() -> None:
    clause = clause_of(
        "SELECT X.a FROM u AS A, t AS q CLUSTER BY q.k, year(Q.d) SEQUENCE BY q.s DESC AS (X)"
        " WHERE A.k = X.k AND X.k > 1"
    )
    assert [str(key) for key in clause.query.partition_by] == ["k", "year(d)", "`trellis_row`"]
    assert [str(key) for key in clause.query.order_by] == ["s DESC NULLS LAST"]
    assert "(SELECT * FROM t AS q WHERE (k > 1))" in clause.input
    assert "ON trellis_sequence.k = " in clause.input


def test_queries_in_queries() -> None:
    statement = parse_statement(
        "WITH q AS (SELECT X.a FROM t SEQUENCE BY s AS (X)) SELECT Y.a FROM (SELECT * FROM q) SEQUENCE BY a AS (Y, Z)"
        " WHERE Y.a IS DISTINCT FROM Z.a UNION SELECT 1"
    )
    inner, outer = statement.clauses
    assert (inner.input, outer.input) == ("t", "(SELECT * FROM q)")
    assert statement.final.endswith("SELECT `a` AS `a` FROM {trellis_match_1} UNION SELECT 1")


@pytest.mark.parametrize(
    ("text", "problem", "at"),
    [
        ("SELECT *Y.a FROM t SEQUENCE BY s AS (X, *Y)", "A star in SELECT stands inside an aggregate", "*Y.a"),
        ("SELECT X.a FROM t SEQUENCE BY s AS ()", "Expected an element", ")"),
        ("SELECT X.a FROM t CLUSTER BY k AS (X)", "Expected SEQUENCE BY", "AS"),
        ("SELECT X.a FROM t SEQUENCE BY s WHERE X.a > 1", "Expected AS and the elements", "WHERE"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (*X, Y) WHERE X.a < Y.a", "stands for many rows", "X.a < Y"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (*X) WHERE X.a < count(*X)", "stands for many rows", "X.a < count"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X) WHERE count(*X) > 1", "X is a single row", "count(*X)"),
        ("SELECT FIRST(X).a FROM t SEQUENCE BY s AS (X)", "X is a single row", "FIRST"),
        ("SELECT a FROM t SEQUENCE BY s AS (X)", "a needs an element before it", "a FROM"),
        ("SELECT X FROM t SEQUENCE BY s AS (X)", "X is a row, not a value", "X FROM"),
        ("SELECT count(*) FROM t SEQUENCE BY s AS (*X)", "count speaks of no element", "count(*)"),
        ("SELECT sum(X.a + *Y.a) FROM t SEQUENCE BY s AS (*X, *Y)", "Expected an expression", "*Y.a"),
        ("SELECT sum(*X.a + Y.a) FROM t SEQUENCE BY s AS (*X, *Y)", "sum speaks of several elements", "sum"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X, x)", "The element x stands twice", "x)"),
        ("SELECT DISTINCT X.a FROM t SEQUENCE BY s AS (X)", "SELECT DISTINCT is not part", "DISTINCT"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X) GROUP BY X.a", "GROUP cannot stand", "GROUP"),
        ("SELECT X.a FROM t JOIN u ON t.k = u.k, v SEQUENCE BY s AS (X)", "A join cannot stand", "JOIN"),
        ("SELECT X.a FROM (SELECT 1), v SEQUENCE BY s AS (X)", "This table needs an alias", "(SELECT 1)"),
        ("SELECT X.a FROM u AS A, v a, t SEQUENCE BY s AS (X)", "The tables u AS A and this one have one name", "v a"),
        ("SELECT X.a FROM u AS x, t SEQUENCE BY s AS (X)", "The element X and this table have one name", "u AS x"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X), u SEQUENCE BY s AS (Y)", "A query has one sequence", "u SEQ"),
        ("SELECT X.a FROM t SEQUENCE BY s NULLS SECOND AS (X)", "Expected FIRST or LAST", "SECOND"),
        ("SELECT X.a SEQUENCE BY s AS (X)", "A SQL-TS query needs FROM", ")"),
        ("SELECT X.a FROM t PARTITION BY k SEQUENCE BY s AS (X)", "Expected CLUSTER BY", "PARTITION"),
        ("SELECT X.a FROM t CLUSTER BY count(k) SEQUENCE BY s AS (X)", "stand in CLUSTER BY or SEQUENCE BY", "count"),
        ("SELECT X.a FROM t CLUSTER BY X.k SEQUENCE BY s AS (X)", "stand in CLUSTER BY or SEQUENCE BY", "X.k"),
        ("SELECT sum(X.a) OVER () FROM t SEQUENCE BY s AS (X)", "cannot stand inside a SQL-TS query", "sum"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X) SHOW TIMEOUT MATCHES", "needs WITHIN", "SHOW"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X) WITHIN 1 SHOW MATCHES", "Expected TIMEOUT", "MATCHES"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X) WITHIN X.a", "constant", "X.a"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X) WITHIN 0 WHERE X.a > 1", "zero", "0"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X) DURING 1", "Expected `,` or WHERE", "DURING"),
        (
            "SELECT X.a FROM t SEQUENCE BY s AS (X, Y) WITHIN 1 SHOW TIMEOUT MATCHES"
            " WHERE (X.a > 1 AND Y.a > 1) OR (X.a < 1 AND Y.a < 1)",
            "several patterns",
            "SHOW",
        ),
    ],
)
def test_errors(text: str, problem: str, at: str) -> None:
    with pytest.raises(TrellisError) as raised:
        parse_statement(text)
    assert problem in raised.value.problem
    assert raised.value.span is not None
    assert text[raised.value.span.start :].startswith(at)


def test_errors_of_planning_speak_of_sequences() -> None:
    schema = [("k", "int"), ("m", "map<int,int>"), ("s", "timestamp"), ("a", "double")]
    for text, problem in (
        ("SELECT X.a FROM t CLUSTER BY m SEQUENCE BY s AS (X)", "CLUSTER BY cannot use the type map"),
        ("SELECT X.a FROM t CLUSTER BY k SEQUENCE BY m AS (X)", "SEQUENCE BY cannot use the type map"),
        (f"SELECT X.a {TABLES} WHERE linear_regression_r2(Y.a, Y.a) > 0.5", "SQL-TS has no segments"),
        (f"SELECT X.a {TABLES} WHERE X.a + Y.a", "The condition is not a truth value.\n"),
    ):
        with pytest.raises(TrellisError, match=problem):
            try:
                local.plan_clause(query_of(text), schema)
            except TrellisError as error:
                raise error.with_text(text) from None
    stream = replace(local.source_of(schema), watermark="s")
    for text, cure in (
        ("SELECT X.a FROM t SEQUENCE BY a AS (X)", "Write SEQUENCE BY s first"),
        ("SELECT X.a FROM t SEQUENCE BY s AS (X, *Y)", "Leave out stars"),
    ):
        with pytest.raises(TrellisError, match=cure):
            plan_query(query_of(text), stream, Hints())


def test_too_many_patterns() -> None:
    either = " AND ".join("((X.a > 1 AND Z.a > 1) OR (X.b > 1 AND Z.b > 1))" for _ in range(5))
    with pytest.raises(TrellisError, match="32 patterns"):
        query_of(f"SELECT X.a {TABLES} WHERE {either}")


def test_a_sequence_is_required() -> None:
    with pytest.raises(TrellisError, match="There is no SEQUENCE BY"):
        require_sequence(parse_statement("SELECT a FROM t CLUSTER BY a"))
