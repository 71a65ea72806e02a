"""What expressions of SQL-TS have besides those of SQL: `FIRST(X).date`, `Y.previous->a`, `avg(*A.b)`, `20 Minute`.

The words `previous` and `next` are read as parts of a name; what they mean is decided where the elements are known.
"""

from __future__ import annotations

from trellis.algebra.expression import Expression, Literal, Name, Navigation
from trellis.errors import Span
from trellis.languages.cursor import Cursor
from trellis.languages.lexer import Token, TokenKind
from trellis.languages.literals import INTERVAL_UNITS

__all__ = ["accept_arrow", "accept_star", "at_edge_column", "parse_duration", "parse_edge_column"]


def accept_star(cursor: Cursor) -> bool:
    """Read the star before an element as the argument of an aggregate."""
    if not _is_element(cursor, 1):
        return False
    return cursor.accept_symbol("*")


def accept_arrow(cursor: Cursor, tokens: list[Token]) -> bool:
    """Read the arrow of SQL:1999 that may stand for a point behind `previous` and `next`."""
    if cursor.elements is None or tokens[0].variable not in cursor.elements:
        return False
    return cursor.accept_symbol("->")


def at_edge_column(cursor: Cursor, expression: Expression) -> bool:
    """Whether a column of `FIRST(X)` or `LAST(X)` comes next."""
    if cursor.elements is None or cursor.symbol() not in (".", "->") or not isinstance(expression, Navigation):
        return False
    inner = expression.argument
    return expression.function in ("FIRST", "LAST") and isinstance(inner, Name) and _is_whole(inner, cursor.elements)


def parse_edge_column(cursor: Cursor, expression: Expression, start: Span) -> Navigation:
    """Read the column: `FIRST(X).date` is FIRST of `X.date`."""
    assert isinstance(expression, Navigation) and isinstance(expression.argument, Name)
    parts = list(expression.argument.parts)
    while cursor.accept_symbol(".") or cursor.accept_symbol("->"):
        parts.append(cursor.expect_name("the name of a column").identifier)
    span = cursor.since(start)
    return Navigation(expression.function, Name(tuple(parts), span), expression.offset, expression.final, span)


def parse_duration(cursor: Cursor) -> Literal | None:
    """Read `20 Minute`; None, with nothing read, if none comes."""
    if cursor.elements is None or cursor.kind() is not TokenKind.NUMBER or cursor.keyword(1) not in INTERVAL_UNITS:
        return None
    start = cursor.span
    return Literal(f"INTERVAL {cursor.next().text} {cursor.next().keyword}", cursor.since(start))


def _is_element(cursor: Cursor, ahead: int) -> bool:
    token = cursor.peek(ahead)
    return cursor.elements is not None and token is not None and token.is_name and token.variable in cursor.elements


def _is_whole(name: Name, elements: frozenset[str]) -> bool:
    only = name.parts[0]
    return len(name.parts) == 1 and (only.text if only.quoted else only.text.upper()) in elements
