"""Scalar expressions: text in, `Expression` out.

Operators are read by climbing the levels of `precedence`; names, constants, CASE and brackets here, calls in
`calls`.
"""

from __future__ import annotations

from trellis.algebra.expression import Call, Case, Expression, Literal, Name, Operator, Parameter, Raw, children, walk
from trellis.errors import QuerySyntaxError, Span, UnsupportedError
from trellis.languages.calls import parse_call
from trellis.languages.cursor import MAX_DEPTH, Cursor, cursor_over
from trellis.languages.elements import accept_arrow, at_edge_column, parse_duration, parse_edge_column
from trellis.languages.lexer import TokenKind, attach_text
from trellis.languages.literals import parse_literal, parse_type
from trellis.languages.members import at_member, parse_member, parse_percentage
from trellis.languages.precedence import BINARY, LIKE_WORDS, Level, raw, wrapped
from trellis.languages.subqueries import at_subquery, continues_query, quote_group

__all__ = ["parse_conjunct", "parse_expression", "parse_expression_text"]

# Words that end an expression or stand between two of them. As columns they need backticks.
_RESERVED = frozenset({
    "AND", "AS", "BETWEEN", "ELSE", "FROM", "GROUP", "HAVING", "ILIKE", "IN", "IS", "JOIN", "LIKE", "OR", "RLIKE",
    "SELECT", "THEN", "UNION", "WHEN", "WHERE",
})  # fmt: skip
# Spark reads these as functions, with or without brackets.
_BARE_FUNCTIONS = frozenset(
    ["CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_USER", "LOCALTIMESTAMP", "SESSION_USER"]
)
# `CASE x WHEN v` is rewritten to `x = v`, which repeats x: only a small one, else nesting would explode.
_REPEATABLE = 30


def parse_expression(cursor: Cursor) -> Expression:
    """Read one expression."""
    start = cursor.span
    expression = _parse(cursor, Level.OR)
    _check_depth(expression, cursor.since(start))
    return expression


def parse_conjunct(cursor: Cursor) -> Expression:
    """Read one expression, as far as AND or OR."""
    start = cursor.span
    expression = _parse(cursor, Level.NOT)
    _check_depth(expression, cursor.since(start))
    return expression


def parse_expression_text(text: str) -> Expression:
    """The expression that a text holds, and nothing else.

    Examples
    --------
    >>> str(parse_expression_text("price < 0.9 * PREV(price)"))
    'price < (0.9 * PREV(price))'
    """
    with attach_text(text):
        cursor = cursor_over(text)
        expression = parse_expression(cursor)
        cursor.expect_end("an operator or the end of the expression")
        return expression


def _parse(cursor: Cursor, least: Level) -> Expression:
    """An expression of operators that bind at least as strongly as `least`."""
    cursor.enter()
    start = cursor.span
    # What NOT or a predicate made can only be joined by AND and OR: Spark refuses `a IS NULL = TRUE`.
    strongest = Level.AND if cursor.at_words("NOT") or cursor.symbol() == "!" else Level.UNARY
    left = _operand(cursor, least)
    while True:
        level, symbol = _operator(cursor)
        if not least <= level <= strongest or level is Level.NONE:
            break
        if level is Level.PREDICATE:
            left = _predicate(cursor, left, start)
            strongest = Level.AND
            continue
        text = cursor.next().text
        right = _parse(cursor, Level(level + 1))
        span = cursor.since(start)
        if symbol is None:
            left = raw(span, "(", *wrapped(left), f" {text} ", *wrapped(right), ")")
        elif level <= Level.AND:
            left = Operator(symbol, (*_operands(left, symbol), *_operands(right, symbol)), span)
        else:
            left = Operator(symbol, (left, right), span)
    cursor.leave()
    return left


def _operator(cursor: Cursor) -> tuple[Level, str | None]:
    word = cursor.keyword()
    if word in LIKE_WORDS or word in ("IS", "IN", "BETWEEN"):
        return Level.PREDICATE, None
    if word == "NOT" and (cursor.keyword(1) in LIKE_WORDS or cursor.keyword(1) in ("IN", "BETWEEN")):
        return Level.PREDICATE, None
    return BINARY.get(word or cursor.symbol(), (Level.NONE, None))


def _operands(expression: Expression, symbol: str) -> tuple[Expression, ...]:
    """The operands of a chain of AND or OR, which is kept flat."""
    if isinstance(expression, Operator) and expression.symbol == symbol:
        return expression.operands
    return (expression,)


def _predicate(cursor: Cursor, left: Expression, start: Span) -> Expression:
    negated = cursor.accept("NOT")
    word = cursor.next().keyword
    result: Expression
    if word == "IS":
        return _is(cursor, left, start)
    if word == "BETWEEN":
        low = _parse(cursor, Level.COMPARISON)
        cursor.expect("AND")
        high = _parse(cursor, Level.COMPARISON)
        result = Operator("BETWEEN", (left, low, high), cursor.since(start))
    elif word == "IN":
        result = _in(cursor, left, start)
    elif cursor.keyword() in ("ANY", "SOME", "ALL") and cursor.symbol(1) == "(":
        # NOT LIKE ANY is not NOT (LIKE ANY): the word stays inside.
        head = f" {'NOT ' if negated else ''}{word} {cursor.next().keyword} "
        return raw(cursor.since(start), "(", *wrapped(left), head, *_list(cursor), ")")
    else:
        right = _parse(cursor, Level.COMPARISON)
        escape: tuple[str, ...] = ()
        if cursor.accept("ESCAPE"):
            if cursor.kind() is not TokenKind.STRING:
                cursor.fail("the escape character as a string")
            escape = (" ESCAPE ", cursor.next().text)
        result = raw(cursor.since(start), "(", *wrapped(left), f" {word} ", *wrapped(right), *escape, ")")
    return Operator("NOT", (result,), cursor.since(start)) if negated else result


def _is(cursor: Cursor, left: Expression, start: Span) -> Expression:
    negated = cursor.accept("NOT")
    if cursor.accept("DISTINCT", "FROM"):
        right = _parse(cursor, Level.COMPARISON)
        same = Operator("<=>", (left, right), cursor.since(start))
        return same if negated else Operator("NOT", (same,), cursor.since(start))
    word = cursor.keyword()
    if word not in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
        cursor.fail("NULL, TRUE, FALSE or DISTINCT FROM")
    cursor.next()
    symbol = f"IS {'NOT ' if negated else ''}{'NULL' if word == 'UNKNOWN' else word}"
    return Operator(symbol, (left,), cursor.since(start))


def _in(cursor: Cursor, left: Expression, start: Span) -> Expression:
    if at_subquery(cursor):
        text = quote_group(cursor)
        return raw(cursor.since(start), "(", *wrapped(left), f" IN {text})")
    pieces = [piece for piece in _list(cursor) if not isinstance(piece, str)]
    return Operator("IN", (left, *pieces), cursor.since(start))


def _list(cursor: Cursor) -> tuple[str | Expression, ...]:
    """A bracketed list of at least one expression, as the pieces of a text."""
    cursor.expect_symbol("(")
    pieces: list[str | Expression] = ["(", _parse(cursor, Level.OR)]
    while cursor.accept_symbol(","):
        pieces += [", ", _parse(cursor, Level.OR)]
    cursor.expect_symbol(")", "`,` or `)`")
    return (*pieces, ")")


def _operand(cursor: Cursor, least: Level) -> Expression:
    """An operand with the signs before it and the suffixes after it."""
    start = cursor.span
    symbol = cursor.symbol()
    if cursor.at_words("NOT") or symbol == "!":
        if least > Level.NOT:
            cursor.fail("a value", cure="Put brackets around NOT: `a = (NOT b)`.")
        cursor.next()
        return Operator("NOT", (_parse(cursor, Level.NOT),), cursor.since(start))
    if symbol in ("-", "+", "~"):
        cursor.next()
        operand = _parse(cursor, Level.UNARY)
        span = cursor.since(start)
        if symbol == "-":
            return Operator("NEG", (operand,), span)
        if symbol == "+" and isinstance(operand, Literal):
            return operand
        return raw(span, f"({symbol} ", *wrapped(operand), ")")
    expression = _primary(cursor)
    while True:
        if cursor.accept_symbol("::"):
            expression = raw(cursor.since(start), "CAST(", expression, f" AS {parse_type(cursor)})")
        elif cursor.accept_symbol("["):
            index = _parse(cursor, Level.OR)
            cursor.expect_symbol("]")
            expression = raw(cursor.since(start), *wrapped(expression), "[", index, "]")
        elif at_edge_column(cursor, expression):
            expression = parse_edge_column(cursor, expression, start)
        elif cursor.accept_symbol("."):
            field = cursor.expect_name("the name of a field").text
            expression = raw(cursor.since(start), *wrapped(expression), f".{field}")
        elif cursor.at_words("COLLATE"):
            cursor.next()
            collation = _dotted(cursor, "a collation")
            expression = raw(cursor.since(start), "(", *wrapped(expression), f" COLLATE {collation})")
        else:
            return expression


def _dotted(cursor: Cursor, what: str) -> str:
    text = cursor.expect_name(what).text
    while cursor.symbol() == "." and cursor.is_name(1):
        text += cursor.next().text + cursor.next().text
    return text


def _primary(cursor: Cursor) -> Expression:
    literal = parse_percentage(cursor) or parse_duration(cursor) or parse_literal(cursor)
    if literal is not None:
        return literal
    start = cursor.span
    match cursor.symbol():
        case "(":
            return _group(cursor)
        case ":":
            return Parameter(cursor.expect_parameter().text, cursor.since(start))
        case "?":
            raise UnsupportedError(
                "Parameters without a name are not supported.", cure="Name them: `:threshold`.", span=start
            )
        case "{":
            cursor.fail("an expression", cure="A placeholder such as `{t}` stands for a table, after FROM.")
        case "*":
            cursor.fail("an expression", cure="`*` stands in COUNT(*) only.")
    if cursor.at_words("CASE"):
        return _case(cursor)
    # like(a, b) is a function too.
    reserved = cursor.keyword() in _RESERVED and not (cursor.keyword() in LIKE_WORDS and cursor.symbol(1) == "(")
    if reserved or not cursor.is_name():
        cursor.fail("an expression")
    return _name_or_call(cursor, start)


def _name_or_call(cursor: Cursor, start: Span) -> Expression:
    if at_member(cursor):
        return parse_member(cursor)
    call = parse_call(cursor, _parse)
    if call is not None:
        return call
    word = cursor.keyword()
    tokens = [cursor.next()]
    while cursor.accept_symbol(".") or accept_arrow(cursor, tokens):
        if cursor.symbol() == "*":
            cursor.fail("a column", cure=cursor.words.star)
        tokens.append(cursor.expect_name("a name after the point"))
    span = cursor.since(start)
    if word in cursor.lambda_parameters:
        return Raw((".".join(token.text for token in tokens),), span)
    if word in _BARE_FUNCTIONS and len(tokens) == 1:
        return Call(word.lower(), (), span)
    return Name(tuple(token.identifier for token in tokens), span)


def _group(cursor: Cursor) -> Expression:
    """Something in brackets: a subquery, an expression, or a tuple."""
    start = cursor.span
    if at_subquery(cursor):
        return Raw((quote_group(cursor),), cursor.since(start))
    opening = cursor.position
    end = cursor.group_end()
    cursor.next()
    inner = _parse(cursor, Level.OR)
    if continues_query(cursor) and isinstance(inner, Raw) and all(isinstance(part, str) for part in inner.parts):
        cursor.read(opening + end + 1 - cursor.position)
        span = cursor.since(start)
        return Raw((cursor.quote(span),), span)
    pieces: list[str | Expression] = ["(", inner]
    while cursor.accept_symbol(","):
        pieces += [", ", _parse(cursor, Level.OR)]
    cursor.expect_symbol(")", "an operator, `,` or `)`")
    return inner if len(pieces) == 2 else raw(cursor.since(start), *pieces, ")")


def _case(cursor: Cursor) -> Expression:
    start = cursor.span
    cursor.expect("CASE")
    subject = None if cursor.at_words("WHEN") else _parse(cursor, Level.OR)
    branches = []
    while cursor.accept("WHEN"):
        condition = _parse(cursor, Level.OR)
        cursor.expect("THEN")
        branches.append((condition, _parse(cursor, Level.OR)))
    if not branches:
        cursor.fail("WHEN")
    otherwise = _parse(cursor, Level.OR) if cursor.accept("ELSE") else None
    if not cursor.accept("END"):
        cursor.fail("WHEN, ELSE or END")
    span = cursor.since(start)
    if subject is None:
        return Case(tuple(branches), otherwise, span)
    if sum(1 for _ in walk(subject)) <= _REPEATABLE:
        compared = tuple((Operator("=", (subject, value), value.span), result) for value, result in branches)
        return Case(compared, otherwise, span)
    pieces: list[str | Expression] = ["CASE ", subject]
    for value, result in branches:
        pieces += [" WHEN ", value, " THEN ", result]
    if otherwise is not None:
        pieces += [" ELSE ", otherwise]
    return raw(span, *pieces, " END")


def _check_depth(expression: Expression, span: Span) -> None:
    """Refuse trees that recursive functions could not walk: brackets are counted as they open, chains are not."""
    level: list[Expression] = [expression]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return
    raise QuerySyntaxError(
        f"The expression is nested too deeply: more than {MAX_DEPTH} levels.",
        cure="Put brackets around parts of a long chain of operators, or compute a part of it in a subquery.",
        span=span,
    )
