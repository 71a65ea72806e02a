"""Constants and types, which are passed on as text in one normal form."""

from __future__ import annotations

from trellis.algebra.expression import Literal
from trellis.languages.cursor import Cursor
from trellis.languages.lexer import TokenKind

__all__ = ["INTERVAL_UNITS", "parse_literal", "parse_type"]

_TYPED = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME", "X"})
_CONSTANTS = frozenset({"NULL", "TRUE", "FALSE"})
INTERVAL_UNITS = frozenset(
    f"{unit}{plural}"
    for unit in ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")
    for plural in ("", "S")
)
_TYPE_CONTINUED = (
    ("WITHOUT", "TIME", "ZONE"),
    ("WITH", "LOCAL", "TIME", "ZONE"),
    ("WITH", "TIME", "ZONE"),
    ("PRECISION",),
)


def parse_literal(cursor: Cursor) -> Literal | None:
    """The constant that comes next; None, with nothing read, if none does."""
    start = cursor.span
    text = _literal_text(cursor)
    return None if text is None else Literal(text, cursor.since(start))


def parse_type(cursor: Cursor) -> str:
    """A type: `INT`, `DECIMAL(10, 2)`, `MAP<STRING, ARRAY<INT>>`, `INTERVAL DAY TO SECOND`."""
    count = 1
    if not cursor.is_name():
        cursor.fail("a type")
    if cursor.at_words("INTERVAL"):
        if cursor.keyword(1) in INTERVAL_UNITS:
            count = 4 if cursor.at_words("TO", ahead=2) and cursor.keyword(3) in INTERVAL_UNITS else 2
        return cursor.read(count).upper()
    for words in _TYPE_CONTINUED:
        if cursor.at_words(*words, ahead=1):
            count = 1 + len(words)
    if cursor.symbol(count) == "(":
        count = _closing(cursor, count, "(", ")")
    elif cursor.symbol(count)[:1] == "<":
        count = _closing(cursor, count, "<", ">")
    if cursor.at_words("COLLATE", ahead=count) and cursor.is_name(count + 1):
        count += 2
    return cursor.read(count)


def _closing(cursor: Cursor, ahead: int, opening: str, closing: str) -> int:
    """How many tokens ahead the group has ended. `>>` closes two."""
    depth = 0
    while cursor.peek(ahead) is not None:
        for character in cursor.symbol(ahead):
            depth += (character == opening) - (character == closing)
        ahead += 1
        if depth == 0:
            return ahead
        if depth < 0:
            break
    cursor.read(1)
    cursor.fail("a type with its brackets closed")


def _literal_text(cursor: Cursor) -> str | None:
    word = cursor.keyword()
    if cursor.kind() is TokenKind.NUMBER:
        return cursor.next().text
    if cursor.kind() is TokenKind.STRING:
        count = 1
        while cursor.kind(count) is TokenKind.STRING:
            count += 1
        return cursor.read(count)
    if word in _CONSTANTS and cursor.symbol(1) not in (".", "("):
        return cursor.next().keyword
    if word in _TYPED and cursor.kind(1) is TokenKind.STRING:
        return f"{cursor.next().keyword} {cursor.next().text}"
    if word == "INTERVAL":
        return _interval(cursor)
    return None


def _interval(cursor: Cursor) -> str | None:
    """`INTERVAL '1' DAY`, `INTERVAL '1-2' YEAR TO MONTH`, `INTERVAL '1 day 2 hours'`, `INTERVAL 1 DAY 2 HOURS`."""
    if cursor.kind(1) is TokenKind.STRING and cursor.keyword(2) not in INTERVAL_UNITS:
        return f"{cursor.next().keyword} {cursor.next().text}"
    if not _amount(cursor, 1):
        return None  # A column called interval.
    words = [cursor.next().keyword]
    while count := _amount(cursor, 0):
        words.append(cursor.read(count - 1).replace(" ", "") if count == 3 else cursor.next().text)
        words.append(cursor.next().keyword)
    if len(words) == 3 and cursor.at_words("TO") and cursor.keyword(1) in INTERVAL_UNITS:
        words += [cursor.next().keyword, cursor.next().keyword]
    return " ".join(words)


def _amount(cursor: Cursor, ahead: int) -> int:
    """How many tokens a value with its unit takes, 0 if none comes."""
    sign = cursor.symbol(ahead) in ("+", "-")
    value = cursor.kind(ahead + sign) in (TokenKind.NUMBER, TokenKind.STRING)
    return 2 + sign if value and cursor.keyword(ahead + sign + 1) in INTERVAL_UNITS else 0
