"""The builder of event patterns gives the query that the same words in SASE+ give."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from languages.event_queries import CONTAMINATION, EVENT_QUERIES, SHOPLIFTING, STOCKS
from trellis.algebra.query import Query, Selection, Wanted
from trellis.errors import BindingError, QuerySyntaxError, TrellisError
from trellis.languages.event_builder import EventBuilder, build_events
from trellis.languages.sase import parse_sase_text

CHAINS = (
    build_events("Alert a", "Shipment+ b[]")
    .where("a.type = 'contaminated'")
    .where("b[1].from = a.site", "b[i].from = b[i-1].to")
    .strategy("skip_till_any_match")
    .within("3 hours")
)


def written(query: Query) -> EventBuilder:
    """A query as steps of the builder."""
    events = query.events
    assert events is not None
    components = str(query).splitlines()[0].removeprefix("PATTERN SEQ(").removesuffix(")")
    builder = build_events(components).where(*map(str, events.where)).same(*map(str, events.same))
    builder = builder.strategy(query.selection.name.lower())
    if events.most_events is not None or query.within is not None:
        builder = builder.within(str(query.within) if events.most_events is None else f"{events.most_events} events")
    if query.measures:
        builder = builder.returning({measure.name: str(measure.expression) for measure in query.measures})
        builder = builder.result_type(events.result_type)
    builder = builder.show_timeouts() if query.timeouts else builder
    return builder.non_overlapping() if query.wanted is Wanted.NON_OVERLAPPING else builder


@pytest.mark.parametrize("text", EVENT_QUERIES)
def test_equal_to_the_text(text: str) -> None:
    query = parse_sase_text(text)
    assert written(query).query() == query
    assert parse_sase_text(written(query).text()) == query


def test_the_queries_of_the_paper() -> None:
    shoplifting = build_events("Shelf a", "~(Register b)", "Exit c").within("12 hours")
    assert shoplifting.where("a.tag_id = b.tag_id and a.tag_id = c.tag_id").query() == parse_sase_text(SHOPLIFTING)
    assert CHAINS.query() == parse_sase_text(CONTAMINATION)
    stocks = (
        build_events("Stock+ a[], Stock b")
        .same("symbol")
        .where("a[1].volume > 1000", "a[i].price > avg(a[..i-1].price)", "b.volume < 80%*a[a.LEN].volume")
        .within("1 hour")
    )
    assert stocks.query() == parse_sase_text(STOCKS)


def test_text() -> None:
    builder = CHAINS.same("tag", "site.id").returning(start="a.time", n="count(b[])").result_type("Chain")
    assert (
        builder.non_overlapping().text()
        == """\
PATTERN SEQ(Alert a, Shipment+ b[])
WHERE skip_till_any_match {
  [tag, site.id]
  AND a.type = 'contaminated'
  AND b[1].from = a.site
  AND b[i].from = b[i-1].to
}
WITHIN 3 hours
RETURN `Chain`(
  a.time AS `start`,
  count(b[]) AS `n`
)
OUTPUT NON_OVERLAP"""
    )


def test_what_times_out_needs_a_window() -> None:
    """When the query is complete: steps come in any order."""
    late = build_events("Order o", "Payment p").show_timeouts()
    assert late.within("3 days").query().timeouts
    with pytest.raises(BindingError, match="there is no window") as caught:
        late.query()
    assert caught.value.span is not None and caught.value.text is not None
    assert caught.value.text[caught.value.span.start : caught.value.span.end] == "SHOW TIMEOUT MATCHES"


def test_places_are_those_of_the_text() -> None:
    events = CHAINS.query().events
    assert events is not None
    span = events.where[2].span
    assert span is not None
    assert CHAINS.text()[span.start : span.end] == "b[i].from = b[i-1].to"


def test_builders_do_not_change() -> None:
    base = build_events("A a", "B b")
    more = base.where("a.x = 1").same("k").returning(n="a.x")
    assert base.query() == build_events("A a", "B b").query()
    assert base != more
    assert hash(more) == hash(build_events("A a", "B b").where("a.x = 1").same("k").returning(n="a.x"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        base._components = ("C c",)  # type: ignore[misc]
    assert base.where().same().returning() == base


def test_again_adds_or_replaces() -> None:
    builder = build_events("A a").where("a.x = 1").where("a.x = 2").same("k").same("l, m.n")
    events = builder.query().events
    assert events is not None
    assert [str(condition) for condition in events.where] == ["a.x = 1", "a.x = 2"]
    assert [str(column) for column in events.same] == ["k", "l", "m.n"]
    query = builder.returning(n="a.x", m="1").returning(N="2").within(3).within(4).query()
    assert [(measure.name, str(measure.expression)) for measure in query.measures] == [("N", "2"), ("m", "1")]
    assert str(query.within) == "4"
    assert builder.strategy("strict_contiguity").strategy("SKIP_TILL_ANY_MATCH").query().selection is (
        Selection.SKIP_TILL_ANY_MATCH
    )


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("a.x = 1 or a.x = 2", ["(a.x = 1) OR (a.x = 2)"]),
        ("a.x = 1 and a.y = 1 or a.x = 2 -- either", ["((a.x = 1) AND (a.y = 1)) OR (a.x = 2)"]),
        ("(a.x = 1 or a.x = 2)", ["(a.x = 1) OR (a.x = 2)"]),
        ("a.x = 1 and a.y = 2", ["a.x = 1", "a.y = 2"]),
        ("a.x between 1 and 2", ["a.x BETWEEN 1 AND 2"]),
    ],
)
def test_each_condition_stands_alone(condition: str, read: list[str]) -> None:
    events = build_events("A a").where(condition, "a.z = 1").query().events
    assert events is not None
    assert [str(one) for one in events.where] == [*read, "a.z = 1"]


def test_a_test_of_equivalence_may_be_a_condition() -> None:
    pattern = build_events("A a")
    assert pattern.where("[k] and a.x = 1").query() == pattern.same("k").where("a.x = 1").query()


@pytest.mark.parametrize(
    ("width", "text"),
    [
        ("3 hours", "3 hours"),
        ("1 hour 30 minutes", "1 hour 30 minutes"),
        ("INTERVAL '3' HOUR", "INTERVAL '3' HOUR"),
        ("500 events", "500 events"),
        (":width", ":width"),
        (10, "10"),
        (0.5, "0.5"),
        (timedelta(hours=26), "INTERVAL '1 02:00:00.000000' DAY TO SECOND"),
    ],
)
def test_within(width: str | float | timedelta, text: str) -> None:
    assert build_events("A a").within(width).query() == parse_sase_text(f"PATTERN SEQ(A a) WITHIN {text}")


def test_names_that_are_no_words() -> None:
    builder = build_events("`order placed` o").same("`order id`").returning({"a `b`": "o.x"}).result_type("it's `new`")
    query = builder.query()
    assert query.events is not None
    assert query.events.variables[0].types == ("order placed",)
    assert query.events.result_type == "it's `new`"
    assert query.measures[0].name == "a `b`"
    numbered = builder.result_type("5").query().events
    assert numbered is not None and numbered.result_type == "5"


def test_columns_of_type_and_time() -> None:
    text = "PATTERN SEQ(A a)"
    assert build_events("A a").query("kind", ["ts", "id"]) == parse_sase_text(text, "kind", ("ts", "id"))


def test_comments_do_not_swallow_what_follows() -> None:
    builder = (
        build_events("A a -- first", "B+ b[] -- then")
        .where("a.x = 1 -- one", "a.y = 1 or a.z = 1 -- two")
        .same("k -- key", "l")
        .within("3 -- hours")
        .returning(n="count(b[]) -- how many", m="a.x")
    )
    query = builder.query()
    assert query.events is not None
    assert len(query.events.variables) == len(query.events.where) == len(query.events.same) == len(query.measures) == 2


@pytest.mark.parametrize(
    ("make", "kind", "text", "word"),
    [
        (lambda: build_events(), QuerySyntaxError, "PATTERN SEQ()", ")"),
        (lambda: build_events("A"), QuerySyntaxError, "A", ""),
        (lambda: build_events("A a b"), QuerySyntaxError, "A a b", "b"),
        (lambda: build_events("SEQ(A a)"), QuerySyntaxError, "SEQ(A a)", "("),
        (lambda: build_events("A a) WHERE (", "B b"), QuerySyntaxError, "A a) WHERE (", ")"),
        (lambda: build_events("A+ a"), QuerySyntaxError, "A+ a", "a"),
        (lambda: build_events("A a", "B a"), BindingError, "B a", "B a"),
        (lambda: build_events("~(A a)"), BindingError, "PATTERN SEQ(~(A a))", "SEQ(~(A a))"),
        (lambda: build_events("A a").where("a.x ="), QuerySyntaxError, "a.x =", ""),
        (lambda: build_events("A a").where("a.x = 1 }"), QuerySyntaxError, "a.x = 1 }", "}"),
        (lambda: build_events("A a").where("a.x = 1, a.y = 1"), QuerySyntaxError, "a.x = 1, a.y = 1", ","),
        (lambda: build_events("A a").where("[k] or a.x = 1"), QuerySyntaxError, "[k] or a.x = 1", "or"),
        (lambda: build_events("A a").where("a.x = 1 or [k]"), QuerySyntaxError, "a.x = 1 or [k]", "["),
        (lambda: build_events("A+ a[]").where("a[i-2].x = 1"), QuerySyntaxError, "a[i-2].x = 1", "[i-2]"),
        (lambda: build_events("A a").same("the key"), QuerySyntaxError, "the key", "key"),
        (lambda: build_events("A a").same("k]"), QuerySyntaxError, "k]", "]"),
        (lambda: build_events("A a").strategy("often"), QuerySyntaxError, "often", "often"),
        (lambda: build_events("A a").strategy("strict_contiguity(a)"), QuerySyntaxError, "strict_contiguity(a)", "("),
        (lambda: build_events("A a").within("2 parsecs"), QuerySyntaxError, "2 parsecs", "parsecs"),
        (lambda: build_events("A a").within("0 events"), QuerySyntaxError, "0 events", "0 events"),
        (lambda: build_events("A a").within(-1), BindingError, "-1", "-1"),
        (lambda: build_events("A a").within(timedelta(0)), BindingError, None, None),
        (lambda: build_events("A a").returning(n="a.x AS m"), QuerySyntaxError, "a.x AS m", "AS"),
        (lambda: build_events("A a").returning({"": "a.x"}), QuerySyntaxError, "a.x AS ``", "``"),
        (lambda: build_events("A a").result_type(""), QuerySyntaxError, "``", "``"),
    ],
)
def test_mistakes_show_the_piece(make: object, kind: type[TrellisError], text: str | None, word: str | None) -> None:
    assert callable(make)
    with pytest.raises(kind) as caught:
        make().query()
    error = caught.value
    assert error.span is not None and error.text is not None
    if text is not None:
        assert error.text == text
        assert text[error.span.start : error.span.end] == word


@pytest.mark.parametrize(
    ("make", "cure"),
    [
        (lambda: build_events("Shelf"), "A component is a type and a name"),
        (lambda: build_events("A a b"), "is a type and a name"),
        (lambda: build_events("A a").same("the key"), "in backquotes"),
        (lambda: build_events("A a").strategy("often"), "skip_till_any_match"),
        (lambda: build_events("A a").strategy("strict_contiguity(a)"), "holds for all components"),
        (lambda: build_events("A a").within("2 parsecs"), "A window is `3 hours`"),
        (lambda: build_events("A a").where("[k] or a.x = 1"), "with same"),
        (lambda: build_events("A a").result_type("Found").text(), "with returning"),
        (lambda: build_events("A a").query(time=[]), 'time="time"'),
    ],
)
def test_cures(make: object, cure: str) -> None:
    assert callable(make)
    with pytest.raises(TrellisError) as caught:
        make()
    assert cure in (caught.value.cure or "")


@pytest.mark.parametrize(
    "make",
    [
        lambda: build_events(5),  # type: ignore[arg-type]
        lambda: build_events(["A a", "B b"]),  # type: ignore[arg-type]
        lambda: build_events("A a").where(True),  # type: ignore[arg-type]
        lambda: build_events("A a").same(["k"]),  # type: ignore[arg-type]
        lambda: build_events("A a").strategy(Selection.STRICT_CONTIGUITY),  # type: ignore[arg-type]
        lambda: build_events("A a").within(None),  # type: ignore[arg-type]
        lambda: build_events("A a").returning(n=5),  # type: ignore[arg-type]
        lambda: build_events("A a").result_type(5),  # type: ignore[arg-type]
        lambda: build_events("A a").query(type=5),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_text(make: object) -> None:
    assert callable(make)
    with pytest.raises(TypeError, match="must be a string"):
        make()
