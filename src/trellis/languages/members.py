"""What expressions of event patterns have besides those of SQL: `b[i-1].to`, `sum(b[..i-1].x)`, `b.LEN`, `80%*x`."""

from __future__ import annotations

from decimal import Decimal

from trellis.algebra.expression import Aggregate, Expression, Literal, Member, MemberIndex, Name, rebuild
from trellis.errors import QuerySyntaxError
from trellis.languages.cursor import Cursor
from trellis.languages.lexer import TokenKind

__all__ = ["at_member", "parse_member", "parse_percentage", "with_lengths"]

# Words that no value begins with: what stands before them is whole.
_AFTER_VALUE = frozenset({
    "AND", "AS", "BETWEEN", "DIV", "ELSE", "END", "ILIKE", "IN", "IS", "LIKE", "NOT", "OR", "OUTPUT", "RETURN", "RLIKE",
    "THEN", "WHEN", "WITHIN",
})  # fmt: skip
_INDEXES = "b[1], b[i], b[i-1] and b[b.LEN] are single events; b[..i-1] and b[] stand in aggregates."


def at_member(cursor: Cursor) -> bool:
    """Whether a variable of the pattern with an index comes next."""
    token = cursor.peek()
    if cursor.repeated is None or token is None or not token.is_name or cursor.symbol(1) != "[":
        return False
    return token.variable in cursor.repeated


def parse_member(cursor: Cursor) -> Member:
    """Read `b[i-1].to`."""
    start = cursor.span
    variable = cursor.next()
    index = _index(cursor, variable.text)
    path = []
    while cursor.accept_symbol("."):
        path.append(cursor.expect_name("the name of an attribute").identifier)
    return Member(variable.identifier, index, tuple(path), cursor.since(start))


def with_lengths(expression: Expression, repeated: frozenset[str]) -> Expression:
    """The expression with `b.LEN` as what it is: `count(b[])`. Of a single event, `a.len` is a column."""
    match expression:
        case Name(parts=(variable, length)) if not length.quoted and length.text.upper() == "LEN":
            if (variable.text if variable.quoted else variable.text.upper()) in repeated:
                events = Member(variable, MemberIndex.ALL, span=expression.span)
                return Aggregate("count", (events,), span=expression.span)
            return expression
        case _:
            return rebuild(expression, lambda part: with_lengths(part, repeated))


def parse_percentage(cursor: Cursor) -> Literal | None:
    """Read `80%`, that is 0.8; None, with nothing read, if it is no percentage but the remainder of a division."""
    number, sign, after = cursor.peek(), cursor.peek(1), cursor.peek(2)
    if cursor.repeated is None or number is None or sign is None or number.kind is not TokenKind.NUMBER:
        return None
    operand = after is not None and (after.kind is not TokenKind.SYMBOL or after.text in ("(", "-", "+", ":", "~"))
    if cursor.keyword(2) in _AFTER_VALUE and cursor.symbol(3) not in (".", "["):
        operand = False
    if sign.text != "%" or sign.span.start != number.span.end or operand:
        return None
    start = cursor.span
    cursor.read(2)
    try:
        share = Decimal(number.text) / 100
    except ArithmeticError:
        raise QuerySyntaxError(
            "A percentage is a plain number before its sign.", cure="Write `80%` or `12.5%`.", span=cursor.since(start)
        ) from None
    return Literal(f"{share.normalize():f}", cursor.since(start))


def _index(cursor: Cursor, variable: str) -> MemberIndex:
    start = cursor.span
    cursor.expect_symbol("[")
    words: list[str] = []
    while not cursor.at_end and cursor.symbol() != "]" and len(words) < 8:
        words.append(cursor.next().text)
    cursor.expect_symbol("]")
    text = "".join(words).upper()
    named = {"LEN": MemberIndex.LAST, f"{variable.upper()}.LEN": MemberIndex.LAST}
    found = named.get(text) or next((index for index in MemberIndex if index.value.upper() == text), None)
    if found is None:
        raise QuerySyntaxError(f"This is no index of {variable}.", cure=_INDEXES, span=cursor.since(start))
    return found
