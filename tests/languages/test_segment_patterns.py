"""Patterns with `&`, `~`, brackets that mean something, and counts that are parameters."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    counts,
    flatten,
    rebuild,
    variables_of,
    walk,
    with_counts,
)
from trellis.errors import BindingError, QuerySyntaxError, TrellisError
from trellis.languages.match_recognize import parse_clause_text
from trellis.languages.pattern_text import parse_pattern_text

A, B, C, D = Var("A"), Var("B"), Var("C"), Var("D")
K, N = CountParameter("k"), CountParameter("n")


def plus(body: Pattern) -> Pattern:
    return Repeat(body, 1, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A & B", And((A, B))),
        ("a&b", And((A, B))),
        ("A & B & C", And((A, B, C))),
        ("(A & B) & C", And((A, B, C))),
        ("A & (B & C)", And((A, B, C))),
        ("A&(B&(C&D))", And((A, B, C, D))),
        ("~A", Not(A)),
        ("~~A", Not(Not(A))),
        ("A ~ ~B", Concat((A, Not(Not(B))))),
        ("A~B", Concat((A, Not(B)))),
        # A quantifier binds tighter than ~, ~ than &, & than concatenation, concatenation than |.
        ("~A+", Not(plus(A))),
        ("~(A+)", Not(plus(A))),
        ("(~A)+", plus(Not(A))),
        ("~A+?", Not(Repeat(A, 1, None, mode=Mode.RELUCTANT))),
        ("~A & B", And((Not(A), B))),
        ("A & ~B", And((A, Not(B)))),
        ("~(A & B)", Not(And((A, B)))),
        ("A & B+", And((A, plus(B)))),
        ("(A & B)+", plus(And((A, B)))),
        ("A & B C", Concat((And((A, B)), C))),
        ("A B & C", Concat((A, And((B, C))))),
        ("A & (B C)", And((A, Concat((B, C))))),
        ("A & B | C", Alt((And((A, B)), C))),
        ("A & (B | C)", And((A, Alt((B, C))))),
        ("~A B", Concat((Not(A), B))),
        ("~(A B)", Not(Concat((A, B)))),
        ("~A | B", Alt((Not(A), B))),
        ("~(A | B)", Not(Alt((A, B)))),
        ("~(A B)+", Not(plus(Concat((A, B))))),
        ("(A | B) & C D+ | ~A", Alt((Concat((And((Alt((A, B)), C)), plus(D))), Not(A)))),
        ("~PERMUTE(A, B & C)", Not(Permute((A, And((B, C)))))),
        ("A & {- B -}", And((A, Exclude(B)))),
        ("~{-A-}", Not(Exclude(A))),
        ("~() & ^", And((Not(Empty()), Anchor(True)))),
        ("~$", Not(Anchor(False))),
        ("~`x y`", Not(Var("x y"))),
        # Brackets around concatenations are kept.
        ("(A B) C & D", Concat((Concat((A, B)), And((C, D))))),
        ("A (B C) & D", Concat((A, And((Concat((B, C)), D))))),
        ("(((A B)) C) ~D", Concat((Concat((Concat((A, B)), C)), Not(D)))),
        ("(A | (B | C)) & D", And((Alt((A, B, C)), D))),
        ("A & -- comment\n B", And((A, B))),
    ],
)
def test_patterns(text: str, expected: Pattern) -> None:
    pattern = parse_pattern_text(text)
    assert pattern == expected
    assert parse_pattern_text(str(pattern)) == pattern
    assert combines_segments(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (Concat((Concat((A, B)), C)), "(A B) C"),
        (Concat((A, Concat((B, C)))), "A (B C)"),
        (And((And((A, B)), C)), "A & B & C"),
        (And((Concat((A, B)), Alt((A, B)), Not(A), plus(A))), "(A B) & (A | B) & ~A & A+"),
        (Concat((And((A, B)), Not(A), Alt((A, B)))), "A & B ~A (A | B)"),
        (Alt((Concat((A, B)), And((A, B)))), "A B | A & B"),
        (Not(plus(A)), "~A+"),
        (Not(Not(A)), "~~A"),
        (Not(And((A, B))), "~(A & B)"),
        (plus(Not(A)), "(~A)+"),
        (plus(And((A, B))), "(A & B)+"),
        (Permute((And((A, B)), Not(C))), "PERMUTE(A & B, ~C)"),
        (Exclude(And((A, B))), "{- A & B -}"),
        (Repeat(A, K, K), "A{:k}"),
        (Repeat(A, K, K, mode=Mode.RELUCTANT), "A{:k}?"),
        (Repeat(A, K, N), "A{:k,:n}"),
        (Repeat(A, K, None), "A{:k,}"),
        (Repeat(A, 0, K), "A{0,:k}"),
    ],
)
def test_text(pattern: Pattern, text: str) -> None:
    assert str(pattern) == text


def test_walk() -> None:
    pattern = parse_pattern_text("A & ~(B C+) | A D")
    assert variables_of(pattern) == ("A", "B", "C", "D")
    assert [type(node).__name__ for node in walk(pattern)] == [
        *("Alt", "And", "Var", "Not", "Concat", "Var", "Repeat", "Var", "Concat", "Var", "Var")
    ]
    assert rebuild(pattern, lambda part: part) == pattern
    assert all(part in tuple(walk(pattern)) for part in children(pattern))


def test_variables_have_their_place() -> None:
    text = "(A & ~`b`) {- ~C+ -} D"
    spans = [node.span for node in walk(parse_pattern_text(text)) if isinstance(node, Var)]
    assert [text[span.start : span.end] for span in spans if span] == ["A", "`b`", "C", "D"]


def test_flatten() -> None:
    assert flatten(Concat((Concat((A, Concat((B, C)))), D))) == Concat((A, B, C, D))
    assert flatten(Alt((A, Alt((B, Alt((C, D))))))) == Alt((A, B, C, D))
    assert flatten(Concat((A, Alt((B, Concat((C, Concat((A, D))))))))) == Concat((A, Alt((B, Concat((C, A, D))))))
    inner = Concat((A, Concat((B, C))))
    for around in (plus, Exclude, Not, lambda body: Permute((body, A)), lambda body: And((body, A))):
        assert flatten(around(inner)) == around(Concat((A, B, C)))


NAMES = st.sampled_from(["A", "B2", "SEGMENT", "SEG", "PERMUTE", "two words"])
COUNTS: list[tuple[int | CountParameter, int | CountParameter | None]] = [
    *((0, None), (1, None), (2, 2), (1, 3), (K, K), (K, N), (2, K), (K, None))
]


def repeat(body: Pattern, count: tuple[int | CountParameter, int | CountParameter | None], mode: Mode) -> Pattern:
    return Repeat(body, count[0], count[1], mode)


def conjunction(parts: list[Pattern]) -> Pattern:
    flat = [p for part in parts for p in (part.parts if isinstance(part, And) else (part,))]
    return And(tuple(flat))


def alternation(options: list[Pattern]) -> Pattern:
    flat = [o for option in options for o in (option.options if isinstance(option, Alt) else (option,))]
    return Alt(tuple(flat))


PATTERNS = st.recursive(
    NAMES.map(Var) | st.just(Empty()) | st.booleans().map(Anchor),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Concat(tuple(parts))),
        st.builds(alternation, st.lists(inner, min_size=2, max_size=3)),
        st.builds(conjunction, st.lists(inner, min_size=2, max_size=3)),
        st.builds(repeat, inner, st.sampled_from(COUNTS), st.sampled_from([Mode.GREEDY, Mode.RELUCTANT])),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Permute(tuple(parts))),
        inner.map(Not),
        inner.map(Exclude),
    ),
    max_leaves=12,
)


@given(PATTERNS)
def test_round_trip(pattern: Pattern) -> None:
    read = parse_pattern_text(str(pattern))
    assert read == (pattern if combines_segments(pattern) else flatten(pattern))
    # Whether brackets count is known when all definitions have been read.
    query = parse_clause_text(f"PATTERN (({pattern}) S) DEFINE SEGMENT S AS true")
    assert query.pattern == Concat((pattern, Var("S")))


@pytest.mark.parametrize(
    ("text", "word", "cure"),
    [
        ("A &", "", "between two parts"),
        ("& A", "&", "between two parts"),
        ("(A &) B", ")", "between two parts"),
        ("(& A)", "&", "between two parts"),
        ("A & | B", "|", "between two parts"),
        ("A | & B", "&", "between two parts"),
        ("PERMUTE(A &, B)", ",", "between two parts"),
        ("{- A & -}", "-", "between two parts"),
        ("A && B", "&&", "`A & B`"),
        ("A &&& B", "&&", "`A & B`"),
        ("A &+", "+", "after the part"),
        ("~", "", "before the part"),
        ("A ~", "", "before the part"),
        ("(~)", ")", "before the part"),
        ("~ | A", "|", "before the part"),
        ("~~", "", "before the part"),
        ("A & ~", "", "before the part"),
        ("~ & A", "&", "between two parts"),
        ("~+", "+", "after the part"),
        ("~A+*", "*", "in brackets"),
    ],
)
def test_mistakes(text: str, word: str, cure: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_pattern_text(text)
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word
    assert error.cure is not None
    assert cure in error.cure


def test_nesting_has_a_bound() -> None:
    deep = "(A | B C & ~" * 45 + "(A | B)+" + ")+" * 45
    pattern = parse_pattern_text(deep)
    assert parse_pattern_text(str(pattern)) == pattern
    assert flatten(with_counts(pattern, {})) == pattern
    for text in ("~" * 5000 + "A", "~(" * 500 + "A" + ")" * 500, "(A | B C & " * 100 + "A" + ")+" * 100):
        with pytest.raises(QuerySyntaxError, match="nested too deeply"):
            parse_pattern_text(text)
    parse_pattern_text(" & ".join(["~A"] * 3000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A{:k}", Repeat(A, K, K)),
        ("A{:k}?", Repeat(A, K, K, mode=Mode.RELUCTANT)),
        ("A{ : k }", Repeat(A, K, K)),
        ("A{:k,:n}", Repeat(A, K, N)),
        ("A{:k, :n}", Repeat(A, K, N)),
        ("A{:k,}", Repeat(A, K, None)),
        ("A{,:k}", Repeat(A, 0, K)),
        ("A{2,:k}", Repeat(A, 2, K)),
        ("A{:k,2}", Repeat(A, K, 2)),
        ("(A & B){:k} C", Concat((Repeat(And((A, B)), K, K), C))),
        ("~A{:k}", Not(Repeat(A, K, K))),
        ("A{:order}", Repeat(A, CountParameter("order"), CountParameter("order"))),
    ],
)
def test_counts_as_parameters(text: str, expected: Pattern) -> None:
    pattern = parse_pattern_text(text)
    assert pattern == expected
    assert parse_pattern_text(str(pattern)) == pattern


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A{:}", "}"),
        ("A{:1}", "1"),
        ("A{:`k`}", "`k`"),
        ("A{:k :n}", ":"),
        ("A{:k", ""),
        ("A{k}", "k"),
        ("A{::k}", ":"),
        ("A{:k,0}", "{:k,0}"),
    ],
)
def test_counts_that_cannot_be_read(text: str, word: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_pattern_text(text)
    assert caught.value.span is not None
    assert text[caught.value.span.start : caught.value.span.end] == word


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("A{:k}", {"k": 3}, Repeat(A, 3, 3)),
        ("A{:k}", {"k": 0, "other": "x"}, Repeat(A, 0, 0)),
        ("A{:k}?", {"k": MAX_COUNT}, Repeat(A, MAX_COUNT, MAX_COUNT, mode=Mode.RELUCTANT)),
        ("A{:k,:n}", {"k": 2, "n": 2}, Repeat(A, 2, 2)),
        ("A{:k,:n}", {"k": 0, "n": 1}, Repeat(A, 0, 1)),
        ("A{:k,}", {"k": 1}, plus(A)),
        ("A{,:n}", {"n": np.int64(4)}, Repeat(A, 0, 4)),
        ("A{2,:n} B{2}", {"n": 5}, Concat((Repeat(A, 2, 5), Repeat(B, 2, 2)))),
        ("~(A & (B{:k} C)){:n}", {"k": 1, "n": 2}, Not(Repeat(And((A, Concat((Repeat(B, 1, 1), C)))), 2, 2))),
        ("PERMUTE(A{:k}, B) {- (C | D{:k}) -}", {"k": 1}, None),
        ("A+ B{0}", {}, Concat((plus(A), Repeat(B, 0, 0)))),
    ],
)
def test_values_of_counts(text: str, values: Mapping[str, object], expected: Pattern | None) -> None:
    pattern = with_counts(parse_pattern_text(text), values)
    if expected is None:
        assert str(pattern) == "PERMUTE(A{1}, B) {- C | D{1} -}"
        return
    assert pattern == expected
    for node in walk(pattern):
        if isinstance(node, Repeat):
            assert counts(node) == (node.least, node.most)
            assert type(node.least) is int
            assert node.most is None or type(node.most) is int


@pytest.mark.parametrize(
    ("text", "values", "word", "problem"),
    [
        ("A B{:k}", {}, ":k", "The parameter :k has no value"),
        ("A{:k}", {"K": 1}, ":k", "has no value"),
        ("A{:k,:n}", {"k": 1}, ":n", "The parameter :n has no value"),
        ("A{:k}", {"k": -1}, ":k", "is negative"),
        ("A{1,:n}", {"n": -1}, ":n", "The parameter :n of a quantifier is negative"),
        ("A{:k}", {"k": MAX_COUNT + 1}, ":k", f"is above {MAX_COUNT}"),
        ("A{:k}", {"k": 1 << 20_000}, ":k", f"is above {MAX_COUNT}"),
        ("A{:k}", {"k": 2.0}, ":k", "is of type float"),
        ("A{:k}", {"k": "2"}, ":k", "is of type str"),
        ("A{:k}", {"k": None}, ":k", "is of type NoneType"),
        ("A{:k}", {"k": True}, ":k", "is of type bool"),
        ("A{:k}", {"k": Decimal(2)}, ":k", "is of type Decimal"),
        ("A{:k,:n}", {"k": 3, "n": 2}, ":n", "at least 3 and at most 2"),
        ("A{:k,2}", {"k": 3}, ":k", "at least 3 and at most 2"),
        ("A{3,:n}", {"n": 2}, ":n", "at least 3 and at most 2"),
        ("A{:k,:n}", {"k": 0, "n": 0}, ":n", "at least 1"),
        ("A{,:n}", {"n": 0}, ":n", "at least 1"),
    ],
)
def test_values_that_are_no_counts(text: str, values: Mapping[str, object], word: str, problem: str) -> None:
    pattern = parse_pattern_text(text)
    with pytest.raises(BindingError, match=problem) as caught:
        with_counts(pattern, values)
    error: TrellisError = caught.value
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word
    assert error.cure
    assert len(str(error)) < 300
