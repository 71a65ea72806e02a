"""Subqueries inside expressions, which only Spark reads: they are passed on as they stand in the text."""

from __future__ import annotations

from trellis.languages.cursor import Cursor
from trellis.languages.lexer import TokenKind

__all__ = ["at_subquery", "continues_query", "quote_group"]


def at_subquery(cursor: Cursor) -> bool:
    """Whether an opening bracket with a query in it comes next."""
    if cursor.symbol() != "(":
        return False
    word = cursor.keyword(1)
    if word == "SELECT":
        return True
    # These may be names of columns too: a query goes on with a name, a bracket or a value.
    return word in ("WITH", "FROM", "VALUES", "TABLE") and (
        cursor.is_name(2) or cursor.symbol(2) in ("(", "{") or cursor.kind(2) in (TokenKind.NUMBER, TokenKind.STRING)
    )


def continues_query(cursor: Cursor) -> bool:
    """Whether what was read so far is the first part of a longer query."""
    return cursor.keyword() in ("UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT")


def quote_group(cursor: Cursor) -> str:
    """Read a bracketed group; its text, with the edits in it."""
    start = cursor.span
    cursor.read(cursor.group_end() + 1)
    return cursor.quote(cursor.since(start))
