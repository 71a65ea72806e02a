"""A place in a list of tokens, with the questions that every parser asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from trellis.algebra.words import OF_EVENTS, OF_ROWS, OF_SEQUENCES, Words
from trellis.errors import QuerySyntaxError, Span
from trellis.languages.edits import Edit, quote
from trellis.languages.lexer import Token, TokenKind, tokenize

__all__ = ["MAX_DEPTH", "Cursor", "cursor_over"]

# Parsing and every later walk over the tree are recursive: a bound that no human text reaches keeps them far from
# Python's own limit of 1000 frames.
MAX_DEPTH = 120


class Cursor:
    """The tokens that are still to be read, and the text they come from.

    Words are compared without case. Where an expectation fails, the error says what was expected, and what stands
    there instead.
    """

    __slots__ = (
        "_depth",
        "_edits",
        "_end",
        "_position",
        "_tokens",
        "elements",
        "lambda_parameters",
        "repeated",
        "text",
    )

    def __init__(
        self, text: str, tokens: Sequence[Token], end: Token | None = None, edits: Sequence[Edit] = ()
    ) -> None:
        self.text = text
        self._tokens = list(tokens)
        self._end = end
        self._edits = tuple(edits)
        self._position = 0
        self._depth = 0
        # Names that a lambda around the current place introduces, in upper case: not columns.
        self.lambda_parameters: frozenset[str] = frozenset()
        # Variables of event patterns: before `[` they are no arrays. None outside of such patterns.
        self.repeated: frozenset[str] | None = None
        # The elements of a sequence (SQL-TS), whose tuples have neighbours. None outside of such queries.
        self.elements: frozenset[str] | None = None

    @property
    def words(self) -> Words:
        """The words of the language that is read."""
        if self.repeated is not None:
            return OF_EVENTS
        return OF_ROWS if self.elements is None else OF_SEQUENCES

    @property
    def at_end(self) -> bool:
        """Whether all tokens have been read."""
        return self._position >= len(self._tokens)

    @property
    def closes(self) -> bool:
        """Whether something stands behind the last token: a bracket, or another part of the text."""
        return self._end is not None

    @property
    def position(self) -> int:
        """The number of tokens read so far."""
        return self._position

    @property
    def span(self) -> Span:
        """Where the next token stands, or the end of the text."""
        if not self.at_end:
            return self._tokens[self._position].span
        if self._end is not None:
            return self._end.span
        end = len(self.text)
        return Span(end, end + 1)

    def since(self, start: Span) -> Span:
        """From the start of a span to the end of the last token read."""
        return start.to(self._tokens[self._position - 1].span) if self._position else start

    def peek(self, ahead: int = 0) -> Token | None:
        """A token further on, None behind the last one."""
        position = self._position + ahead
        return self._tokens[position] if position < len(self._tokens) else None

    def next(self) -> Token:
        """The next token, which becomes read; an error at the end of the text."""
        token = self.peek()
        if token is None:
            self.fail("more")
        self._position += 1
        return token

    def at_words(self, *words: str, ahead: int = 0) -> bool:
        """Whether these words come next, one after the other."""
        return all(self.keyword(ahead + offset) == word for offset, word in enumerate(words))

    def keyword(self, ahead: int = 0) -> str:
        """A word further on, in upper case; empty if there is none."""
        token = self.peek(ahead)
        return "" if token is None else token.keyword

    def symbol(self, ahead: int = 0) -> str:
        """A symbol further on; empty if there is none."""
        token = self.peek(ahead)
        return token.text if token is not None and token.kind is TokenKind.SYMBOL else ""

    def kind(self, ahead: int = 0) -> TokenKind | None:
        """The kind of a token further on."""
        token = self.peek(ahead)
        return None if token is None else token.kind

    def is_name(self, ahead: int = 0) -> bool:
        """Whether a name stands further on."""
        token = self.peek(ahead)
        return token is not None and token.is_name

    def accept(self, *words: str) -> bool:
        """Read the words if they come next."""
        if not self.at_words(*words):
            return False
        self._position += len(words)
        return True

    def accept_symbol(self, symbol: str) -> bool:
        """Read the symbol if it comes next."""
        if self.symbol() != symbol:
            return False
        self._position += 1
        return True

    def expect(self, *words: str) -> None:
        """Read the words, or fail."""
        for word in words:
            if not self.accept(word):
                self.fail(word)

    def expect_symbol(self, symbol: str, what: str | None = None) -> None:
        """Read the symbol, or fail."""
        if not self.accept_symbol(symbol):
            self.fail(what or f"`{symbol}`")

    def expect_name(self, what: str) -> Token:
        """Read a name, or fail."""
        if not self.is_name():
            self.fail(what)
        return self.next()

    def expect_parameter(self) -> Token:
        """Read a parameter, `:name`; the token of its name."""
        self.expect_symbol(":")
        if self.kind() is not TokenKind.WORD:
            self.fail("the name of a parameter")
        return self.next()

    def expect_end(self, what: str = "the end of the text") -> None:
        """Fail unless all tokens have been read."""
        if not self.at_end:
            self.fail(what)

    def fail(self, expected: str, cure: str | None = None) -> NoReturn:
        """Say what was expected here, and what stands here."""
        token = self.peek() or self._end
        if token is None:
            problem = f"The text ends here, expected {expected}."
        elif token.kind is TokenKind.OTHER:
            problem = f"Cannot read `{token.text}`, expected {expected}."
        else:
            problem = f"Expected {expected}, found `{token.text}`."
        raise QuerySyntaxError(problem, cure=cure or self._cure(expected), span=self.span)

    def _cure(self, expected: str) -> str:
        """What to do where nothing better is known: what is expected stands behind what was read."""
        before = self._tokens[self._position - 1].text if self._position else ""
        if expected.startswith("the end"):
            return f"Leave out what stands behind `{before}`."
        return f"Write {expected} behind `{before}`." if before else f"Begin with {expected}."

    def enter(self) -> None:
        """Go one level deeper; `leave` is not needed when an error ends the parse."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise QuerySyntaxError(
                f"The text is nested too deeply: more than {MAX_DEPTH} levels.",
                cure="Split the expression, or compute a part of it in a subquery.",
                span=self.span,
            )

    def leave(self) -> None:
        """Come back from a level."""
        self._depth -= 1

    def group_end(self) -> int:
        """How many tokens ahead the bracket that closes the next one stands; fails where it is not closed."""
        depth = 0
        for ahead in range(len(self._tokens) - self._position):
            match self.symbol(ahead):
                case "(":
                    depth += 1
                case ")":
                    depth -= 1
                    if depth == 0:
                        return ahead
        raise QuerySyntaxError("This bracket is not closed.", cure="Write `)` behind what it holds.", span=self.span)

    def split_symbols(self, ahead: int) -> None:
        """Read the next tokens as single characters: a pattern has no `||` or `->`."""
        stop = self._position + ahead
        self._tokens[self._position : stop] = [
            part for token in self._tokens[self._position : stop] for part in _characters(token)
        ]

    def quote(self, span: Span) -> str:
        """The text of a span, with the edits in it."""
        return quote(self.text, self._edits, span)

    def read(self, count: int) -> str:
        """Read some tokens; their texts, with one space where the source has any."""
        tokens = self._tokens[self._position : self._position + count]
        self._position += count
        text = ""
        end = None
        for token in tokens:
            text += token.text if end in (None, token.span.start) else f" {token.text}"
            end = token.span.end
        return text


def cursor_over(text: str) -> Cursor:
    """A cursor at the start of a text."""
    return Cursor(text, tokenize(text))


def _characters(token: Token) -> Iterator[Token]:
    if token.kind is not TokenKind.SYMBOL:
        yield token
        return
    for offset, character in enumerate(token.text):
        start = token.span.start + offset
        yield Token(TokenKind.SYMBOL, character, Span(start, start + 1))
