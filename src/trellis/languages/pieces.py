"""The pieces of a text that a builder writes: what its user gave, checked alone, and its place in the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias, TypeVar

from trellis.errors import ArgumentError, Span, TrellisError
from trellis.languages.cursor import Cursor, cursor_over
from trellis.languages.lexer import attach_text

__all__ = [
    "Pairs",
    "Piece",
    "Width",
    "block",
    "closed",
    "parse_piece",
    "point_into_piece",
    "require_text",
    "texts_of",
    "width_text",
    "with_pair",
]

# A stretch of the text, and whether the user wrote it.
Piece: TypeAlias = tuple[str, bool]
# Pairs of a name and a text, in the order in which they were first given.
Pairs: TypeAlias = tuple[tuple[str, str], ...]
Width: TypeAlias = str | int | float | timedelta
T = TypeVar("T")


def require_text(what: str, text: object, example: str) -> None:
    """Refuse what is no string."""
    if isinstance(text, str):
        return
    kind = type(text).__name__
    cure = f"Write it as a text: {example!r}."
    if kind == "Column":
        cure = f"Write it as SQL, in a text: {example!r}; a Column cannot speak of the rows of a match."
    shown = f": {text!r}" if text is not None and kind != "Column" and len(repr(text)) <= 40 else ""
    raise ArgumentError(f"{what} must be a string, not {_article(kind)}{shown}.", cure=cure)


def texts_of(step: str, given: object, named: Mapping[str, T], example: str) -> dict[str, T]:
    """What a step of a builder was given: a mapping, or keywords; `example` shows both."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(
            f"{step} takes names with their texts, not {_article(type(given).__name__)}.",
            cure=f"Write {step}({example}), or pass a dictionary.",
        )
    for name in given or ():
        if not isinstance(name, str):
            raise ArgumentError(
                f"A name in {step} is {_article(type(name).__name__)}, not a string.", cure=f"Write {step}({example})."
            )
    return {**(given or {}), **named}


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" if kind != "NoneType" else "None"


def parse_piece(
    text: str,
    parse: Callable[[Cursor], T],
    end: str = "the end of the text",
    cure: str | None = None,
    variables: frozenset[str] | None = None,
) -> T:
    """Read a text that must hold one thing and nothing else.

    `end` says what may follow that thing, and `cure` what to do where something else does. `variables` are those of an
    event pattern.
    """
    with attach_text(text):
        cursor = cursor_over(text)
        cursor.repeated = variables
        value = parse(cursor)
        if not cursor.at_end:
            cursor.fail(end, cure=cure)
        return value


def block(head: str, elements: Sequence[str], between: str = ", ", end: str = "") -> Iterable[Piece]:
    """A part of the text with its elements, which the user wrote; nothing if there are none."""
    for number, element in enumerate(elements):
        yield between if number else head, False
        yield element, True
    if elements:
        yield end, False


def closed(text: str) -> str:
    """The text with a line end where a comment could swallow what follows."""
    return f"{text}\n" if "--" in text else text


def point_into_piece(error: TrellisError, pieces: Iterable[Piece]) -> None:
    """Show the piece that an error is about, not the whole text, which the user never saw."""
    whole = ""
    for piece, written in pieces:
        start, end = len(whole), len(whole) + len(piece)
        if written and error.span is not None and start <= error.span.start < end:
            error.span = Span(error.span.start - start, min(error.span.end, end) - start)
            error.text = piece
            return
        whole += piece
    error.with_text(whole)


def with_pair(pairs: Pairs, name: str, text: str, fold: Callable[[str], str]) -> Pairs:
    """The pairs with one added, or replaced in its place."""
    key = fold(name)
    if any(fold(old) == key for old, _ in pairs):
        return tuple((name, text) if fold(old) == key else (old, kept) for old, kept in pairs)
    return (*pairs, (name, text))


def width_text(width: Width) -> str:
    """A width of WITHIN as SQL writes it; a text is one already.

    Examples
    --------
    >>> from datetime import timedelta
    >>> width_text(timedelta(hours=26))
    "INTERVAL '1 02:00:00.000000' DAY TO SECOND"
    """
    if isinstance(width, timedelta):
        size = abs(width)
        seconds = size.seconds % 60 + size.microseconds / 1_000_000
        clock = f"{size.seconds // 3600:02d}:{size.seconds // 60 % 60:02d}:{seconds:09.6f}"
        return f"INTERVAL '{'-' if width < timedelta(0) else ''}{size.days} {clock}' DAY TO SECOND"
    if isinstance(width, (str, int, float)) and not isinstance(width, bool):
        return str(width)
    raise ArgumentError(
        f"The width of within must be a string, a number or a timedelta, not {_article(type(width).__name__)}.",
        cure="Write within('2 hours'), or within(10) where the order is a number.",
    )
