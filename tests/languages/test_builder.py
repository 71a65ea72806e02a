"""The builder gives the query that the same words in SQL give."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from trellis.algebra.query import Skip, SkipTo
from trellis.errors import BindingError, QuerySyntaxError, TrellisError
from trellis.languages.builder import QueryBuilder, build
from trellis.languages.match_recognize import parse_clause_text

_OMIT = "ALL ROWS PER MATCH OMIT EMPTY MATCHES SHOW TIMEOUT MATCHES"
V_SHAPE = (
    build("A DOWN+ UP+")
    .define(DOWN="price < prev(price)", up="price > prev(price)")
    .subset(U="DOWN, up")
    .within("2 hours")
    .measures(start="first(A.ts)", low="min(U.price)")
    .rows_per_match("all")
    .after_match("next row")
)


def test_equal_to_sql() -> None:
    sql = parse_clause_text(
        """PARTITION BY symbol, upper(x) ORDER BY ts DESC NULLS LAST, seq
        MEASURES first(A.ts) AS start, min(U.price) AS low
        ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A DOWN+ UP+) WITHIN INTERVAL '2 hours' SUBSET U = (DOWN, UP)
        DEFINE DOWN AS price < prev(price), UP AS price > prev(price)"""
    )
    assert V_SHAPE.query(["symbol", "upper(x)"], "ts DESC NULLS LAST, seq") == sql
    assert V_SHAPE.query("symbol, upper(x)", ["ts DESC", "seq ASC NULLS FIRST"]) == sql
    assert parse_clause_text(V_SHAPE.text("symbol, upper(x)", ["ts DESC", "seq"])) == sql


def test_places_are_those_of_the_text() -> None:
    text = V_SHAPE.text("symbol", "ts")
    condition = V_SHAPE.query("symbol", "ts").definitions[1].condition
    assert condition.span is not None
    assert text[condition.span.start : condition.span.end] == "price > prev(price)"


def test_builders_do_not_change() -> None:
    base = build("A B")
    more = base.define(A="x > 1").measures(n="count(*)")
    assert base.query() == build("A B").query()
    assert base != more
    assert hash(more) == hash(build("A B").define(A="x > 1").measures(n="count(*)"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        base._pattern = "C"  # type: ignore[misc]


def test_again_adds_or_replaces() -> None:
    builder = build("A B").define(A="x > 1", B="x > 2").define(a="x > 3").measures(n="count(*)", m="1").measures(N="2")
    query = builder.query()
    assert [(d.variable, str(d.condition)) for d in query.definitions] == [("A", "x > 3"), ("B", "x > 2")]
    assert [(m.name, str(m.expression)) for m in query.measures] == [("N", "2"), ("m", "1")]
    assert build("A B C").subset(U="A").subset(u=["B", "C"]).query().subsets[0].variables == ("B", "C")


def test_names_that_are_no_python_names() -> None:
    query = (
        build("`low` `two words` A")
        .define({"two words": "x > 1", "`low`": "x > 2"}, A="x > 3")
        .subset({"the `union`": ["two words", "`low`"]})
        .measures({"a `b`": "x"})
        .query()
    )
    assert [d.variable for d in query.definitions] == ["two words", "low", "A"]
    assert query.subsets[0].name == "the `union`"
    assert query.subsets[0].variables == ("two words", "low")
    assert query.measures[0].name == "a `b`"


@pytest.mark.parametrize(
    ("words", "sql"),
    [
        ("one", "ONE ROW PER MATCH"),
        ("all", "ALL ROWS PER MATCH"),
        ("ALL  show empty", "ALL ROWS PER MATCH SHOW EMPTY MATCHES"),
        ("all omit empty", "ALL ROWS PER MATCH OMIT EMPTY MATCHES"),
        ("all with unmatched", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"),
        ("all rows per match omit empty matches", "ALL ROWS PER MATCH OMIT EMPTY MATCHES"),
    ],
)
def test_rows_per_match(words: str, sql: str) -> None:
    assert build("A").rows_per_match(words).query() == parse_clause_text(f"{sql} PATTERN (A)")


@pytest.mark.parametrize(
    ("builder", "rows"),
    [
        (build("A").show_timeouts(), "ONE ROW PER MATCH SHOW TIMEOUT MATCHES"),
        (build("A").show_timeouts().show_timeouts(False), "ONE ROW PER MATCH"),
        (build("A").rows_per_match("all").show_timeouts(), "ALL ROWS PER MATCH SHOW TIMEOUT MATCHES"),
        (build("A").show_timeouts().rows_per_match("all omit empty"), _OMIT),
        (build("A").rows_per_match("all rows per match omit empty matches show timeout matches"), _OMIT),
        (build("A").rows_per_match(f"{_OMIT} -- all").show_timeouts(), _OMIT),
        (
            build("A").rows_per_match("ALL ROWS PER MATCH -- all").show_timeouts(),
            "ALL ROWS PER MATCH SHOW TIMEOUT MATCHES",
        ),
    ],
)
def test_timeouts(builder: QueryBuilder, rows: str) -> None:
    query = builder.within(10).query(order_by="x")
    assert query == parse_clause_text(f"ORDER BY x {rows} PATTERN (A) WITHIN 10")
    assert query.timeouts is ("TIMEOUT" in rows)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("past last row", Skip()),
        ("next row", Skip(SkipTo.NEXT_ROW)),
        ("first B", Skip(SkipTo.FIRST, "B")),
        ("last b", Skip(SkipTo.LAST, "B")),
        ("to B", Skip(SkipTo.LAST, "B")),
        ("SKIP TO NEXT ROW", Skip(SkipTo.NEXT_ROW)),
        ("after match skip past last row", Skip()),
        ("skip to first B", Skip(SkipTo.FIRST, "B")),
        ("PAST", Skip(SkipTo.LAST, "PAST")),
    ],
)
def test_after_match(words: str, expected: Skip) -> None:
    assert build("A B PAST").after_match(words).query().after_match == expected


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        ("2 hours", "INTERVAL '2 hours'"),
        ("1 day 2 hours", "INTERVAL '1 day 2 hours'"),
        ("INTERVAL '2' HOUR", "INTERVAL '2' HOUR"),
        (":w", ":w"),
        ("10", "10"),
        (10, "10"),
        (0.5, "0.5"),
        (timedelta(hours=2), "INTERVAL '0 02:00:00.000000' DAY TO SECOND"),
        (timedelta(days=3, seconds=3725, microseconds=7), "INTERVAL '3 01:02:05.000007' DAY TO SECOND"),
    ],
)
def test_within(width: str | float | timedelta, expected: str) -> None:
    assert str(build("A").within(width).query(order_by="x").within) == expected


def test_comments_do_not_swallow_what_follows() -> None:
    builder = build("A B -- the pattern").define(A="x > 1 -- one", B="x > 2").measures(n="1 -- n", m="2")
    query = builder.query("a -- key", ["b -- key", "c"])
    assert len(query.definitions) == len(query.measures) == len(query.order_by) == 2


@pytest.mark.parametrize(
    ("make", "kind", "text", "word"),
    [
        (lambda: build("A ("), QuerySyntaxError, "A (", ""),
        (lambda: build("A) DEFINE (A"), QuerySyntaxError, "A) DEFINE (A", ")"),
        (lambda: build("A").define(A="x >"), QuerySyntaxError, "x >", ""),
        (lambda: build("A").define(A="x, B AS y"), QuerySyntaxError, "x, B AS y", ","),
        (lambda: build("A").measures(m="a b"), QuerySyntaxError, "a b", "b"),
        (lambda: build("A").subset(U="A,"), QuerySyntaxError, "A,", ""),
        (lambda: build("A").subset(U=[]), QuerySyntaxError, "", ""),
        (lambda: build("A").rows_per_match("some"), QuerySyntaxError, "some", "some"),
        (lambda: build("A").after_match("past"), BindingError, "SKIP TO past", "past"),
        (lambda: build("A").within("2 parsecs"), BindingError, "INTERVAL '2 parsecs'", "INTERVAL '2 parsecs'"),
        (lambda: build("A").within(0), BindingError, "0", "0"),
        (lambda: build("A").within(-1), BindingError, "-1", "-1"),
        (
            lambda: build("A").within(timedelta(-1)),
            BindingError,
            "INTERVAL '-1 00:00:00.000000' DAY TO SECOND",
            "INTERVAL '-1 00:00:00.000000' DAY TO SECOND",
        ),
        (lambda: build("A").define(B="x > 1"), BindingError, "B AS x > 1", "B"),
        (lambda: build("A").define(A="FINAL LAST(x) > 1"), BindingError, "A AS FINAL LAST(x) > 1", "FINAL LAST(x)"),
        (lambda: build("A").measures(m="sum(1)", M="1"), BindingError, None, None),
        (lambda: build("A").measures(m="sum(sum(x))"), BindingError, "sum(sum(x)) AS `m`", "sum(x)"),
        (lambda: build("A").subset(A="A"), BindingError, "A = (A)", "A = (A)"),
        (lambda: build("A {- B -}").rows_per_match("all with unmatched"), BindingError, "A {- B -}", "B"),
        (lambda: build("A").within("1 day"), BindingError, "INTERVAL '1 day'", "INTERVAL '1 day'"),
    ],
)
def test_mistakes_show_the_piece(make: object, kind: type[TrellisError], text: str | None, word: str | None) -> None:
    assert callable(make)
    if text is None:  # The later measure replaces the earlier: no mistake.
        assert len(make().query().measures) == 1
        return
    with pytest.raises(kind) as caught:
        make().query()
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word


@pytest.mark.parametrize("keys", ["a; b", "a) PATTERN (A", "a,", ""])
def test_keys_are_checked_alone(keys: str) -> None:
    for arguments in ({"partition_by": keys}, {"order_by": [keys]}):
        with pytest.raises(QuerySyntaxError) as caught:
            build("A").query(**arguments)  # type: ignore[arg-type]
        assert caught.value.text == keys


@pytest.mark.parametrize(
    "make",
    [
        lambda: build(5),  # type: ignore[arg-type]
        lambda: build("A").define(A=5),  # type: ignore[arg-type]
        lambda: build("A").within(None),  # type: ignore[arg-type]
        lambda: build("A").query(order_by=[5]),  # type: ignore[list-item]
    ],
)
def test_what_is_no_text(make: object) -> None:
    assert callable(make)
    with pytest.raises(TypeError, match="must be a string"):
        make()


def test_builder_is_a_value() -> None:
    assert isinstance(V_SHAPE, QueryBuilder)
    assert dataclasses.replace(V_SHAPE) == V_SHAPE
