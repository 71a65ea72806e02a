"""Statements that do more than give rows."""

from __future__ import annotations

import pytest

from trellis.algebra.statement import TemporaryView
from trellis.errors import QuerySyntaxError, UnsupportedError
from trellis.languages.statement import find_name, parse_statement

QUERY = "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A+))"
LEFT = "SELECT * FROM {trellis_match_0}"


@pytest.mark.parametrize(
    ("command", "view"),
    [
        ("CREATE TEMP VIEW v AS", TemporaryView("v")),
        ("create temporary view v as", TemporaryView("v")),
        ("CREATE OR REPLACE TEMP VIEW `my v` AS", TemporaryView("`my v`", replaces=True)),
        ("CREATE GLOBAL TEMPORARY VIEW v AS", TemporaryView("v", is_global=True)),
        ("CREATE TEMP VIEW v (a, `b c`) AS", TemporaryView("v", ("a", "b c"))),
        ("CREATE TEMP VIEW as AS", TemporaryView("as")),
    ],
)
def test_temporary_views(command: str, view: TemporaryView) -> None:
    statement = parse_statement(f"{command} {QUERY};")
    assert statement.view == view
    assert statement.final == LEFT
    assert statement.has_effect


def test_the_query_of_a_view_keeps_its_table_expressions() -> None:
    statement = parse_statement(f"CREATE TEMP VIEW v AS WITH c AS ({QUERY}) SELECT * FROM c")
    assert statement.final == f"WITH c AS ({LEFT}) SELECT * FROM c"


@pytest.mark.parametrize(
    ("command", "word", "cure"),
    [
        ("CREATE VIEW v AS", "VIEW", "CREATE TEMPORARY VIEW"),
        ("CREATE OR REPLACE VIEW v AS", "VIEW", "CREATE TABLE"),
        ("CREATE MATERIALIZED VIEW v AS", "MATERIALIZED", "CREATE TABLE"),
        ("CREATE FUNCTION f() RETURNS INT RETURN", "FUNCTION", "CREATE TABLE"),
        ("CACHE TABLE v AS", "CACHE", "CREATE TEMPORARY VIEW"),
        ("CACHE LAZY TABLE v AS", "CACHE", "CREATE TEMPORARY VIEW"),
        ("CREATE TEMP VIEW v COMMENT 'x' AS", "COMMENT", "name (a, b)"),
        ("CREATE TEMP VIEW v (a COMMENT 'x') AS", "COMMENT", "name (a, b)"),
        ("CREATE TEMP VIEW IF NOT EXISTS v AS", "NOT", "name (a, b)"),
    ],
)
def test_what_spark_would_keep_as_text(command: str, word: str, cure: str) -> None:
    text = f"{command} {QUERY}"
    with pytest.raises(UnsupportedError) as caught:
        parse_statement(text)
    error = caught.value
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word
    assert cure in (error.cure or "")


def test_a_view_needs_a_name() -> None:
    with pytest.raises(QuerySyntaxError, match="name of the view"):
        parse_statement(f"CREATE TEMP VIEW 'v' AS {QUERY}")


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE TABLE r AS {QUERY}",
        f"CREATE OR REPLACE TABLE r USING parquet AS {QUERY}",
        f"CREATE EXTERNAL TABLE r AS {QUERY}",
        f"REPLACE TABLE r AS {QUERY}",
        f"INSERT INTO r {QUERY}",
        f"INSERT OVERWRITE r {QUERY}",
        f"WITH c AS ({QUERY}) INSERT INTO r SELECT * FROM c",
        "FROM t MATCH_RECOGNIZE (PATTERN (A+)) INSERT INTO r SELECT *",
        f"MERGE INTO r USING ({QUERY}) AS m ON r.a = m.a WHEN MATCHED THEN DELETE",
    ],
)
def test_spark_runs_what_uses_the_rows_at_once(text: str) -> None:
    statement = parse_statement(text)
    assert statement.view is None
    assert statement.has_effect
    assert statement.final == text.replace("t MATCH_RECOGNIZE (PATTERN (A+))", "{trellis_match_0}")


@pytest.mark.parametrize(
    "text",
    [QUERY, f"({QUERY})", f"WITH insert AS ({QUERY}) SELECT * FROM insert", f"FROM ({QUERY}) SELECT insert, into"],
)
def test_queries_have_no_effect(text: str) -> None:
    assert not parse_statement(text).has_effect
    assert parse_statement("DROP TABLE t").has_effect


def test_names_in_braces() -> None:
    text = "SELECT '{a}', `{b}`, c FROM {d} JOIN {e} -- {f}\n WHERE x IN (SELECT y FROM {d}) AND D > 1"
    assert parse_statement(text).placeholders == ("d", "e", "d")
    found = find_name(text, "d")
    assert found is not None
    assert text[found.start : found.end] == "D"
    assert find_name(text, "e") is None
