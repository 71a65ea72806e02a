"""The clause between the brackets of MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from trellis.algebra.expression import Expression
from trellis.algebra.pattern import Pattern, flatten
from trellis.algebra.query import (
    Definition,
    Measure,
    Query,
    RowsPerMatch,
    Skip,
    SkipTo,
    SortKey,
    Subset,
    VariableKind,
    Wanted,
)
from trellis.algebra.validation import check_query
from trellis.errors import QuerySyntaxError, Span, UnsupportedError
from trellis.languages.cursor import Cursor, cursor_over
from trellis.languages.expressions import parse_expression
from trellis.languages.lexer import Token, attach_text
from trellis.languages.pattern_text import parse_pattern

__all__ = [
    "parse_after_match",
    "parse_clause",
    "parse_clause_text",
    "parse_partition_keys",
    "parse_rows_per_match",
    "parse_sort_keys",
    "parse_timeouts",
    "parse_variables",
]

T = TypeVar("T")

# The parts of the clause in the order of the standard; WITHIN is where Flink and others have it.
_PARTS = (
    "PARTITION BY",
    "ORDER BY",
    "MEASURES",
    "ROWS PER MATCH",
    "AFTER MATCH",
    "PATTERN",
    "WITHIN",
    "SUBSET",
    "DEFINE",
)
_NAMED = "A measure has a name: `last(A.price) AS top`."
_SKIPS = "Write SKIP PAST LAST ROW, SKIP TO NEXT ROW, SKIP TO FIRST A, SKIP TO LAST A or SKIP TO A."
_DEFINED = "A definition is a variable, AS and its condition: `UP AS price > prev(price)`."
_ORDER = f"The parts stand in this order: {', '.join(_PARTS)}."


@dataclass(slots=True)
class _Parts:
    """What has been read of a clause so far."""

    pattern: Pattern | None = None
    definitions: tuple[Definition, ...] = ()
    measures: tuple[Measure, ...] = ()
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    rows_per_match: RowsPerMatch = RowsPerMatch.ONE
    rows_span: Span | None = None
    timeouts: bool = False
    after_match: Skip | None = None
    subsets: tuple[Subset, ...] = ()
    within: Expression | None = None


def parse_clause(cursor: Cursor) -> Query:
    """Read the body of a MATCH_RECOGNIZE clause, up to the last token, and check it."""
    parts = _Parts()
    done = -1
    while (part := _part_ahead(cursor)) is not None:
        number = _PARTS.index(part)
        if number <= done:
            problem = f"{part} stands twice." if number == done else f"{part} cannot stand after {_PARTS[done]}."
            raise QuerySyntaxError(problem, cure=_ORDER, span=cursor.span)
        done = number
        _parse_part(cursor, part, parts)
    if not cursor.at_end:
        _refuse_missing_sign(cursor, done)
        rest = _PARTS[done + 1 :]
        cursor.fail(f"{', '.join(rest)} or `)`" if rest else "`,` or `)`", cure=_ORDER)
    if parts.pattern is None:
        cursor.fail("PATTERN", cure="A clause needs a pattern: `PATTERN (A B+)`.")
    query = Query(
        pattern=parts.pattern,
        definitions=parts.definitions,
        measures=parts.measures,
        partition_by=parts.partition_by,
        order_by=parts.order_by,
        rows_per_match=parts.rows_per_match,
        subsets=parts.subsets,
        after_match=parts.after_match or Skip(),
        within=parts.within,
        rows_span=parts.rows_span,
        timeouts=parts.timeouts,
    )
    # Only the definitions, which come last, tell what the brackets of the pattern mean.
    if query.kind is VariableKind.ROW:
        query = replace(query, pattern=flatten(query.pattern))
    elif parts.after_match is None:
        query = replace(query, wanted=Wanted.ALL)
    check_query(query)
    return query


def _refuse_missing_sign(cursor: Cursor, done: int) -> None:
    """Say which sign is missing: a comma before the next definition or measure, or the bracket of a pattern."""
    if cursor.at_words("PATTERN"):
        cursor.next()
        cursor.fail("`(`", cure="A pattern stands in brackets: `PATTERN (A B+)`.")
    for part, what, example in (
        ("DEFINE", "definitions", "DEFINE A AS x > 1, B AS x > 2"),
        ("MEASURES", "measures", "MEASURES first(x) AS a, last(x) AS b"),
    ):
        named = cursor.is_name() and (cursor.at_words("AS", ahead=1) or part == "MEASURES" or _at_segment(cursor))
        if done >= 0 and _PARTS[done] == part and named:
            cursor.fail("`,`", cure=f"A comma stands between two {what}: {example}.")


def parse_clause_text(text: str) -> Query:
    """The query that the body of a MATCH_RECOGNIZE clause says.

    Examples
    --------
    >>> query = parse_clause_text("ORDER BY ts PATTERN (A UP+) DEFINE UP AS price > PREV(price)")
    >>> str(query.pattern)
    'A UP+'
    """
    with attach_text(text):
        return parse_clause(cursor_over(text))


def _part_ahead(cursor: Cursor) -> str | None:
    """The part of the clause that starts here, None if none does.

    More than the first word is looked at, because `define`, `pattern` and the like can be names of measures.
    """
    match cursor.keyword():
        case ("PARTITION" | "ORDER") as word if cursor.at_words("BY", ahead=1):
            return f"{word} BY"
        case "MEASURES" if cursor.peek(1) is not None and cursor.symbol(1) not in (",", ")"):
            return "MEASURES"
        case "ONE" if cursor.at_words("ROW", ahead=1):
            return "ROWS PER MATCH"
        case "ALL" if cursor.at_words("ROWS", ahead=1):
            return "ROWS PER MATCH"
        case "AFTER" if cursor.at_words("MATCH", ahead=1):
            return "AFTER MATCH"
        case "PATTERN" if cursor.symbol(1) == "(":
            return "PATTERN"
        case "INITIAL" | "SEEK" if cursor.at_words("PATTERN", ahead=1):
            return "PATTERN"
        case "WITHIN" if cursor.peek(1) is not None and cursor.symbol(1) not in (",", ")"):
            return "WITHIN"
        case "SUBSET" if cursor.is_name(1) and cursor.symbol(2) == "=":
            return "SUBSET"
        case "DEFINE" if (cursor.is_name(1) and cursor.at_words("AS", ahead=2)) or _at_segment(cursor, ahead=1):
            return "DEFINE"
        case "DEFINE" if cursor.is_name(1) and cursor.symbol(2) in ("=", ":"):
            return "DEFINE"  # meant as one: no expression looks like that
    return None


def _at_segment(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether the definition of a segment stands further on. SEGMENT and SEG can be names of variables too."""
    named = cursor.is_name(ahead + 1) and cursor.at_words("AS", ahead=ahead + 2)
    return named and cursor.keyword(ahead) in ("SEGMENT", "SEG")


def _parse_part(cursor: Cursor, part: str, parts: _Parts) -> None:
    match part:
        case "PARTITION BY":
            cursor.read(2)
            parts.partition_by = parse_partition_keys(cursor)
        case "ORDER BY":
            cursor.read(2)
            parts.order_by = parse_sort_keys(cursor)
        case "MEASURES":
            cursor.next()
            parts.measures = _elements(cursor, "a measure", _measure)
        case "ROWS PER MATCH":
            start = cursor.span
            parts.rows_per_match, parts.timeouts = parse_rows_per_match(cursor), parse_timeouts(cursor)
            parts.rows_span = cursor.since(start)
        case "AFTER MATCH":
            cursor.read(2)
            parts.after_match = parse_after_match(cursor)
        case "PATTERN":
            parts.pattern = _pattern(cursor)
        case "WITHIN":
            cursor.next()
            parts.within = parse_expression(cursor)
        case "SUBSET":
            cursor.next()
            parts.subsets = _elements(cursor, "a subset", _subset)
        case "DEFINE":
            cursor.next()
            parts.definitions = _elements(cursor, "a definition", _definition)


def _elements(cursor: Cursor, what: str, parse: Callable[[Cursor], T]) -> tuple[T, ...]:
    """A list with commas. Where an element is missing, the next part of the clause stands instead."""
    elements: list[T] = []
    while not elements or cursor.accept_symbol(","):
        # A column can be called `measures` or `within`; the other parts start with more than one word.
        if cursor.at_end or _part_ahead(cursor) not in (None, "MEASURES", "WITHIN"):
            cursor.fail(what)
        elements.append(parse(cursor))
    return tuple(elements)


def parse_partition_keys(cursor: Cursor) -> tuple[Expression, ...]:
    """Read the keys of PARTITION BY, without these words."""
    return _elements(cursor, "an expression", parse_expression)


def parse_sort_keys(cursor: Cursor) -> tuple[SortKey, ...]:
    """Read the keys of ORDER BY, without these words."""
    return _elements(cursor, "an expression", _sort_key)


def _sort_key(cursor: Cursor) -> SortKey:
    expression = parse_expression(cursor)
    descending = cursor.accept("DESC")
    if not descending:
        cursor.accept("ASC")
    nulls_first = not descending
    if cursor.accept("NULLS"):
        nulls_first = cursor.accept("FIRST")
        if not nulls_first and not cursor.accept("LAST"):
            cursor.fail("FIRST or LAST")
    return SortKey(expression, descending, nulls_first)


def _measure(cursor: Cursor) -> Measure:
    expression = parse_expression(cursor)
    if not cursor.accept("AS") and _part_ahead(cursor) is not None:
        cursor.fail("AS and the name of the measure", cure=_NAMED)
    if not cursor.is_name():
        cursor.fail("an operator, or AS and the name of the measure", cure=_NAMED)
    name = cursor.next()
    return Measure(name.identifier.text, expression, name.span)


def parse_rows_per_match(cursor: Cursor) -> RowsPerMatch:
    """Read ONE ROW PER MATCH or ALL ROWS PER MATCH with what may follow it."""
    if cursor.accept("ONE"):
        cursor.expect("ROW", "PER", "MATCH")
        return RowsPerMatch.ONE
    cursor.expect("ALL", "ROWS", "PER", "MATCH")
    if cursor.at_words("SHOW") and not cursor.at_words("TIMEOUT", ahead=1):
        cursor.next()
        cursor.expect("EMPTY", "MATCHES")
        return RowsPerMatch.ALL
    if cursor.accept("OMIT"):
        cursor.expect("EMPTY", "MATCHES")
        return RowsPerMatch.ALL_OMIT_EMPTY
    if cursor.accept("WITH"):
        cursor.expect("UNMATCHED", "ROWS")
        return RowsPerMatch.ALL_WITH_UNMATCHED
    return RowsPerMatch.ALL


def parse_timeouts(cursor: Cursor) -> bool:
    """Read SHOW TIMEOUT MATCHES, if that stands here."""
    asked = cursor.accept("SHOW")
    if asked:
        cursor.expect("TIMEOUT", "MATCHES")
    return asked


def parse_after_match(cursor: Cursor) -> Skip:
    """Read what follows AFTER MATCH: `SKIP PAST LAST ROW`, `SKIP TO NEXT ROW`, `SKIP TO FIRST A`, ..."""
    start = cursor.span
    cursor.expect("SKIP")
    if cursor.accept("PAST"):
        cursor.expect("LAST", "ROW")
        return Skip(span=cursor.since(start))
    if not cursor.accept("TO"):
        cursor.fail("PAST LAST ROW, TO NEXT ROW, or TO and a variable", cure=_SKIPS)
    if cursor.accept("NEXT", "ROW"):
        return Skip(SkipTo.NEXT_ROW, span=cursor.since(start))
    to = SkipTo.LAST
    # A variable may be called first or last: then no name follows that belongs here.
    if cursor.keyword() in ("FIRST", "LAST") and cursor.is_name(1) and not _part_follows(cursor):
        to = SkipTo[cursor.next().keyword]
    if not cursor.is_name() or (cursor.at_words("PATTERN") and cursor.symbol(1) == "("):
        cursor.fail("NEXT ROW, FIRST, LAST or a variable", cure=_SKIPS)
    variable = cursor.next()
    return Skip(to, variable.variable, variable.span)


def _part_follows(cursor: Cursor) -> bool:
    word = cursor.keyword(1)
    return (word == "PATTERN" and cursor.symbol(2) == "(") or (
        word in ("INITIAL", "SEEK") and cursor.at_words("PATTERN", ahead=2)
    )


def _pattern(cursor: Cursor) -> Pattern:
    if cursor.at_words("INITIAL") or cursor.at_words("SEEK"):
        raise UnsupportedError(
            f"{cursor.keyword()} belongs to patterns of windows, not to MATCH_RECOGNIZE.",
            cure="Leave it out; `PATTERN (^ A)` asks for a match at the first row of a series.",
            span=cursor.span,
        )
    cursor.expect("PATTERN")
    cursor.expect_symbol("(")
    pattern = parse_pattern(cursor)
    cursor.expect_symbol(")", "a variable, a quantifier, `&`, `|` or `)`")
    return pattern


def _subset(cursor: Cursor) -> Subset:
    start = cursor.span
    name = cursor.expect_name("the name of a subset")
    cursor.expect_symbol("=")
    cursor.expect_symbol("(")
    variables = parse_variables(cursor)
    cursor.expect_symbol(")", "`,` or `)`")
    return Subset(name.variable, tuple(token.variable for token in variables), cursor.since(start))


def parse_variables(cursor: Cursor) -> tuple[Token, ...]:
    """Read a list of variables: `A, B`."""
    tokens = [cursor.expect_name("a variable")]
    while cursor.accept_symbol(","):
        tokens.append(cursor.expect_name("a variable"))
    return tuple(tokens)


def _definition(cursor: Cursor) -> Definition:
    kind = VariableKind.SEGMENT if _at_segment(cursor) else VariableKind.ROW
    if kind is VariableKind.SEGMENT:
        cursor.next()
    variable = cursor.expect_name("a variable")
    if not cursor.accept("AS"):
        cursor.fail("AS", cure=_DEFINED)
    return Definition(variable.variable, parse_expression(cursor), variable.span, kind)
