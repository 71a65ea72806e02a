"""Calls: functions of Spark, navigation and aggregates of row patterns, and the calls with a syntax of their own."""

from __future__ import annotations

from trellis.algebra.expression import (
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
from trellis.algebra.functions import AGGREGATES
from trellis.errors import QuerySyntaxError, Span, UnsupportedError
from trellis.languages.cursor import Cursor
from trellis.languages.elements import accept_star
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
    elif word == "CLASSIFIER":
        call = _classifier(cursor, start)
    elif word == "MATCH_NUMBER":
        cursor.expect_symbol("(")
        cursor.expect_symbol(")")
        call = MatchNumber(cursor.since(start))
    elif word == "EXISTS" and at_subquery(cursor):
        call = Raw((f"EXISTS {quote_group(cursor)}",), cursor.since(start))
    elif word.lower() in AGGREGATES:
        call = _function(cursor, parse, word, word.lower(), final, start)
    else:
        plain = names[0].kind is TokenKind.WORD
        special = parse_special_form(cursor, parse, word, start) if plain and word else None
        name = ".".join(token.text.lower() if token.kind is TokenKind.WORD else token.text for token in names)
        call = special or _function(cursor, parse, word, name, final, start)
    if final is not None and not isinstance(call, (Navigation, Aggregate)):
        raise _misplaced_mode(final, names[-1].text, start)
    _refuse_window(cursor, start)
    return call


def _mode(cursor: Cursor) -> bool | None:
    """Read RUNNING or FINAL where a call follows; elsewhere they are names of columns."""
    if cursor.keyword() not in ("RUNNING", "FINAL") or not cursor.is_name(1):
        return None
    if cursor.keyword(1) in ("IN", "AND", "OR", "LIKE", "NOT", "BETWEEN"):
        return None
    ahead = 2
    while cursor.symbol(ahead) == "." and cursor.is_name(ahead + 1):
        ahead += 2
    if cursor.symbol(ahead) != "(":
        return None
    mode = cursor.next()
    if cursor.keyword() in ("PREV", "NEXT"):
        raise _misplaced_mode(mode.keyword == "FINAL", cursor.keyword(), mode.span)
    return mode.keyword == "FINAL"


def _misplaced_mode(final: bool, word: str, span: Span) -> QuerySyntaxError:
    mode = "FINAL" if final else "RUNNING"
    return QuerySyntaxError(
        f"{mode} cannot stand before {word}.",
        cure=f"{mode} stands before FIRST, LAST and aggregates.",
        span=span,
    )


def _navigation(cursor: Cursor, parse: Parse, function: str, final: bool | None, start: Span) -> Navigation:
    cursor.expect_symbol("(")
    if cursor.symbol() == ")":
        cursor.fail(f"the argument of {function}")
    if accept_star(cursor):
        final = True
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


def _function(cursor: Cursor, parse: Parse, word: str, name: str, final: bool | None, start: Span) -> Expression:
    """A function of Spark. What only an aggregate can have makes it one; of other calls Spark is asked later."""
    known = name in AGGREGATES
    cursor.expect_symbol("(")
    distinct, marked = _quantifier(cursor)
    arguments: list[Expression] = []
    if cursor.symbol() != ")" or (known and not cursor.at_words("WITHIN", "GROUP", ahead=1)):
        while not arguments or cursor.accept_symbol(","):
            if accept_star(cursor):
                final = True
            arguments.append(_aggregate_argument(cursor, parse) if known else _argument(cursor, parse, word))
    nulls = _null_handling(cursor)
    cursor.expect_symbol(")", "an operator, `,` or `)`")
    order = _order(cursor, parse) if cursor.at_words("WITHIN", "GROUP") else ()
    condition = None
    if cursor.at_words("FILTER") and cursor.symbol(1) == "(":
        cursor.read(2)
        cursor.expect("WHERE")
        condition = parse(cursor, Level.OR)
        cursor.expect_symbol(")", "an operator or `)`")
    nulls = _null_handling(cursor) or nulls
    if known or marked or order or nulls or condition is not None or final is not None:
        return Aggregate(name, tuple(arguments), distinct, condition, final, order, nulls, span=cursor.since(start))
    return Call(name, tuple(arguments), cursor.since(start))


def _quantifier(cursor: Cursor) -> tuple[bool, bool]:
    """Read DISTINCT or ALL: whether DISTINCT stands there, and whether one of them does."""
    if cursor.at_words("DISTINCT") and cursor.symbol(1) not in (")", ","):
        cursor.next()
        return True, True
    if cursor.at_words("ALL") and (cursor.is_name(1) or cursor.symbol(1) == "*"):
        cursor.next()
        return False, True
    return False, False


def _order(cursor: Cursor, parse: Parse) -> tuple[tuple[Expression, str], ...]:
    """`WITHIN GROUP (ORDER BY key [ASC | DESC] [NULLS FIRST | LAST], ...)`."""
    cursor.expect("WITHIN", "GROUP")
    cursor.expect_symbol("(")
    cursor.expect("ORDER", "BY")
    keys: list[tuple[Expression, str]] = []
    while not keys or cursor.accept_symbol(","):
        key = parse(cursor, Level.OR)
        words = f" {cursor.next().keyword}" if cursor.keyword() in ("ASC", "DESC") else ""
        if cursor.accept("NULLS"):
            if cursor.keyword() not in ("FIRST", "LAST"):
                cursor.fail("FIRST or LAST")
            words += f" NULLS {cursor.next().keyword}"
        keys.append((key, words))
    cursor.expect_symbol(")", "an operator, `,` or `)`")
    return tuple(keys)


def _null_handling(cursor: Cursor) -> str:
    if cursor.keyword() in ("IGNORE", "RESPECT") and cursor.at_words("NULLS", ahead=1):
        return f"{cursor.next().keyword} {cursor.next().keyword}"
    return ""


def _aggregate_argument(cursor: Cursor, parse: Parse) -> Expression:
    start = cursor.span
    if cursor.accept_symbol("*"):
        return Star(None, start)
    if cursor.is_name() and cursor.symbol(1) == "." and cursor.symbol(2) == "*":
        variable = cursor.next().identifier
        cursor.read(2)
        return Star(variable, cursor.since(start))
    return _argument(cursor, parse)


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
        raise UnsupportedError(
            f"{cursor.keyword()} NULLS is not supported after FIRST and LAST, which navigate.",
            cure="Write first_value(x) IGNORE NULLS or last_value(x) IGNORE NULLS: they are aggregates.",
            span=cursor.span,
        )


def _refuse_window(cursor: Cursor, start: Span) -> None:
    if cursor.at_words("OVER") and (cursor.symbol(1) == "(" or cursor.is_name(1)):
        raise UnsupportedError(
            f"Window functions cannot stand inside {cursor.words.query}.",
            cure="Compute the value in a subquery, and match its result.",
            span=start.to(cursor.span),
        )
