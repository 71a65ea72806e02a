"""Tokens: their kinds, texts and places."""

from __future__ import annotations

import pytest

from trellis.algebra.expression import Identifier
from trellis.errors import QuerySyntaxError, Span
from trellis.languages.cursor import cursor_over
from trellis.languages.lexer import TokenKind, tokenize


def texts(source: str) -> list[str]:
    return [token.text for token in tokenize(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "2L 1.5BD 10S 3Y 1D 2.5F 1e5 1.5e-3 .5 1.",
            ["2L", "1.5BD", "10S", "3Y", "1D", "2.5F", "1e5", "1.5e-3", ".5", "1."],
        ),
        ("PARTITION  BY a ORDER\nBY b", ["PARTITION", "BY", "a", "ORDER", "BY", "b"]),
        ("a>>>b<=>c->d=>e::f||g", ["a", ">>>", "b", "<=>", "c", "->", "d", "=>", "e", "::", "f", "||", "g"]),
        ("a < -1", ["a", "<", "-", "1"]),
        ("A?? B*? C{2,}?", ["A", "?", "?", "B", "*", "?", "C", "{", "2", ",", "}", "?"]),
        ("'it''s' r'a\\n' x'1F' \"d\"", ["'it'", "'s'", "r'a\\n'", "x'1F'", '"d"']),
        ("a /* b */ c -- d\ne /*+ HINT(x) */ f", ["a", "c", "e", "f"]),
        ("`a``b`.c", ["`a``b`", ".", "c"]),
        ("a .5", ["a", ".5"]),
        ("$x ^ ~ ! != @", ["$", "x", "^", "~", "!", "!=", "@"]),
        ("", []),
    ],
)
def test_texts(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


@pytest.mark.parametrize("source", ["é = 'ü' AND `ñ` > 1.5 -- 😀\n OR x", "日本 > '😀😀' AND z", "a\u00a0= b"])
def test_places_count_characters(source: str) -> None:
    for token in tokenize(source):
        assert source[token.span.start : token.span.end] == token.text


def test_places_behind_wide_characters() -> None:
    assert tokenize("'😀' é b")[-1].span == Span(6, 7)


WORDS = [
    "date", "key", "value", "start", "end", "count", "first", "last", "timestamp", "values", "table", "select",
    "interval", "match_recognize",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_words_are_words(word: str) -> None:
    [token] = tokenize(word)
    assert token.kind is TokenKind.WORD
    assert token.keyword == word.upper()
    assert token.identifier == Identifier(word)
    assert token.variable == word.upper()


def test_quoted_names() -> None:
    [token] = tokenize("`a``B`")
    assert token.kind is TokenKind.QUOTED
    assert token.identifier == Identifier("a`B", quoted=True)
    assert token.variable == "a`B"
    assert token.keyword == ""


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("a + 'open", 4),
        ("a `open", 2),
        ("a /* open", 2),
        ("é 'open", 2),
        ('x = "open', 4),
        ("r'a' 'b' -- 'c\n x'2' + x'zz'", 23),
        ("a\n 'b\nc", 3),
    ],
)
def test_what_is_not_closed(source: str, place: int) -> None:
    with pytest.raises(QuerySyntaxError, match="not closed") as caught:
        tokenize(source)
    assert caught.value.span is not None
    assert caught.value.span.start == place


def test_unknown_characters_are_kept_for_the_parser_to_refuse() -> None:
    assert tokenize("1.a")[0].kind is TokenKind.OTHER


def test_cursor() -> None:
    cursor = cursor_over("select A from b")
    assert cursor.accept("SELECT")
    assert not cursor.accept("FROM")
    assert cursor.expect_name("a name").text == "A"
    assert cursor.at_words("FROM", "B")
    cursor.expect("FROM")
    with pytest.raises(QuerySyntaxError, match=r"Expected `\(`, found `b`"):
        cursor.expect_symbol("(")
    cursor.next()
    assert cursor.at_end
    with pytest.raises(QuerySyntaxError, match="The text ends here, expected WHERE") as caught:
        cursor.expect("WHERE")
    assert caught.value.span == Span(15, 16)


def test_cursor_quotes_with_one_space() -> None:
    cursor = cursor_over("DECIMAL (10,\n  2) x")
    assert cursor.read(6) == "DECIMAL (10, 2)"
