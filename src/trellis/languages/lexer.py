"""Tokens: the words, literals and symbols of a text, each with its place in it.

sqlglot's tokenizer for Spark finds the borders of strings, comments and quoted names, the part of lexing that is
easy to get wrong. Everything else is decided here from the source text of a token, because sqlglot groups words
(`ORDER BY`) and symbols (`??`) to suit its own parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError

from trellis.algebra.expression import Identifier
from trellis.errors import QuerySyntaxError, Span, TrellisError

__all__ = ["Token", "TokenKind", "attach_text", "tokenize"]

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF])?", re.IGNORECASE)
_STRING = re.compile(r"[rx]?(?:'.*'|\".*\")", re.IGNORECASE | re.DOTALL)
_SYMBOL = re.compile(r"<=>|>>>|<<|>>|<=|>=|<>|!=|==|\|\||::|->|=>|\|>|.", re.DOTALL)
_OPENING = re.compile(r"\b[rx]?'|\b[rx]?\"|'|\"|`|--|/\*", re.IGNORECASE)
_CLOSED = re.compile(
    r"[rx]?'(?:[^'\\]|\\.)*'|[rx]?\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL | re.IGNORECASE
)
_BAD_HEX = re.compile(r"x.[0-9a-f]*[^0-9a-f'\"].*", re.DOTALL | re.IGNORECASE)


class TokenKind(Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "quoted name"
    NUMBER = "number"
    STRING = "string"
    SYMBOL = "symbol"
    OTHER = "unknown"


@dataclass(frozen=True)
class Token:
    """A token, its text being exactly what stands in the source."""

    kind: TokenKind
    text: str
    span: Span

    # Keywords are compared so often that their upper case is worth keeping; that rules out slots.
    @cached_property
    def keyword(self) -> str:
        """The word in upper case; empty if the token is not an unquoted word."""
        return self.text.upper() if self.kind is TokenKind.WORD else ""

    @property
    def is_name(self) -> bool:
        """Whether the token can name something."""
        return self.kind is TokenKind.WORD or self.kind is TokenKind.QUOTED

    @property
    def identifier(self) -> Identifier:
        """The name that the token writes."""
        if self.kind is TokenKind.QUOTED:
            return Identifier(self.text[1:-1].replace("``", "`"), quoted=True)
        return Identifier(self.text)

    @property
    def variable(self) -> str:
        """The token as the name of a variable: upper case unless quoted."""
        return self.identifier.text if self.kind is TokenKind.QUOTED else self.text.upper()


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, without comments and hints."""
    tokens: list[Token] = []
    symbols: list[Span] = []
    for span in _spans(text):
        source = text[span.start : span.end]
        kind = _kind_of(source)
        if kind is TokenKind.SYMBOL:
            symbols.append(span)
            continue
        tokens.extend(_symbols(text, symbols))
        symbols.clear()
        if kind is TokenKind.NUMBER and source[0] != "." and _follows_point(tokens, span):
            span = Span(tokens.pop().span.start, span.end)
            source = text[span.start : span.end]
        if kind is TokenKind.OTHER and source[0].isalpha() and source[-1].isalnum():
            tokens.extend(_words(source, span))
        else:
            tokens.append(Token(kind, source, span))
    tokens.extend(_symbols(text, symbols))
    return tokens


@contextmanager
def attach_text(text: str) -> Iterator[None]:
    """Give the errors raised inside the text they speak of; a stack overflow is the reader's nesting error."""
    try:
        yield
    except TrellisError as error:
        error.with_text(text)
        raise
    except RecursionError:
        raise QuerySyntaxError(
            "The text is nested too deeply.",
            cure="Split the expression, or compute a part of it in a subquery.",
            span=Span(0, 1),
            text=text,
        ) from None


def _spans(text: str) -> Iterator[Span]:
    """Where sqlglot sees tokens. A number with a suffix (`2L`) comes as three tokens of one span."""
    try:
        found = Spark().tokenize(text)
    except TokenError:
        raise QuerySyntaxError(
            "A string, a quoted name or a comment is not closed, or not well formed.",
            cure="It ends with the sign that it starts with: ' or \" or `; a comment /* with */.",
            span=_unclosed(text),
        ) from None
    last = -1
    for token in found:
        if token.start != last:
            yield Span(token.start, token.end + 1)
        last = token.start


def _unclosed(text: str) -> Span:
    """Where the string, name or comment opens that has no end; sqlglot does not tell."""
    at = 0
    while opening := _OPENING.search(text, at):
        closed = _CLOSED.match(text, opening.start())
        if closed is None or _BAD_HEX.fullmatch(closed.group()):
            return Span(opening.start(), len(text) if closed is None else closed.end())
        at = closed.end()
    return Span(0, len(text))


def _kind_of(source: str) -> TokenKind:
    if source[0] == "`":
        return TokenKind.QUOTED if len(source) > 2 else TokenKind.OTHER
    if _STRING.fullmatch(source):
        return TokenKind.STRING
    if _NUMBER.fullmatch(source):
        return TokenKind.NUMBER
    if _WORD.fullmatch(source):
        return TokenKind.WORD
    if not any(character.isalnum() or character.isspace() for character in source) and source[0] not in "'\"":
        return TokenKind.SYMBOL
    return TokenKind.OTHER


def _words(source: str, span: Span) -> Iterator[Token]:
    """The single words of a group such as `ORDER BY`; what is not made of words stays whole."""
    words = list(_WORD.finditer(source))
    if "".join(source.split()) != "".join(word.group() for word in words):
        yield Token(TokenKind.OTHER, source, span)
        return
    for word in words:
        yield Token(TokenKind.WORD, word.group(), Span(span.start + word.start(), span.start + word.end()))


def _symbols(text: str, spans: list[Span]) -> Iterator[Token]:
    """Symbols, the longest that Spark knows first; those that stand apart in the text stay apart."""
    runs: list[Span] = []
    for span in spans:
        if runs and runs[-1].end == span.start:
            runs[-1] = runs[-1].to(span)
        else:
            runs.append(span)
    for run in runs:
        for symbol in _SYMBOL.finditer(text, run.start, run.end):
            yield Token(TokenKind.SYMBOL, symbol.group(), Span(symbol.start(), symbol.end()))


def _follows_point(tokens: list[Token], span: Span) -> bool:
    """Whether the number after a point is a fraction (`.5`) and not a field (`a.5`)."""
    if not tokens or tokens[-1].text != "." or tokens[-1].span.end != span.start:
        return False
    before = tokens[-2] if len(tokens) > 1 else None
    if before is None or before.span.end != tokens[-1].span.start:
        return True
    return not (before.is_name or before.text in (")", "]"))
