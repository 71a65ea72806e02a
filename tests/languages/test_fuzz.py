"""Whatever the text, the answer is a value or a `TrellisError` with a place in the text, and it comes soon."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from languages.event_queries import EVENT_QUERIES
from languages.queries import CLAUSES, STATEMENTS
from sqlts_examples import EXAMPLES
from trellis.errors import TrellisError
from trellis.languages.builder import build
from trellis.languages.event_builder import build_events
from trellis.languages.expressions import parse_expression_text
from trellis.languages.lexer import tokenize
from trellis.languages.match_recognize import parse_clause_text
from trellis.languages.pattern_text import parse_pattern_text
from trellis.languages.sase import parse_sase_text
from trellis.languages.statement import parse_statement

# Five times what the profile says: a text costs well below a millisecond.
MANY = settings(max_examples=5 * settings.default.max_examples)

PARSERS: tuple[Callable[[str], object], ...] = (
    parse_expression_text,
    parse_pattern_text,
    parse_clause_text,
    parse_statement,
    parse_sase_text,
)
VOCABULARY = sorted(
    {token.text for text in (*STATEMENTS, *EVENT_QUERIES, *EXAMPLES.values()) for token in tokenize(text)}
    | set("()[]{},.;:?*+-|^$&~!@#\\'\"`")
)

EVENT_CONDITIONS = (
    "b[i].from = b[i-1].to and a.x between 5% and 80%",
    "avg(b[..i-1].price) < 80% * a.price or a.x is null -- cheap",
    "case when b[1].x > 5% then 'high' else 'low' end = a.level",
    "not (count(b[]) > 3) or b[b.LEN].x in (1, 2, 5%)",
)


def check(parse: Callable[[str], object], text: str) -> None:
    try:
        parse(text)
    except TrellisError as error:
        assert error.text == text
        assert error.span is not None
        assert 0 <= error.span.start <= len(text)
        assert error.span.start < error.span.end <= len(text) + 1
        assert str(error)


def mutate(text: str, seed: int, steps: int) -> str:
    """Delete, repeat, exchange or cut off tokens, or characters."""
    rng = random.Random(seed)
    for _ in range(steps):
        try:
            spans = [token.span for token in tokenize(text)] if rng.random() < 0.7 else []
        except TrellisError:
            spans = []
        pieces = [text[span.start : span.end] for span in spans] or list(text)
        if not pieces:
            return text
        at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        match rng.randrange(6):
            case 0:
                del pieces[at]
            case 1:
                pieces.insert(at, pieces[at])
            case 2:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case 3:
                del pieces[at:]
            case 4:
                pieces[at] = rng.choice(VOCABULARY)
            case 5:
                pieces[at : at + 1] = pieces[at : at + 1] * rng.randrange(2, 200)
        text = (" " if spans else "").join(pieces)
    return text


@MANY
@given(st.sampled_from(PARSERS), st.text(max_size=60))
@example(parse_statement, "{# x #}")
def test_any_text(parse: Callable[[str], object], text: str) -> None:
    check(parse, text)


@MANY
@given(st.sampled_from(PARSERS), st.lists(st.sampled_from(VOCABULARY), max_size=40).map(" ".join))
def test_any_tokens(parse: Callable[[str], object], text: str) -> None:
    check(parse, text)


@MANY
@given(st.lists(st.sampled_from(VOCABULARY), max_size=20).map("".join))
def test_any_clause(text: str) -> None:
    check(parse_statement, f"SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A {text}) DEFINE A AS x {text})")


@MANY
@given(st.sampled_from(STATEMENTS), st.integers(0, 2**32), st.integers(1, 4))
def test_mutated_statements(text: str, seed: int, steps: int) -> None:
    check(parse_statement, mutate(text, seed, steps))


@MANY
@given(st.sampled_from(sorted(EXAMPLES.values())), st.integers(0, 2**32), st.integers(1, 4))
def test_mutated_sequence_queries(text: str, seed: int, steps: int) -> None:
    check(parse_statement, mutate(text, seed, steps))


@MANY
@given(st.sampled_from(CLAUSES), st.integers(0, 2**32), st.integers(1, 4))
def test_mutated_clauses(text: str, seed: int, steps: int) -> None:
    check(parse_clause_text, mutate(text, seed, steps))


@MANY
@given(st.sampled_from(CLAUSES[2:]), st.integers(0, 2**32), st.integers(1, 3))
def test_builder_pieces_stay_apart(text: str, seed: int, steps: int) -> None:
    """What is a condition alone is the same condition in the text that a builder writes."""
    condition = mutate(text.rpartition(" AS ")[2], seed, steps)
    try:
        alone = parse_expression_text(condition)
        query = build("A B C").measures(m=condition, n=condition).define(B=condition, A="1 = 1").query()
    except TrellisError:
        return
    assert [measure.expression for measure in query.measures] == [alone, alone]
    assert query.definitions[0].condition == alone
    assert [definition.variable for definition in query.definitions] == ["B", "A"]


@MANY
@given(st.sampled_from(EVENT_QUERIES), st.integers(0, 2**32), st.integers(1, 4))
def test_mutated_event_queries(text: str, seed: int, steps: int) -> None:
    check(parse_sase_text, mutate(text, seed, steps))


@MANY
@given(st.sampled_from(EVENT_CONDITIONS), st.integers(0, 2**32), st.integers(0, 3))
def test_event_builder_pieces_stay_apart(text: str, seed: int, steps: int) -> None:
    """What is a condition alone is the same condition in the text that a builder writes."""
    condition = mutate(text, seed, steps)
    pattern = build_events("A a", "B+ b[]")
    try:
        alone = pattern.where(condition).query().events
        (value,) = pattern.returning(m=f"({condition}\n)").query().measures
    except TrellisError:
        return
    assert alone is not None
    builder = pattern.where("a.x = 1", condition, condition).same("k").returning(m=condition, n=condition)
    query = builder.within(5).result_type("Found").query()
    assert query.events is not None
    assert query.events.where[1:] == alone.where * 2
    assert [measure.expression for measure in query.measures] == [value.expression] * 2


def test_cut_off_anywhere() -> None:
    for text in STATEMENTS:
        for end in range(0, len(text), 3):
            check(parse_statement, text[:end])
    for text in EXAMPLES.values():
        for end in range(0, len(text), 3):
            check(parse_statement, text[:end])
    for text in EVENT_QUERIES:
        for end in range(len(text)):
            check(parse_sase_text, text[:end])


def test_well_formed() -> None:
    for text in STATEMENTS:
        assert parse_statement(text).text == text
