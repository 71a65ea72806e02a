"""The SQL around MATCH_RECOGNIZE.

Spark parses the statement; here only the skeleton is read that says where a clause stands, what relation it is
applied to, and which common table expressions it can see. Each clause with its relation is replaced by a placeholder
`{trellis_match_0}`, inner ones first, and the rest of the text is left as it was written.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trellis.algebra.expression import Identifier
from trellis.algebra.statement import MatchClause, Statement
from trellis.errors import QuerySyntaxError, Span, UnsupportedError
from trellis.languages.brackets import BRACKETS, match_brackets
from trellis.languages.commands import has_effect, read_view
from trellis.languages.cursor import Cursor
from trellis.languages.edits import Edit, quote
from trellis.languages.lexer import Token, TokenKind, attach_text, tokenize
from trellis.languages.match_recognize import parse_clause
from trellis.languages.sqlts import parse_sequence_query

__all__ = ["find_name", "parse_statement", "require_sequence"]

_MAX_NESTING = 300
_CLAUSE_STARTS = frozenset(["PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "INITIAL", "SEEK", "PATTERN"])
# A relation starts after these words.
_RELATION_STARTS = frozenset({"FROM", "JOIN", "LATERAL"})
# Between these words and the next FROM no relation stands.
_RELATION_STOPS = frozenset({
    "SELECT", "WHERE", "GROUP", "HAVING", "ON", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET",
    "WINDOW", "UNION", "INTERSECT", "EXCEPT", "MINUS", "SET", "USING", "VIEW",
})  # fmt: skip

# What ends a SQL-TS query.
_SEQUENCE_STOPS = frozenset({"SELECT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "HAVING", "LIMIT", "OFFSET", "WINDOW"})

# Words before a bracket at the end of a relation that are no aliases.
_NO_ALIASES = frozenset({"TABLESAMPLE", "PIVOT", "UNPIVOT", "REPEATABLE"})


@dataclass(frozen=True, slots=True)
class _TableExpression:
    """A common table expression: `name AS (...)`."""

    name: Token
    span: Span
    recursive: bool


@dataclass(slots=True)
class _Reading:
    """The statement, and what has been found in it so far."""

    text: str
    tokens: list[Token]
    partners: dict[int, int]
    clauses: list[MatchClause] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)

    def keyword(self, index: int) -> str:
        return self.tokens[index].keyword if 0 <= index < len(self.tokens) else ""

    def symbol(self, index: int) -> str:
        inside = 0 <= index < len(self.tokens) and self.tokens[index].kind is TokenKind.SYMBOL
        return self.tokens[index].text if inside else ""

    def is_name(self, index: int) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].is_name

    def quote(self, span: Span) -> str:
        return quote(self.text, self.edits, span)

    def replace(self, span: Span, replacement: str) -> None:
        """Put a text in the place of a stretch and of the edits inside it."""
        self.edits = [edit for edit in self.edits if not (span.start <= edit.span.start and edit.span.end <= span.end)]
        self.edits.append(Edit(span, replacement))


def parse_statement(text: str) -> Statement:
    """Take the MATCH_RECOGNIZE clauses out of a statement.

    Examples
    --------
    >>> statement = parse_statement("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A+)) AS m")
    >>> statement.final
    'SELECT * FROM {trellis_match_0} AS m'
    >>> statement.clauses[0].input
    't'
    """
    with attach_text(text):
        tokens = tokenize(text)
        end = _strip_semicolons(tokens)
        if not tokens:
            raise QuerySyntaxError("The text is empty.", cure="Write a query.", span=Span(0, 1))
        reading = _Reading(text, tokens, match_brackets(tokens))
        _read_level(reading, 0, len(tokens), (), 0)
        if reading.clauses and (inner := next((token for token in tokens if token.text == ";"), None)):
            raise UnsupportedError(
                "MATCH_RECOGNIZE cannot stand in a script of statements.", cure="Run its query alone.", span=inner.span
            )
        cursor = Cursor(text, tokens)
        view = read_view(cursor) if reading.clauses else None
        start = 0 if view is None else cursor.span.start
        final = quote(text, reading.edits, Span(start, len(text) if end is None else end)).rstrip()
        return Statement(
            text,
            tuple(reading.clauses),
            final if end is not None or reading.clauses else text,
            view,
            view is not None or has_effect(Cursor(text, tokens)),
            tuple(token.text for index, token in enumerate(tokens) if _in_braces(reading, index)),
        )


def require_sequence(statement: Statement) -> None:
    """Refuse a statement without a SQL-TS query."""
    if any(clause.is_sequence for clause in statement.clauses):
        return
    raise QuerySyntaxError(
        "There is no SEQUENCE BY in this query.",
        cure="Write FROM t CLUSTER BY k SEQUENCE BY s AS (X, *Y); trellis.sql runs every other statement.",
        span=Span(0, len(statement.text.split(maxsplit=1)[0])),
    )


def find_name(text: str, name: str) -> Span | None:
    """Where a name first stands outside of braces, None if it does not."""
    tokens = tokenize(text)
    reading = _Reading(text, tokens, {})
    for index, token in enumerate(tokens):
        if token.is_name and token.identifier.text.upper() == name.upper() and not _in_braces(reading, index):
            return token.span
    return None


def _in_braces(reading: _Reading, index: int) -> bool:
    return reading.symbol(index - 1) == "{" and reading.symbol(index + 1) == "}"


def _strip_semicolons(tokens: list[Token]) -> int | None:
    """Drop the semicolons at the end; where the first of them stands."""
    end = None
    while tokens and tokens[-1].text == ";":
        end = tokens.pop().span.start
    for index, token in enumerate(tokens):
        if token.text == ";" and tokens[0].keyword != "BEGIN":
            after = tokens[index + 1]
            raise QuerySyntaxError("A second statement starts here.", cure="Run one at a time.", span=after.span)
    return end


def _read_level(reading: _Reading, start: int, stop: int, visible: tuple[_TableExpression, ...], depth: int) -> None:
    """Read the tokens between two brackets, or the whole statement."""
    if depth > _MAX_NESTING:
        raise QuerySyntaxError(
            f"The text is nested too deeply: more than {_MAX_NESTING} levels.",
            cure="Give an inner query a name: WITH name AS (SELECT ...).",
            span=reading.tokens[start - 1].span,
        )
    index = start
    windows = False
    while index < stop:
        word = reading.keyword(index)
        if index in reading.partners:
            if reading.keyword(index - 1) == "OVER" or (windows and reading.keyword(index - 1) == "AS"):
                _refuse_window_pattern(reading, index)
            _read_level(reading, index + 1, reading.partners[index], visible, depth + 1)
            index = reading.partners[index] + 1
        elif word == "WITH":
            index, visible = _read_with(reading, index, visible, depth)
        elif word == "SELECT" and (end := _sequence_end(reading, index, stop)) is not None:
            _read_level(reading, index + 1, end, visible, depth + 1)
            _read_sequence(reading, index, end, visible)
            index = end
        elif word == "MATCH_RECOGNIZE" and _at_clause(reading, start, index):
            _read_level(reading, index + 2, reading.partners[index + 1], visible, depth + 1)
            _read_clause(reading, start, index, visible)
            index = reading.partners[index + 1] + 1
        else:
            if word == "WINDOW" and reading.is_name(index + 1) and reading.keyword(index + 2) == "AS":
                windows = True
            index += 1


def _read_with(
    reading: _Reading, index: int, visible: tuple[_TableExpression, ...], depth: int
) -> tuple[int, tuple[_TableExpression, ...]]:
    """Read `WITH a AS (...), b AS (...)`; where it ends, and what is visible behind it.

    `WITH` stands elsewhere too (`WITH UNMATCHED ROWS`): then nothing is read but the word.
    """
    index += 1
    recursive = reading.keyword(index) == "RECURSIVE" and reading.is_name(index + 1)
    if recursive:
        index += 1
    while (body := _table_expression_body(reading, index)) is not None:
        close = reading.partners[body]
        _read_level(reading, body + 1, close, visible, depth + 1)
        name = reading.tokens[index]
        visible = (*visible, _TableExpression(name, name.span.to(reading.tokens[close].span), recursive))
        index = close + 1
        if reading.symbol(index) != ",":
            break
        index += 1
    return index, visible


def _table_expression_body(reading: _Reading, index: int) -> int | None:
    """Where the body of the common table expression that starts here opens; None if none starts here."""
    if not reading.is_name(index):
        return None
    index += 1
    if index in reading.partners and reading.keyword(reading.partners[index] + 1) in ("AS", "MAX"):
        index = reading.partners[index] + 1
    if reading.keyword(index) == "MAX" and reading.keyword(index + 1) == "RECURSION":
        index += 4 if reading.keyword(index + 2) == "LEVEL" else 3
    if reading.keyword(index) == "AS":
        index += 1
    if reading.keyword(index) == "NOT" and reading.keyword(index + 1) == "MATERIALIZED":
        index += 1
    if reading.keyword(index) == "MATERIALIZED":
        index += 1
    return index if reading.symbol(index) == "(" else None


def _at_clause(reading: _Reading, start: int, index: int) -> bool:
    """Whether the word MATCH_RECOGNIZE starts a clause here. It may also name a column, an alias or a function."""
    word = reading.tokens[index]
    named = index > start and (reading.keyword(index - 1) == "AS" or reading.symbol(index - 1) == ".")
    if named or reading.symbol(index + 1) == ".":
        return False
    relation = _relation_start(reading, start, index)
    if reading.symbol(index + 1) != "(":
        if relation is not None and index + 1 == len(reading.tokens):
            end = word.span.end
            raise QuerySyntaxError(
                "The text ends here, expected `(` after MATCH_RECOGNIZE.",
                cure="If a column or an alias is meant, put it in backticks.",
                span=Span(end, end + 1),
            )
        return False
    looks_like_clause = reading.keyword(index + 2) in _CLAUSE_STARTS
    if relation is not None and (looks_like_clause or reading.keyword(relation - 1) in _RELATION_STARTS):
        return True
    if looks_like_clause:
        raise QuerySyntaxError(
            "MATCH_RECOGNIZE needs a table or a subquery before it.",
            cure="Write FROM t MATCH_RECOGNIZE (...); put a join in brackets: FROM (SELECT ...) MATCH_RECOGNIZE (...).",
            span=word.span,
        )
    return False


def _relation_start(reading: _Reading, start: int, index: int) -> int | None:
    """Where the relation before a token starts, None if there is none.

    It reaches back to FROM, JOIN, a comma or an opening bracket.
    """
    if reading.symbol(index - 1) and reading.symbol(index - 1) not in BRACKETS.values():
        return None
    closings = {close: opening for opening, close in reading.partners.items() if start <= opening < index}
    at = index - 1
    while at >= start:
        if at in closings:
            at = closings[at] - 1
            continue
        word = reading.keyword(at)
        named = at > start and (reading.symbol(at - 1) == "." or reading.keyword(at - 1) == "AS")
        if not named and word in _RELATION_STOPS:
            return None
        if not named and word in _RELATION_STARTS:
            break
        at -= 1
    if at < start and start == 0:
        return None
    first = _after_commas(reading, at + 1, index)
    return first if first < index else None


def _after_commas(reading: _Reading, start: int, stop: int) -> int:
    """Where the last relation of a list starts. The commas between the rows of VALUES are part of a relation."""
    first = at = start
    aliased = False
    while at < stop:
        in_values = reading.keyword(first) == "VALUES" and not aliased
        if reading.symbol(at) == "," and not in_values:
            first = at + 1
            aliased = False
        elif in_values and at > first + 1 and reading.is_name(at):
            # A row is followed by a comma: a name there is the alias, and the rows are over.
            aliased = reading.symbol(at - 1) != ","
        at = reading.partners[at] + 1 if at in reading.partners else at + 1
    return first


def _read_clause(reading: _Reading, start: int, index: int, visible: tuple[_TableExpression, ...]) -> None:
    """Take a clause with its relation out of the text."""
    first = _relation_start(reading, start, index)
    assert first is not None
    close = reading.partners[index + 1]
    tokens = reading.tokens
    body = Cursor(reading.text, tokens[index + 2 : close], end=tokens[close], edits=reading.edits)
    query = parse_clause(body)
    name = f"trellis_match_{len(reading.clauses)}"
    relation = reading.quote(tokens[first].span.to(tokens[index - 1].span))
    span = tokens[first].span.to(tokens[close].span)
    qualifier = _qualifier(reading, first, index)
    reading.clauses.append(MatchClause(name, relation, query, _with_text(reading, visible), span, qualifier))
    reading.replace(span, f"{{{name}}}")


def _sequence_end(reading: _Reading, start: int, stop: int) -> int | None:
    """Where the SQL-TS query that starts here ends; None if this SELECT speaks of no sequence."""
    found = tables = False
    index = start + 1
    while index < stop:
        word = reading.keyword(index)
        pair = reading.keyword(index + 1) == "BY" and reading.symbol(index - 1) != "."
        if word in _SEQUENCE_STOPS or (word in ("ORDER", "SORT", "DISTRIBUTE", "GROUP") and pair):
            break
        tables = tables or word == "FROM"
        # `AS (` behind a table has no other meaning: what is missing is said where it should stand.
        found = found or (word == "SEQUENCE" and pair) or (tables and word == "AS" and reading.symbol(index + 1) == "(")
        index = reading.partners[index] + 1 if index in reading.partners else index + 1
    if found and reading.keyword(index) in ("GROUP", "HAVING") and index < stop:
        raise UnsupportedError(
            f"{reading.keyword(index)} cannot stand in a SQL-TS query.",
            cure="Put the query in brackets: SELECT ... FROM (SELECT ...) GROUP BY ...",
            span=reading.tokens[index].span,
        )
    return index if found else None


def _read_sequence(reading: _Reading, start: int, end: int, visible: tuple[_TableExpression, ...]) -> None:
    """Take a SQL-TS query out of the text: its matches stand behind a placeholder, and their columns in SELECT."""
    tables = _level_word(reading, "FROM", start + 1, end)
    if tables is None:
        raise QuerySyntaxError(
            "A SQL-TS query needs FROM.",
            cure="Write SELECT X.a FROM t SEQUENCE BY s AS (X, *Y) WHERE ...",
            span=reading.tokens[end - 1].span,
        )
    where = _level_word(reading, "WHERE", tables, end)

    def part(first: int, stop: int) -> Cursor:
        following = reading.tokens[stop] if stop < len(reading.tokens) else None
        return Cursor(reading.text, reading.tokens[first:stop], end=following, edits=reading.edits)

    found = parse_sequence_query(
        part(start + 1, tables),
        part(tables + 1, end if where is None else where),
        None if where is None else part(where + 1, end),
    )
    name = f"trellis_match_{len(reading.clauses)}"
    span = reading.tokens[start].span.to(reading.tokens[end - 1].span)
    reading.clauses.append(
        MatchClause(name, found.input, found.query, _with_text(reading, visible), span, is_sequence=True)
    )
    columns = (f"{Identifier(measure, True)} AS {Identifier(column, True)}" for measure, column in found.columns)
    reading.replace(span, f"SELECT {', '.join(columns)} FROM {{{name}}}")


def _level_word(reading: _Reading, word: str, start: int, stop: int) -> int | None:
    """Where a word stands outside of brackets."""
    index = start
    while index < stop:
        if reading.keyword(index) == word and reading.keyword(index - 1) != "DISTINCT":
            return index
        index = reading.partners[index] + 1 if index in reading.partners else index + 1
    return None


def _qualifier(reading: _Reading, first: int, stop: int) -> tuple[str, ...]:
    """What may stand before a column of the relation: its alias, or else the parts of a table's name."""
    last = stop - 1
    if reading.symbol(last) == ")":
        # An alias may have names of columns behind it: `AS t (a, b)`.
        opening = next(opening for opening, close in reading.partners.items() if close == last)
        last = opening - 1
    is_alias = last > first and reading.is_name(last) and reading.symbol(last - 1) != "."
    if is_alias and reading.keyword(last) not in _NO_ALIASES:
        return (reading.tokens[last].identifier.text,)
    parts: list[str] = []
    at = first
    while reading.is_name(at):
        parts.append(reading.tokens[at].identifier.text)
        if reading.symbol(at + 1) != ".":
            break
        at += 2
    return () if reading.symbol(at + 1) == "(" and at + 1 < stop else tuple(parts)


def _with_text(reading: _Reading, visible: tuple[_TableExpression, ...]) -> str:
    """The common table expressions as one list."""
    if not visible:
        return ""
    seen: set[str] = set()
    for expression in visible:
        name = expression.name.identifier.text.upper()
        if name in seen:
            raise UnsupportedError(
                f"Two table expressions called {expression.name.text} are visible to one MATCH_RECOGNIZE.",
                cure="Give the inner one another name.",
                span=expression.name.span,
            )
        seen.add(name)
    recursive = "RECURSIVE " if any(expression.recursive for expression in visible) else ""
    return f"WITH {recursive}{', '.join(reading.quote(expression.span) for expression in visible)}"


def _refuse_window_pattern(reading: _Reading, opening: int) -> None:
    """Row patterns in windows (feature R020) are not MATCH_RECOGNIZE; say so before Spark says something stranger."""
    index = opening + 1
    while index < reading.partners[opening]:
        before = reading.keyword(index - 1) or reading.symbol(index - 1)
        if (
            reading.keyword(index) == "PATTERN"
            and reading.symbol(index + 1) == "("
            and (before == ")" or (before.isalpha() and before != "BY"))
        ):
            raise UnsupportedError(
                "Row patterns in windows (PATTERN inside OVER or WINDOW) are not supported.",
                cure="Use FROM ... MATCH_RECOGNIZE (...).",
                span=reading.tokens[index].span,
            )
        index = reading.partners[index] + 1 if index in reading.partners else index + 1
