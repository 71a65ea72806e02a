"""The addresses, without Spark: what is typed is read, and bad questions get an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.clients import Client, studio_on_loopback
from trellis.studio.server import PAGES

PAGE = Path(__file__).parents[2] / "src/trellis/studio/page"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with studio_on_loopback() as client:
        yield client


def test_every_file_of_the_page_is_served_and_the_page_asks_for_no_other() -> None:
    assert {name for name, _ in PAGES.values()} == {path.name for path in PAGE.iterdir()}
    for path in PAGE.iterdir():
        text = path.read_text("utf-8")
        assert not re.search(r"(?<!xmlns=\")https?://", text), f"{path.name} names another server"
        assert not re.search(r"<script(?![^>]*\bsrc=)|\bon\w+=\"|style=\"", text), f"{path.name}: the policy forbids it"


def test_the_state_lists_tables_and_examples(client: Client) -> None:
    state = json.loads(client.ask("GET", "api/state")[2])
    assert not state["ready"]
    assert [table["name"] for table in state["tables"]] == ["ticks"]
    assert state["examples"][0]["title"] == "A first query for ticks"
    assert client.post("api/check", text=state["examples"][0]["text"])["error"] is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY day PATTERN (A+))", "rows"),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY day PATTERN (A) DEFINE SEGMENT A AS window(2, 3))", "segments"),
        ("PATTERN SEQ(A a, B b) WITHIN 3", "events"),
        ("SELECT X.day AS d FROM ticks SEQUENCE BY day AS (X, *Y) WHERE Y.price < 3", "sequences"),
        ("SELECT 1", "plain"),
    ],
)
def test_the_language_is_found(client: Client, text: str, language: str) -> None:
    told = client.post("api/check", text=text)
    assert told["error"] is None
    assert told["language"] == language
    if language != "plain":
        assert client.post("api/check", text=text, language=language)["error"] is None
    for other in {"rows", "segments", "events", "sequences"} - {language}:
        assert client.post("api/check", text=text, language=other)["error"]["problem"]


def test_a_mistake_has_its_place(client: Client) -> None:
    text = "SELECT * FROM ticks MATCH_RECOGNIZE (\n  PATTERN (A B)\n  DEFIN B AS 1)"
    error = client.post("api/check", text=text)["error"]
    assert (error["place"]["line"], error["place"]["column"]) == (3, 3)
    assert text[error["place"]["start"] : error["place"]["end"]] == "DEFIN"
    assert error["problem"]


def test_places_are_counted_as_javascript_counts(client: Client) -> None:
    text = "-- 🎉 é\nSELECT * FROM t MATCH_RECOGNIZE (PATTERN (A ! B))"
    place = client.post("api/check", text=text)["error"]["place"]
    assert text.encode("utf-16-le")[2 * place["start"] : 2 * place["end"]].decode("utf-16-le").startswith("!")


def test_statements_that_change_something_are_refused(client: Client) -> None:
    for text in ("DROP TABLE ticks", "CREATE VIEW v AS SELECT 1", "INSERT INTO t VALUES (1)", "SET a = b", "ADD JAR x"):
        assert "change something" in client.post("api/check", text=text)["error"]["problem"], text


@pytest.mark.parametrize(
    "text", ["", "   ", "(", "'", "PATTERN", "PATTERN SEQ(", "p: PATTERN SEQ(A a)", "\ud800", "SELECT"]
)
def test_any_text_gets_an_answer(client: Client, text: str) -> None:
    assert "error" in client.post("api/check", text=text)


@pytest.mark.parametrize(
    "values",
    [{}, {"text": 3}, {"text": "", "language": "x"}, {"text": "", "events": 3}, {"text": "x" * 100_001}],
)
def test_what_the_page_would_not_send_is_refused(client: Client, values: dict[str, object]) -> None:
    assert client.post("api/check", **values)["problem"]


def test_bodies_that_are_no_objects_are_refused(client: Client) -> None:
    for body in (3, [], "x"):
        assert client.ask("POST", "api/check", body)[0] == 400
    assert client.ask("POST", "api/run", {"text": "SELECT 1"})[0] == 400  # no tab


def test_before_spark_is_there_a_run_says_so(client: Client) -> None:
    told = client.events("api/run", text="SELECT * FROM ticks")
    assert told[-1]["event"] == "failed"
    assert "still starting" in told[-1]["problem"]
