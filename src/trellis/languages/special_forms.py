"""Calls whose arguments are not a plain list: CAST(x AS type), EXTRACT(field FROM x) and their like."""

from __future__ import annotations

from trellis.algebra.expression import Expression
from trellis.errors import Span
from trellis.languages.cursor import Cursor
from trellis.languages.lexer import TokenKind
from trellis.languages.literals import parse_type
from trellis.languages.precedence import Level, Parse, raw, wrapped

__all__ = ["parse_special_form"]

_WITH_UNIT = frozenset({"TIMESTAMPADD", "TIMESTAMPDIFF", "DATEADD", "DATEDIFF", "DATE_ADD", "DATE_DIFF"})


def parse_special_form(cursor: Cursor, parse: Parse, word: str, start: Span) -> Expression | None:
    """Read the brackets after a function with a syntax of its own; None, with nothing read, if it has none."""
    if word in ("CAST", "TRY_CAST"):
        return _cast(cursor, parse, word, start)
    if word == "EXTRACT" and cursor.is_name(1) and cursor.at_words("FROM", ahead=2):
        cursor.next()
        field = cursor.next().text.upper()
        cursor.next()
        source = parse(cursor, Level.OR)
        cursor.expect_symbol(")")
        return raw(cursor.since(start), f"EXTRACT({field} FROM ", source, ")")
    if word == "TRIM":
        return _trim(cursor, parse, start)
    if word in ("SUBSTRING", "SUBSTR") and _has_word(cursor, "FROM"):
        return _with_words(cursor, parse, word, ("FROM", "FOR"), start)
    if word == "OVERLAY" and _has_word(cursor, "PLACING"):
        return _with_words(cursor, parse, word, ("PLACING", "FROM", "FOR"), start)
    if word == "POSITION" and _has_word(cursor, "IN"):
        return _position(cursor, parse, start)
    if word in _WITH_UNIT and cursor.kind(1) is TokenKind.WORD and cursor.symbol(2) == "," and _commas(cursor) == 2:
        cursor.next()
        pieces: list[str | Expression] = [f"{word}({cursor.next().text.upper()}"]
        while cursor.accept_symbol(","):
            pieces += [", ", parse(cursor, Level.OR)]
        cursor.expect_symbol(")")
        return raw(cursor.since(start), *pieces, ")")
    return None


def _cast(cursor: Cursor, parse: Parse, word: str, start: Span) -> Expression:
    cursor.expect_symbol("(")
    value = parse(cursor, Level.OR)
    cursor.expect("AS")
    target = parse_type(cursor)
    cursor.expect_symbol(")")
    return raw(cursor.since(start), f"{word}(", value, f" AS {target})")


def _trim(cursor: Cursor, parse: Parse, start: Span) -> Expression | None:
    """`TRIM([BOTH | LEADING | TRAILING] [characters] FROM text)`."""
    if not _has_word(cursor, "FROM"):
        return None
    cursor.expect_symbol("(")
    pieces: list[str | Expression] = ["TRIM("]
    if cursor.keyword() in ("BOTH", "LEADING", "TRAILING") and cursor.symbol(1) != ".":
        pieces.append(f"{cursor.next().keyword} ")
    if not cursor.at_words("FROM"):
        pieces += [*wrapped(parse(cursor, Level.COMPARISON)), " "]
    cursor.expect("FROM")
    text = parse(cursor, Level.COMPARISON)
    cursor.expect_symbol(")")
    return raw(cursor.since(start), *pieces, "FROM ", *wrapped(text), ")")


def _with_words(cursor: Cursor, parse: Parse, name: str, words: tuple[str, ...], start: Span) -> Expression:
    """Arguments that follow each other after words; the last word is optional."""
    cursor.expect_symbol("(")
    pieces: list[str | Expression] = [f"{name}(", *wrapped(parse(cursor, Level.COMPARISON))]
    for word in words:
        if word == words[-1] and not cursor.at_words(word):
            break
        cursor.expect(word)
        pieces += [f" {word} ", *wrapped(parse(cursor, Level.COMPARISON))]
    cursor.expect_symbol(")")
    return raw(cursor.since(start), *pieces, ")")


def _position(cursor: Cursor, parse: Parse, start: Span) -> Expression:
    cursor.expect_symbol("(")
    part = parse(cursor, Level.COMPARISON)
    cursor.expect("IN")
    text = parse(cursor, Level.COMPARISON)
    cursor.expect_symbol(")")
    return raw(cursor.since(start), "POSITION(", *wrapped(part), " IN ", *wrapped(text), ")")


def _has_word(cursor: Cursor, word: str) -> bool:
    """Whether the word stands in the group that opens next, not deeper."""
    return any(cursor.at_words(word, ahead=ahead) for ahead in _shallow(cursor))


def _commas(cursor: Cursor) -> int:
    return sum(cursor.symbol(ahead) == "," for ahead in _shallow(cursor))


def _shallow(cursor: Cursor) -> list[int]:
    """The tokens of the group that opens next which stand in no further bracket, by their distance."""
    found = []
    depth = 0
    for ahead in range(cursor.group_end()):
        symbol = cursor.symbol(ahead)
        depth += (symbol in ("(", "[")) - (symbol in (")", "]"))
        if depth == 1 and ahead:
            found.append(ahead)
    return found
