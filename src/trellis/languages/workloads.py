"""Workloads: many event patterns with names, from a dictionary, a list, or one text.

In a text, each pattern has its name and a colon before it, and patterns are separated by semicolons; comments are those
of SQL::

    -- what the desk watches
    rising: PATTERN SEQ(MSFT a, GOOG b) WHERE { a.diff < b.diff } WITHIN 15 minutes;
    either: PATTERN OR(SEQ(A a, B b), AND(C c, D d)) WITHIN 1 hour
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trellis.algebra.query import Query, Selection, Wanted
from trellis.errors import BindingError, QuerySyntaxError, Span, TrellisError, UnsupportedError, WorkloadError
from trellis.languages.lexer import Token, attach_text, tokenize
from trellis.languages.pieces import require_text
from trellis.languages.sase import parse_sase_text

__all__ = ["NamedPattern", "is_workload", "parse_workload", "read_workload"]

_EXAMPLE = "PATTERN SEQ(Order o, Payment p) WITHIN 10"
_FORM = "Write `name: PATTERN ...`, and a semicolon between two patterns."


@dataclass(frozen=True, slots=True)
class NamedPattern:
    """A pattern of a workload: its name, its own text, and the query that this says.

    `whole` is the text that the pattern stands in, from `offset` on.
    """

    name: str
    text: str
    query: Query
    whole: str = field(default="", compare=False, repr=False)
    offset: int = field(default=0, compare=False, repr=False)

    def placed(self, error: TrellisError) -> TrellisError:
        """An error that speaks of `text`, as one that speaks of the text that the user wrote."""
        return _placed(error, self.text, self.whole or self.text, self.offset)


@dataclass(frozen=True, slots=True)
class _Written:
    """A pattern as it stands; its name is None where it has none, and `span` is where the name stands."""

    name: str | None
    text: str
    whole: str
    offset: int = 0
    span: Span | None = None


def parse_workload(
    patterns: Mapping[str, str] | Sequence[str] | str,
    type_column: str = "type",
    time_columns: str | Sequence[str] = "time",
    *,
    types: frozenset[str] | None = None,
) -> tuple[NamedPattern, ...]:
    """The patterns of a workload; a `WorkloadError` lists all that are wrong.

    In a list, a pattern is called by the type of its result, and `p1`, `p2`, ... where it says none. Any event may be
    passed over (skip till any match) in every pattern. If `types` are given, there are no other types of events.

    Examples
    --------
    >>> for one in parse_workload("up: PATTERN SEQ(A a, B b) WITHIN 5; either: PATTERN OR(A a, B b)"):
    ...     print(one.name, "|", *str(one.query).splitlines())
    up | PATTERN SEQ(A a, B b) WHERE skip_till_any_match { } WITHIN 5
    either | PATTERN OR(A a, B b) WHERE skip_till_any_match { }
    """
    found, wrong, total = read_workload(patterns, type_column, time_columns, types=types)
    if wrong:
        raise WorkloadError(wrong, total)
    return found


def read_workload(
    patterns: Mapping[str, str] | Sequence[str] | str,
    type_column: str = "type",
    time_columns: str | Sequence[str] = "time",
    *,
    types: frozenset[str] | None = None,
) -> tuple[tuple[NamedPattern, ...], tuple[tuple[str, TrellisError], ...], int]:
    """The patterns that can be read, what is wrong with the others, and how many there are."""
    written = list(_written(patterns))
    found: list[NamedPattern] = []
    wrong: list[tuple[str, TrellisError]] = []
    seen: set[str] = set()
    for number, one in enumerate(written, 1):
        name = f"p{number}" if one.name is None else one.name
        try:
            query = _query(one, type_column, time_columns, types)
            if one.name is None and query.events is not None and query.events.result_type != "Match":
                name = query.events.result_type
        except TrellisError as error:
            wrong.append((name, error))
            query = None
        if name in seen:
            problem = BindingError(
                f"Two patterns are called {name}.", cure="Give each a name of its own.", span=one.span, text=one.whole
            )
            wrong.append((name, problem))
        seen.add(name)
        if query is not None:
            found.append(NamedPattern(name, one.text, query, one.whole, one.offset))
    if not written:
        raise BindingError("The workload has no pattern.", cure=_FORM)
    return tuple(found), tuple(wrong), len(written)


def is_workload(text: str) -> bool:
    """Whether a text is meant as a workload: it begins with a name, a colon and PATTERN."""
    tokens = tokenize(text)[:3]
    return len(tokens) == 3 and tokens[0].is_name and tokens[1].text == ":" and tokens[2].text.upper() == "PATTERN"


def _written(patterns: Mapping[str, str] | Sequence[str] | str) -> Iterator[_Written]:
    if isinstance(patterns, str):
        with attach_text(patterns):
            yield from _chunks(patterns, tokenize(patterns))
    elif isinstance(patterns, Mapping):
        for name, text in patterns.items():
            require_text("The name of a pattern", name, "late")
            require_text(f"The pattern {name}", text, _EXAMPLE)
            yield _Written(name, text, text)
    else:
        for number, text in enumerate(patterns, 1):
            require_text(f"Pattern {number}", text, _EXAMPLE)
            yield _Written(None, text, text)


def _chunks(whole: str, tokens: Sequence[Token]) -> Iterator[_Written]:
    """The patterns of a text, cut at its semicolons."""
    begin = 0
    for end in range(len(tokens) + 1):
        if end < len(tokens) and tokens[end].text != ";":
            continue
        chunk, begin = tokens[begin:end], end + 1
        if not chunk:
            continue
        named = len(chunk) > 1 and chunk[0].is_name and chunk[1].text == ":"
        first = chunk[2] if named and len(chunk) > 2 else chunk[0]
        start = chunk[1].span.end if named and len(chunk) == 2 else first.span.start
        text = whole[start : chunk[-1].span.end]
        yield _Written(chunk[0].identifier.text if named else None, text, whole, start, chunk[0].span)


def _query(one: _Written, type_column: str, time_columns: str | Sequence[str], types: frozenset[str] | None) -> Query:
    any_match = Selection.SKIP_TILL_ANY_MATCH
    try:
        if one.span is not None and one.name is None:
            raise QuerySyntaxError("This pattern has no name.", cure=_FORM, span=Span(0, one.span.end - one.offset))
        query = parse_sase_text(one.text, type_column, time_columns, types=types, combined=True, strategy=any_match)
        if query.selection is not any_match:
            raise UnsupportedError(
                f"The patterns of a workload pass over any event; this one has {query.selection.name.lower()}.",
                cure="Leave the strategy out, or run this pattern by trellis.sase.",
            )
        if query.wanted is not Wanted.ALL:
            raise UnsupportedError(
                "A workload gives all matches of a pattern, and OUTPUT NON_OVERLAP asks for some.",
                cure="Leave it out, or run this pattern by trellis.sase.",
            )
    except TrellisError as error:
        raise _placed(error, one.text, one.whole, one.offset) from None
    return query


def _placed(error: TrellisError, text: str, whole: str, offset: int) -> TrellisError:
    if error.span is None or error.text not in (None, text):
        return error
    span = Span(error.span.start + offset, error.span.end + offset)
    return type(error)(error.problem, cure=error.cure, span=span, text=whole)
