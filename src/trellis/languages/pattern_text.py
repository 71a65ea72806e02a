"""Row patterns as SQL:2016 writes them: `A DOWN+ (UP | FLAT){2,}? {- REST* -} $`; for segments, `A & ~B` too."""

from __future__ import annotations

from trellis.algebra.pattern import (
    MAX_COUNT,
    Alt,
    Anchor,
    And,
    Concat,
    CountParameter,
    Empty,
    Exclude,
    Mode,
    Not,
    Pattern,
    Permute,
    Repeat,
    Var,
    children,
    combines_segments,
    flatten,
)
from trellis.errors import QuerySyntaxError, Span, UnsupportedError
from trellis.languages.cursor import MAX_DEPTH, Cursor, cursor_over
from trellis.languages.lexer import TokenKind, attach_text

__all__ = ["MAX_COUNT", "parse_pattern", "parse_pattern_text"]

# One pair of brackets can hold several nodes, one inside the other, as in `(A | B & ~(...)+)`: they have a bound too.
_MAX_NODES = 2 * MAX_DEPTH

_AND = "`&` stands between two parts: `A & B`."
_NOT = "`~` stands before the part that must not match: `~A`."

# Operators of other languages, and what they are in a pattern.
_BOTH = "Write `A B` for A and then B, or `A & B` for a segment that is both."
_EITHER = "Write `A | B`."
_THEN = "Write `A B`: what follows stands behind, without a sign between."
_FOREIGN_WORDS = {"AND": _BOTH, "OR": _EITHER, "NOT": _NOT}
_FOREIGN_SYMBOLS = {"&&": _BOTH, "||": _EITHER, "->": _THEN, "=>": _THEN, ",": _THEN}


def parse_pattern(cursor: Cursor) -> Pattern:
    """Read a pattern, up to the bracket that closes it or the end of the text.

    Brackets around concatenations are kept, since they mean something in segment queries: for other queries the
    caller must `flatten` the pattern.
    """
    cursor.split_symbols(_length(cursor))
    start = cursor.span
    pattern = _alternation(cursor)
    _check_depth(pattern, cursor.since(start))
    return pattern


def parse_pattern_text(text: str) -> Pattern:
    """The pattern that a text holds, and nothing else. Without `&` and `~` it is read as one of single rows.

    Examples
    --------
    >>> str(parse_pattern_text("((a) b{1,}) | ()"))
    'A B+ | ()'
    """
    with attach_text(text):
        cursor = cursor_over(text)
        pattern = parse_pattern(cursor)
        cursor.expect_end("a variable, a quantifier, `&`, `|` or the end of the pattern")
        return pattern if combines_segments(pattern) else flatten(pattern)


def _length(cursor: Cursor) -> int:
    """How many tokens belong to the pattern."""
    depth = ahead = 0
    while cursor.peek(ahead) is not None:
        symbol = cursor.symbol(ahead)
        depth += (symbol == "(") - (symbol == ")")
        if depth < 0:
            break
        ahead += 1
    return ahead


def _alternation(cursor: Cursor, *, in_list: bool = False) -> Pattern:
    cursor.enter()
    options: list[Pattern] = []
    while True:
        parts: list[Pattern] = []
        while not parts or _starts_factor(cursor):
            parts.append(_conjunction(cursor))
            _refuse_foreign_symbol(cursor, in_list=in_list)
        option = parts[0] if len(parts) == 1 else Concat(tuple(parts))
        options.extend(option.options if isinstance(option, Alt) else (option,))
        if not cursor.accept_symbol("|"):
            break
    cursor.leave()
    return options[0] if len(options) == 1 else Alt(tuple(options))


def _refuse_foreign_symbol(cursor: Cursor, *, in_list: bool) -> None:
    """Say which operator is meant, where one of another language stands; in a list, commas are right."""
    for symbol, cure in _FOREIGN_SYMBOLS.items():
        if all(cursor.symbol(ahead) == part for ahead, part in enumerate(symbol)) and not (in_list and symbol == ","):
            last = cursor.peek(len(symbol) - 1)
            assert last is not None
            raise QuerySyntaxError(f"A pattern has no `{symbol}`.", cure=cure, span=cursor.span.to(last.span))


def _starts_factor(cursor: Cursor) -> bool:
    """Whether a further part of a concatenation comes next. What can end a pattern is left to whoever opened it."""
    return not cursor.at_end and cursor.symbol() not in (")", "|", ",", "-", "}")


def _conjunction(cursor: Cursor) -> Pattern:
    """Parts with `&` between them. Brackets in it mean nothing: the order of joining does not matter."""
    parts: list[Pattern] = []
    while True:
        part = _negation(cursor)
        parts.extend(part.parts if isinstance(part, And) else (part,))
        if cursor.symbol() != "&" or cursor.symbol(1) == "&":
            return parts[0] if len(parts) == 1 else And(tuple(parts))
        cursor.next()
        if not _starts_factor(cursor):
            cursor.fail("a variable", cure=_AND)


def _negation(cursor: Cursor) -> Pattern:
    """A part with its quantifier and the `~` before it."""
    signs = 0
    while cursor.accept_symbol("~"):
        cursor.enter()
        signs += 1
        if not _starts_factor(cursor):
            cursor.fail("a variable", cure=_NOT)
    pattern = _factor(cursor)
    for _ in range(signs):
        cursor.leave()
        pattern = Not(pattern)
    return pattern


def _factor(cursor: Cursor) -> Pattern:
    """A part with its quantifier."""
    body = _part(cursor)
    if not _at_quantifier(cursor):
        return body
    least, most = _counts(cursor)
    mode = Mode.RELUCTANT if cursor.accept_symbol("?") else Mode.GREEDY
    if _at_quantifier(cursor):
        raise QuerySyntaxError(
            "A quantifier cannot follow a quantifier.",
            cure="Put the part in brackets: `(A+)*`.",
            span=cursor.span,
        )
    return Repeat(body, least, most, mode)


def _at_quantifier(cursor: Cursor) -> bool:
    return cursor.symbol() in ("*", "+", "?") or (cursor.symbol() == "{" and cursor.symbol(1) != "-")


def _counts(cursor: Cursor) -> tuple[int | CountParameter, int | CountParameter | None]:
    start = cursor.span
    match cursor.next().text:
        case "*":
            return 0, None
        case "+":
            return 1, None
        case "?":
            return 0, 1
    least = _count(cursor)
    if least is not None and cursor.accept_symbol("}"):
        return least, least
    cursor.expect_symbol(",", "a number, a parameter, `,` or `}`" if least is None else "`,` or `}`")
    most = _count(cursor)
    cursor.expect_symbol("}", "a number, a parameter or `}`" if most is None else "`}`")
    span = cursor.since(start)
    if most == 0:
        raise QuerySyntaxError(
            "The upper bound of a quantifier must be at least 1.", cure="Leave out a part that has no row.", span=span
        )
    # What a parameter asks for is looked at when it has its value.
    if isinstance(least, int) and isinstance(most, int) and most < least:
        raise QuerySyntaxError(
            f"The quantifier asks for at least {least} and at most {most}.",
            cure=f"Write {{{most},{least}}}.",
            span=span,
        )
    return 0 if least is None else least, most


def _count(cursor: Cursor) -> int | CountParameter | None:
    start = cursor.span
    if cursor.symbol() == ":":
        return CountParameter(cursor.expect_parameter().text, cursor.since(start))
    token = cursor.peek()
    if token is None or token.kind is not TokenKind.NUMBER:
        return None
    if not (token.text.isascii() and token.text.isdigit()):
        cursor.fail("a whole number")
    cursor.next()
    # The length is looked at first: Python refuses to convert numbers of thousands of digits.
    if len(token.text.lstrip("0")) > len(str(MAX_COUNT)) or int(token.text) > MAX_COUNT:
        raise UnsupportedError(
            f"A quantifier can count up to {MAX_COUNT} at most.",
            cure="Leave out the upper bound, or count in a condition: count(A.*) < n.",
            span=token.span,
        )
    return int(token.text)


def _part(cursor: Cursor) -> Pattern:
    start = cursor.span
    token = cursor.peek()
    if token is not None and token.is_name:
        if token.keyword == "PERMUTE" and cursor.symbol(1) == "(":
            return _permute(cursor)
        if token.keyword in _FOREIGN_WORDS:
            raise QuerySyntaxError(
                f"A pattern has no {token.keyword}.",
                cure=f"{_FOREIGN_WORDS[token.keyword]} A variable of this name stands in backticks.",
                span=token.span,
            )
        cursor.next()
        return Var(token.variable, start)
    match cursor.symbol():
        case "(":
            cursor.next()
            if cursor.accept_symbol(")"):
                return Empty()
            inner = _alternation(cursor)
            if cursor.at_end and not cursor.closes:
                raise QuerySyntaxError(
                    "This bracket is not closed.", cure="Write `)` behind the part that it holds.", span=start
                )
            cursor.expect_symbol(")", "a variable, a quantifier, `&`, `|` or `)`")
            return inner
        case "^" | "$" as symbol:
            cursor.next()
            return Anchor(at_start=symbol == "^")
        case "{" if cursor.symbol(1) == "-":
            return _exclusion(cursor)
        case "*" | "+" | "?" | "{":
            cursor.fail("a variable", cure="A quantifier stands after the part that it repeats.")
        case "&":
            cursor.fail("a variable", cure=_AND)
    cursor.fail("a variable, a bracket or an anchor")


def _permute(cursor: Cursor) -> Pattern:
    cursor.read(2)
    if cursor.symbol() == ")":
        cursor.fail("a pattern", cure="PERMUTE needs the patterns to put in order: `PERMUTE(A, B)`.")
    parts = [_alternation(cursor, in_list=True)]
    while cursor.accept_symbol(","):
        parts.append(_alternation(cursor, in_list=True))
    cursor.expect_symbol(")", "a variable, a quantifier, `,` or `)`")
    return parts[0] if len(parts) == 1 else Permute(tuple(parts))


def _exclusion(cursor: Cursor) -> Pattern:
    cursor.read(2)
    if cursor.symbol() == "-" and cursor.symbol(1) == "}":
        cursor.fail("a pattern", cure="An exclusion needs the part that is left out: `{- A -}`.")
    body = _alternation(cursor)
    cursor.expect_symbol("-", "a variable, a quantifier or `-}`")
    cursor.expect_symbol("}", "`-}`")
    return Exclude(body)


def _check_depth(pattern: Pattern, span: Span) -> None:
    """Refuse trees that recursive functions could not walk."""
    level: list[Pattern] = [pattern]
    for _ in range(_MAX_NODES):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return
    raise QuerySyntaxError(
        f"The pattern is nested too deeply: more than {_MAX_NODES} levels.",
        cure="Take brackets away that the pattern does not need.",
        span=span,
    )
