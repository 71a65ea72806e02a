"""Which bracket closes which; and where they do not match, which one is at fault.

Where one bracket is missing, most texts can be read up to their end, and only the outermost bracket is left over. The
parts of a clause say more: PATTERN or DEFINE cannot stand inside a bracket of another part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from trellis.errors import QuerySyntaxError
from trellis.languages.lexer import Token, TokenKind

__all__ = ["BRACKETS", "match_brackets"]

BRACKETS = {"(": ")", "[": "]", "{": "}"}


def match_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """For each opening bracket, the one that closes it."""
    partners = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind is not TokenKind.SYMBOL:
            continue
        if token.text in BRACKETS:
            opened.append(index)
        elif token.text in BRACKETS.values():
            if not opened or BRACKETS[tokens[opened[-1]].text] != token.text:
                _blame(tokens)
                raise QuerySyntaxError(
                    f"`{token.text}` closes a bracket that was not opened.",
                    cure="Leave it out, or write the bracket that it closes.",
                    span=token.span,
                )
            partners[opened.pop()] = index
    if opened:
        _blame(tokens)
        bracket = tokens[opened[-1]]
        if _is_clause(tokens, opened[-1]):
            raise QuerySyntaxError(
                "The bracket of MATCH_RECOGNIZE is not closed.",
                cure="Write `)` where the clause ends; or a bracket inside of it is not closed.",
                span=bracket.span,
            )
        raise QuerySyntaxError(
            "This bracket is not closed.",
            cure=f"Write `{BRACKETS[bracket.text]}` behind what it holds.",
            span=bracket.span,
        )
    return partners


def _blame(tokens: Sequence[Token]) -> None:
    """Show the bracket at fault, where the parts of a clause tell which it is."""
    opened: list[int] = []
    clauses: list[int] = []
    for index, token in enumerate(tokens):
        inside = len(opened) - clauses[-1] - 1 if clauses else 0
        if inside > 0 and _starts_part(tokens, index):
            _not_closed(tokens, opened[clauses[-1] + 1 :], index)
        if token.kind is not TokenKind.SYMBOL:
            continue
        if token.text in BRACKETS:
            if _is_clause(tokens, index):
                clauses.append(len(opened))
            opened.append(index)
        elif token.text in BRACKETS.values() and opened and BRACKETS[tokens[opened[-1]].text] == token.text:
            opened.pop()
            if clauses and clauses[-1] == len(opened):
                clauses.pop()
                if _starts_part(tokens, index + 1):
                    raise QuerySyntaxError(
                        f"This bracket closes MATCH_RECOGNIZE, but {tokens[index + 1].keyword} follows.",
                        cure="There is one `)` too many before it.",
                        span=token.span,
                    )


def _not_closed(tokens: Sequence[Token], opened: Sequence[int], index: int) -> NoReturn:
    """Brackets that are open where the next part starts."""
    word, last = tokens[index].keyword, tokens[index - 1]
    if tokens[opened[0] - 1].keyword == "PATTERN":
        raise QuerySyntaxError(
            f"A bracket of the pattern is not closed: {len(opened)} `)` missing before {word}.",
            cure=f"Write `)` before {word}.",
            span=tokens[opened[0]].span.to(last.span),
        )
    raise QuerySyntaxError(
        f"This bracket is not closed before {word}.", cure=f"Write `)` before {word}.", span=tokens[opened[-1]].span
    )


def _is_clause(tokens: Sequence[Token], index: int) -> bool:
    return tokens[index].text == "(" and index > 0 and tokens[index - 1].keyword == "MATCH_RECOGNIZE"


def _starts_part(tokens: Sequence[Token], index: int) -> bool:
    """Whether a part of the clause starts here that can stand nowhere else."""

    def text(ahead: int) -> str:
        at = index + ahead
        return (tokens[at].keyword or tokens[at].text) if at < len(tokens) else ""

    match text(0):
        case "PATTERN":
            return text(1) == "("
        case "DEFINE":
            return "AS" in (text(2), text(3))
        case "SUBSET":
            return text(2) == "="
        case "AFTER":
            return text(1) == "MATCH"
        case "ONE" | "ALL":
            return text(1) in ("ROW", "ROWS") and text(2) == "PER"
        case "MEASURES":
            return text(1) not in ("", ",", ")")
        case _:
            return False
