"""Statements that do more than give rows: CREATE TEMPORARY VIEW, CREATE TABLE AS, INSERT.

Spark runs those that use the rows at once. A view keeps the text of its query, in which the placeholders of matches
would mean nothing later: a temporary one is made from the DataFrame of its query, others are refused.
"""

from __future__ import annotations

from trellis.algebra.statement import TemporaryView
from trellis.errors import UnsupportedError
from trellis.languages.cursor import Cursor

__all__ = ["has_effect", "read_view"]

_QUERY_STARTS = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE"})
_PERSISTENT = "Use CREATE TEMPORARY VIEW, or keep the rows: CREATE TABLE name AS SELECT ... ."


def read_view(cursor: Cursor) -> TemporaryView | None:
    """Read `CREATE TEMPORARY VIEW name AS`; None if the statement is another. Its query is what is left to read."""
    if cursor.at_words("CACHE"):
        raise UnsupportedError(
            "CACHE TABLE cannot hold a MATCH_RECOGNIZE.",
            cure="Create a temporary view first: CREATE TEMPORARY VIEW name AS SELECT ..., then CACHE TABLE name.",
            span=cursor.span,
        )
    if not cursor.accept("CREATE"):
        return None
    replaces = cursor.accept("OR", "REPLACE")
    is_global = cursor.accept("GLOBAL")
    if cursor.accept("TEMPORARY") or cursor.accept("TEMP"):
        if cursor.accept("VIEW"):
            return _view(cursor, replaces=replaces, is_global=is_global)
    elif not cursor.at_words("TABLE") and not cursor.at_words("EXTERNAL"):
        raise UnsupportedError(
            f"CREATE {cursor.keyword() or 'this'} cannot hold a MATCH_RECOGNIZE: Spark would keep the text alone.",
            cure=_PERSISTENT,
            span=cursor.span,
        )
    return None


def _view(cursor: Cursor, *, replaces: bool, is_global: bool) -> TemporaryView:
    name = cursor.expect_name("the name of the view")
    columns: list[str] = []
    if cursor.accept_symbol("("):
        while not columns or cursor.accept_symbol(","):
            columns.append(cursor.expect_name("the name of a column").identifier.text)
        _expect_nothing_else(cursor, cursor.symbol() == ")")
        cursor.next()
    _expect_nothing_else(cursor, cursor.at_words("AS"))
    cursor.next()
    return TemporaryView(name.text, tuple(columns), replaces, is_global)


def _expect_nothing_else(cursor: Cursor, is_plain: bool) -> None:
    if not is_plain:
        raise UnsupportedError(
            "A temporary view of matches has a name and names of columns, and nothing else.",
            cure="Write CREATE TEMPORARY VIEW name (a, b) AS SELECT ... .",
            span=cursor.span,
        )


def has_effect(cursor: Cursor) -> bool:
    """Whether running the statement changes something: it is not just a query."""
    if cursor.symbol() != "(" and cursor.keyword() not in _QUERY_STARTS:
        return True
    depth = 0
    while not cursor.at_end:
        token = cursor.next()
        depth += (token.text == "(") - (token.text == ")")
        # `WITH a AS (...) INSERT INTO t ...`, and `FROM a INSERT INTO t ...`.
        if depth == 0 and token.keyword == "INSERT" and cursor.keyword() in ("INTO", "OVERWRITE"):
            return True
    return False
