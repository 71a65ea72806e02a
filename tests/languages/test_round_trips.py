"""What is printed can be read back, and gives the same value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trellis.algebra.expression import (
    Aggregate,
    Call,
    Case,
    Classifier,
    Expression,
    Identifier,
    Literal,
    MatchNumber,
    Name,
    Navigation,
    Operator,
    Parameter,
    Star,
)
from trellis.algebra.pattern import Alt, Anchor, Concat, Empty, Exclude, Mode, Pattern, Permute, Repeat, Var
from trellis.languages.expressions import parse_expression_text
from trellis.languages.pattern_text import parse_pattern_text

WORDS = st.sampled_from(["a", "B", "price", "end", "date", "first", "running", "final", "count", "é", "within"])
IDENTIFIERS = st.one_of(
    WORDS.map(Identifier),
    st.text("ab c`.'é\"{-", min_size=1, max_size=5).map(lambda text: Identifier(text, quoted=True)),
)
LITERALS = st.sampled_from(
    ["1", "2L", ".5", "1e3", "'x'", "'it''s'", "NULL", "TRUE", "INTERVAL '1' DAY", "INTERVAL 1 DAY 2 HOURS", "DATE 'd'"]
).map(Literal)
LEAVES = st.one_of(
    LITERALS,
    st.lists(IDENTIFIERS, min_size=1, max_size=3).map(lambda parts: Name(tuple(parts))),
    WORDS.map(Parameter),
    st.none().map(Classifier) | IDENTIFIERS.map(Classifier),
    st.just(MatchNumber()),
)
BINARY = ["=", "<>", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "DIV", "||"]
POSTFIX = ["IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"]
MODES = st.sampled_from([None, True, False])


def larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Operator, st.sampled_from(BINARY), pair),
        st.builds(Operator, st.sampled_from(["NOT", "NEG", *POSTFIX]), st.tuples(inner)),
        st.builds(Operator, st.just("BETWEEN"), st.tuples(inner, inner, inner)),
        st.builds(Operator, st.just("IN"), st.lists(inner, min_size=2, max_size=4).map(tuple)),
        st.builds(chain, st.sampled_from(["AND", "OR"]), st.lists(inner, min_size=2, max_size=3)),
        st.builds(Case, st.lists(pair, min_size=1, max_size=2).map(tuple), st.none() | inner),
        st.builds(Call, st.sampled_from(["upper", "f", "if"]), st.lists(inner, max_size=3).map(tuple)),
        st.builds(Navigation, st.sampled_from(["FIRST", "LAST"]), inner, st.none() | inner, MODES),
        st.builds(Navigation, st.sampled_from(["PREV", "NEXT"]), inner, st.none() | inner),
        st.builds(
            Aggregate,
            st.sampled_from(["sum", "count", "max_by"]),
            st.lists(inner | st.builds(Star, st.none() | IDENTIFIERS), min_size=1, max_size=2).map(tuple),
            st.booleans(),
            st.none() | inner,
            MODES,
        ),
    )


def chain(symbol: str, operands: list[Expression]) -> Operator:
    """AND and OR as the parser gives them: flat."""
    flat: list[Expression] = []
    for operand in operands:
        same = isinstance(operand, Operator) and operand.symbol == symbol
        flat.extend(operand.operands if same and isinstance(operand, Operator) else [operand])
    return Operator(symbol, tuple(flat))


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=12)


@given(EXPRESSIONS)
def test_expressions(expression: Expression) -> None:
    assert parse_expression_text(str(expression)) == expression


NAMES = st.sampled_from(["A", "B2", "FIRST", "PERMUTE"]) | st.text("aB é`-{}", min_size=1, max_size=4)


def concat(parts: list[Pattern]) -> Pattern:
    flat = [p for part in parts for p in (part.parts if isinstance(part, Concat) else (part,))]
    return Concat(tuple(flat))


def alt(options: list[Pattern]) -> Pattern:
    flat = [o for option in options for o in (option.options if isinstance(option, Alt) else (option,))]
    return Alt(tuple(flat))


MODES = st.sampled_from([Mode.GREEDY, Mode.RELUCTANT])


def repeat(body: Pattern, least: int, more: int | None, mode: Mode) -> Pattern:
    most = None if more is None else least + more
    return Repeat(body, least, most, mode)


PATTERNS = st.recursive(
    NAMES.map(Var) | st.just(Empty()) | st.booleans().map(Anchor),
    lambda inner: st.one_of(
        st.builds(concat, st.lists(inner, min_size=2, max_size=4)),
        st.builds(alt, st.lists(inner, min_size=2, max_size=4)),
        st.builds(
            repeat,
            inner,
            st.integers(0, 3),
            st.none() | st.integers(0, 3),
            MODES,
        ),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Permute(tuple(parts))),
        inner.map(Exclude),
    ),
    max_leaves=10,
)


@given(PATTERNS)
def test_patterns(pattern: Pattern) -> None:
    assert parse_pattern_text(str(pattern)) == pattern
