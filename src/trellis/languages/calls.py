"""Calls: functions of Spark, navigation and aggregates of row patterns, and the calls with a syntax of their own."""

from __future__ import annotations

from trellis.algebra.expression import (
    AGGREGATES,
    Aggregate,
    Call,
    Classifier,
    Expression,
    MatchNumber,
    Name,
    Navigation,
    Parameter,
    Raw,
    Star,
    children,
)
from trellis.errors import QuerySyntaxError, Span, UnsupportedError
from trellis.languages.cursor import Cursor
from trellis.languages.lexer import TokenKind
from trellis.languages.precedence import Level, Parse, raw, wrapped
from trellis.languages.special_forms import parse_special_form
from trellis.languages.subqueries import at_subquery, quote_group

__all__ = ["parse_call"]

_NAVIGATION = frozenset({"FIRST", "LAST", "PREV", "NEXT"})


def parse_call(cursor: Cursor, parse: Parse) -> Expression | None:
    """The call that comes next; None, with nothing read, if none does."""
    start = cursor.span
    final = _mode(cursor)
    ahead = 1
    while cursor.symbol(ahead) == "." and cursor.is_name(ahead + 1):
        ahead += 2
    if cursor.symbol(ahead) != "(":
        return None
    names = [cursor.next()]
    while cursor.accept_symbol("."):
        names.append(cursor.next())
    word = names[0].identifier.text.upper() if len(names) == 1 else ""
    call: Expression
    if word in _NAVIGATION:
        call = _navigation(cursor, parse, word, final, start)
    elif word.lower() in AGGREGATES:
        return _aggregate(cursor, parse, word.lower(), final, start)
    elif word == "CLASSIFIER":
        call = _classifier(cursor, start)
    elif word == "MATCH_NUMBER":
        cursor.expect_symbol("(")
        cursor.expect_symbol(")")
        call = MatchNumber(cursor.since(start))
    elif word == "EXISTS" and at_subquery(cursor):
        call = Raw((f"EXISTS {quote_group(cursor)}",), cursor.since(start))
    else:
        plain = names[0].kind is TokenKind.WORD
        special = parse_special_form(cursor, parse, word, start) if plain and word else None
        if special is None:
            name = ".".join(token.text.lower() if token.kind is TokenKind.WORD else token.text for token in names)
            special = Call(name, _arguments(cursor, parse, word), cursor.since(start))
        call = special
        if cursor.at_words("FILTER") and cursor.symbol(1) == "(":
            raise UnsupportedError(
                f"{names[-1].text} is not an aggregate that Trellis knows.", cure=_known(), span=names[-1].span
            )
    _refuse_window(cursor, start)
    return call


def _known() -> str:
    return f"The aggregates are {', '.join(sorted(AGGREGATES))}."


def _mode(cursor: Cursor) -> bool | None:
    """Read RUNNING or FINAL where a call follows; elsewhere they are names of columns."""
    if cursor.keyword() not in ("RUNNING", "FINAL") or not cursor.is_name(1) or cursor.symbol(2) != "(":
        return None
    if cursor.keyword(1) in ("IN", "AND", "OR", "LIKE", "NOT", "BETWEEN"):
        return None
    mode = cursor.next()
    token = cursor.peek()
    assert token is not None
    word = token.identifier.text
    if word.upper() not in ("FIRST", "LAST") and word.lower() not in AGGREGATES:
        raise QuerySyntaxError(
            f"{mode.keyword} cannot stand before {word}.",
            cure=f"{mode.keyword} stands before FIRST, LAST and aggregates.",
            span=mode.span,
        )
    return mode.keyword == "FINAL"


def _navigation(cursor: Cursor, parse: Parse, function: str, final: bool | None, start: Span) -> Navigation:
    cursor.expect_symbol("(")
    if cursor.symbol() == ")":
        cursor.fail(f"the argument of {function}")
    argument = parse(cursor, Level.OR)
    offset = parse(cursor, Level.OR) if cursor.accept_symbol(",") else None
    _refuse_null_handling(cursor)
    cursor.expect_symbol(")", "an operator or `)`" if offset is not None else "an operator, `,` or `)`")
    _refuse_null_handling(cursor)
    return Navigation(function, argument, offset, final, cursor.since(start))


def _classifier(cursor: Cursor, start: Span) -> Classifier:
    cursor.expect_symbol("(")
    variable = None if cursor.symbol() == ")" else cursor.expect_name("a variable or `)`").identifier
    cursor.expect_symbol(")")
    return Classifier(variable, cursor.since(start))


def _aggregate(cursor: Cursor, parse: Parse, function: str, final: bool | None, start: Span) -> Aggregate:
    cursor.expect_symbol("(")
    distinct = cursor.at_words("DISTINCT") and cursor.symbol(1) not in (")", ",")
    if distinct or (cursor.at_words("ALL") and (cursor.is_name(1) or cursor.symbol(1) == "*")):
        cursor.next()
    arguments = [_aggregate_argument(cursor, parse)]
    while cursor.accept_symbol(","):
        arguments.append(_aggregate_argument(cursor, parse))
    _refuse_null_handling(cursor)
    cursor.expect_symbol(")", "an operator, `,` or `)`")
    _refuse_null_handling(cursor)
    if cursor.at_words("WITHIN", "GROUP"):
        raise UnsupportedError("WITHIN GROUP is not supported.", span=cursor.span)
    condition = None
    if cursor.at_words("FILTER") and cursor.symbol(1) == "(":
        cursor.read(2)
        cursor.expect("WHERE")
        condition = parse(cursor, Level.OR)
        cursor.expect_symbol(")", "an operator or `)`")
    _refuse_window(cursor, start)
    return Aggregate(function, tuple(arguments), distinct, condition, final, cursor.since(start))


def _aggregate_argument(cursor: Cursor, parse: Parse) -> Expression:
    start = cursor.span
    if cursor.accept_symbol("*"):
        return Star(None, start)
    if cursor.is_name() and cursor.symbol(1) == "." and cursor.symbol(2) == "*":
        variable = cursor.next().identifier
        cursor.read(2)
        return Star(variable, cursor.since(start))
    return _argument(cursor, parse)


def _arguments(cursor: Cursor, parse: Parse, word: str) -> tuple[Expression, ...]:
    cursor.expect_symbol("(")
    if cursor.accept_symbol(")"):
        return ()
    if cursor.at_words("DISTINCT") and cursor.is_name(1):
        raise UnsupportedError("DISTINCT stands in aggregates only.", cure=_known(), span=cursor.span)
    arguments = [_argument(cursor, parse, word)]
    while cursor.accept_symbol(","):
        arguments.append(_argument(cursor, parse, word))
    cursor.expect_symbol(")", "an operator, `,` or `)`")
    _refuse_null_handling(cursor)
    return tuple(arguments)


def _argument(cursor: Cursor, parse: Parse, word: str = "") -> Expression:
    """An argument: an expression, `name => value`, or a lambda."""
    start = cursor.span
    if cursor.is_name() and cursor.symbol(1) == "=>":
        name = cursor.next().text
        cursor.next()
        value = parse(cursor, Level.OR)
        return raw(cursor.since(start), f"{name} => ", value)
    parameters = _lambda_parameters(cursor)
    if parameters is not None:
        return _lambda(cursor, parse, parameters, start)
    value = parse(cursor, Level.OR)
    if word == "STRUCT" and cursor.accept("AS"):
        name = cursor.expect_name("the name of a field").text
        return raw(cursor.since(start), *wrapped(value), f" AS {name}")
    return value


def _lambda_parameters(cursor: Cursor) -> frozenset[str] | None:
    """The parameters before `->`, in upper case; None if no lambda comes next."""
    if cursor.is_name() and cursor.symbol(1) == "->":
        return frozenset({cursor.next().identifier.text.upper()})
    if cursor.symbol() != "(" or not cursor.is_name(1):
        return None
    ahead = 2
    while cursor.symbol(ahead) == "," and cursor.is_name(ahead + 1):
        ahead += 2
    if cursor.symbol(ahead) != ")" or cursor.symbol(ahead + 1) != "->":
        return None
    tokens = [cursor.next() for _ in range(ahead + 1)]
    return frozenset(token.identifier.text.upper() for token in tokens if token.is_name)


def _lambda(cursor: Cursor, parse: Parse, parameters: frozenset[str], start: Span) -> Raw:
    """A lambda is text, but for the values of rows in it: no part of its body means anything outside of it."""
    cursor.expect_symbol("->")
    outer = cursor.lambda_parameters
    cursor.lambda_parameters = outer | parameters
    body = parse(cursor, Level.OR)
    cursor.lambda_parameters = outer
    span = cursor.since(start)
    pieces: list[str | Expression] = []
    at = span.start
    for value in _row_values(body):
        if value.span is not None and value.span.start >= at:
            pieces += [cursor.quote(Span(at, value.span.start)), value]
            at = value.span.end
    return raw(span, *pieces, cursor.quote(Span(at, span.end)))


def _row_values(expression: Expression) -> list[Expression]:
    """The outermost parts that speak of rows or parameters, in the order of the text."""
    found: list[Expression] = []
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, (Name, Navigation, Aggregate, Classifier, MatchNumber, Parameter)):
            found.append(node)
        else:
            pending.extend(children(node))
    return sorted(found, key=lambda node: node.span.start if node.span else 0)


def _refuse_null_handling(cursor: Cursor) -> None:
    if cursor.keyword() in ("IGNORE", "RESPECT") and cursor.at_words("NULLS", ahead=1):
        raise UnsupportedError(f"{cursor.keyword()} NULLS is not supported.", span=cursor.span)


def _refuse_window(cursor: Cursor, start: Span) -> None:
    if cursor.at_words("OVER") and (cursor.symbol(1) == "(" or cursor.is_name(1)):
        raise UnsupportedError(
            "Window functions cannot stand inside MATCH_RECOGNIZE.",
            cure="Compute the value in a subquery, and match its result.",
            span=start.to(cursor.span),
        )
