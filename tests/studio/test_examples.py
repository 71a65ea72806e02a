"""Queries to start from."""

from __future__ import annotations

import pytest

from trellis.samples import NAMES
from trellis.studio.desk import Desk, Table
from trellis.studio.examples import EXAMPLES, examples_for, first_query
from trellis.studio.questions import Question, guess_columns, read

VISITS = [("session", "bigint"), ("step", "int"), ("ts", "timestamp_ntz"), ("event", "string"), ("price", "double")]


@pytest.mark.parametrize(("table", "language", "title", "text"), EXAMPLES, ids=[one[2] for one in EXAMPLES])
def test_examples_are_in_the_language_they_are_listed_under(table: str, language: str, title: str, text: str) -> None:
    assert table in NAMES
    reading = read(Question(text), {table: VISITS})
    assert reading.language.value == language
    assert reading.queries


def test_every_language_has_an_example() -> None:
    assert {language for _, language, _, _ in EXAMPLES} == {"rows", "segments", "events", "sequences"}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            [("a b", "string"), ("my ts", "timestamp"), ("v`x", "double")],
            ["PARTITION BY `a b`", "ORDER BY `my ts`", "`v``x`"],
        ),
        ([("id", "bigint"), ("day", "date"), ("price", "decimal(10,2)")], ["ORDER BY day", "prev(price)"]),
        ([("step", "int"), ("x", "float")], ["ORDER BY step", "prev(x)"]),
        (
            [
                ("at", "timestamp"),
                ("side", "string"),
                ("id", "int"),
                ("stock", "int"),
                ("volume", "int"),
                ("p", "double"),
            ],
            ["PARTITION BY stock", "ORDER BY at", "prev(p)"],
        ),
    ],
)
def test_a_first_query_for_any_table(columns: list[tuple[str, str]], said: list[str]) -> None:
    table = Table("t", columns, shipped=False)
    text = first_query(table)
    assert text is not None
    for part in said:
        assert part in text
    assert read(Question(text), {"t": columns}).language.value == "rows"


def test_a_table_without_an_order_or_a_number_has_none() -> None:
    assert first_query(Table("t", [("a", "string")], shipped=False)) is None
    assert first_query(Table("t", [("ts", "timestamp")], shipped=False)) is None
    assert examples_for(Desk(tables={"t": Table("t", [("a", "string")], shipped=False)})) == []


def test_examples_need_the_table_that_ships_and_no_other_of_its_name() -> None:
    own = Desk(tables={"taxi": Table("taxi", [("a", "string")], shipped=False)})
    assert examples_for(own) == []
    shipped = Desk(tables={"taxi": Table("taxi", [("a", "string")], shipped=True)})
    assert [example["table"] for example in examples_for(shipped)] == ["taxi"]


def test_columns_of_events_are_guessed() -> None:
    assert guess_columns(VISITS) == ("event", "ts,step")
    assert guess_columns([("type", "string"), ("time", "int")]) == ("type", "time")
    assert guess_columns([("what", "string"), ("at", "timestamp")]) == ("what", "at")
