"""Patterns: text to value."""

from __future__ import annotations

import pytest

from trellis.algebra.pattern import Alt, Anchor, Concat, Empty, Exclude, Mode, Pattern, Permute, Repeat, Var, walk
from trellis.errors import QuerySyntaxError, TrellisError, UnsupportedError
from trellis.languages.pattern_text import MAX_COUNT, parse_pattern_text

A, B, C = Var("A"), Var("B"), Var("C")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("A B", Concat((A, B))),
        ("A | B C", Alt((A, Concat((B, C))))),
        ("((A) B) C", Concat((A, B, C))),
        ("A (B C)", Concat((A, B, C))),
        ("(A | B) | C", Alt((A, B, C))),
        ("A|(B|C)", Alt((A, B, C))),
        ("(A | B) C", Concat((Alt((A, B)), C))),
        ("()", Empty()),
        ("A () B", Concat((A, Empty(), B))),
        ("A | ()", Alt((A, Empty()))),
        ("A*", Repeat(A, 0, None)),
        ("A+", Repeat(A, 1, None)),
        ("A?", Repeat(A, 0, 1)),
        ("A*?", Repeat(A, 0, None, mode=Mode.RELUCTANT)),
        ("A+?", Repeat(A, 1, None, mode=Mode.RELUCTANT)),
        ("A??", Repeat(A, 0, 1, mode=Mode.RELUCTANT)),
        ("A ? ?", Repeat(A, 0, 1, mode=Mode.RELUCTANT)),
        ("A{2}", Repeat(A, 2, 2)),
        ("A{2}?", Repeat(A, 2, 2, mode=Mode.RELUCTANT)),
        ("A{0}", Repeat(A, 0, 0)),
        ("A{2,}", Repeat(A, 2, None)),
        ("A{,3}?", Repeat(A, 0, 3, mode=Mode.RELUCTANT)),
        ("A{2,3}", Repeat(A, 2, 3)),
        ("A{,}", Repeat(A, 0, None)),
        ("A{ 02 , 3 }", Repeat(A, 2, 3)),
        ("(A B)+", Repeat(Concat((A, B)), 1, None)),
        ("(A+)*", Repeat(Repeat(A, 1, None), 0, None)),
        ("A?|B", Alt((Repeat(A, 0, 1), B))),
        ("A*|B", Alt((Repeat(A, 0, None), B))),
        ("A??B", Concat((Repeat(A, 0, 1, mode=Mode.RELUCTANT), B))),
        ("^A$", Concat((Anchor(True), A, Anchor(False)))),
        ("(^)*", Repeat(Anchor(True), 0, None)),
        ("{- A B -}", Exclude(Concat((A, B)))),
        ("A {-B-}+", Concat((A, Repeat(Exclude(B), 1, None)))),
        ("{-{-A-}-}", Exclude(Exclude(A))),
        ("A{2}{-B-}", Concat((Repeat(A, 2, 2), Exclude(B)))),
        ("PERMUTE(A, B | C)", Permute((A, Alt((B, C))))),
        ("permute(a)", A),
        ("permute", Var("PERMUTE")),
        ("`permute` (A)", Concat((Var("permute"), A))),
        ("`a b` `A`", Concat((Var("a b"), A))),
        ("first last start", Concat((Var("FIRST"), Var("LAST"), Var("START")))),
        ("A -- comment\n B /* x */", Concat((A, B))),
        ("A|>B", None),
        ("ä", Var("Ä")),
    ],
)
def test_patterns(text: str, expected: Pattern | None) -> None:
    if expected is None:
        with pytest.raises(QuerySyntaxError):
            parse_pattern_text(text)
        return
    pattern = parse_pattern_text(text)
    assert pattern == expected
    assert parse_pattern_text(str(pattern)) == pattern


def test_variables_have_their_place() -> None:
    text = "A ((`b` | C)+ D)"
    spans = [node.span for node in walk(parse_pattern_text(text)) if isinstance(node, Var)]
    assert [text[span.start : span.end] for span in spans if span] == ["A", "`b`", "C", "D"]


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("", QuerySyntaxError, ""),
        ("A |", QuerySyntaxError, ""),
        ("| A", QuerySyntaxError, "|"),
        ("A || B", QuerySyntaxError, "||"),
        ("(A", QuerySyntaxError, "("),
        ("A)", QuerySyntaxError, ")"),
        ("*", QuerySyntaxError, "*"),
        ("(*)", QuerySyntaxError, "*"),
        ("A | +", QuerySyntaxError, "+"),
        ("A**", QuerySyntaxError, "*"),
        ("A+*", QuerySyntaxError, "*"),
        ("A???", QuerySyntaxError, "?"),
        ("A{2}{3}", QuerySyntaxError, "{"),
        ("A{3,2}", QuerySyntaxError, "{3,2}"),
        ("A{0,0}", QuerySyntaxError, "{0,0}"),
        ("A{,0}", QuerySyntaxError, "{,0}"),
        ("A{}", QuerySyntaxError, "}"),
        ("A{2.5}", QuerySyntaxError, "2.5"),
        ("A{2", QuerySyntaxError, ""),
        ("A{x}", QuerySyntaxError, "x"),
        ("A{20000}", UnsupportedError, "20000"),
        (f"A{{1,{'9' * 6000}}}", UnsupportedError, "9" * 6000),
        ("{- -}", QuerySyntaxError, "-"),
        ("{- A", QuerySyntaxError, ""),
        ("{- A }", QuerySyntaxError, "}"),
        ("A -}", QuerySyntaxError, "-"),
        ("PERMUTE()", QuerySyntaxError, ")"),
        ("PERMUTE(A,)", QuerySyntaxError, ")"),
        ("A, B", QuerySyntaxError, ","),
        ("A 'x'", QuerySyntaxError, "'x'"),
        ("A.B", QuerySyntaxError, "."),
        ("A 5", QuerySyntaxError, "5"),
    ],
)
def test_mistakes(text: str, kind: type[TrellisError], word: str) -> None:
    with pytest.raises(kind) as caught:
        parse_pattern_text(text)
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word


@pytest.mark.parametrize(
    ("text", "word", "meant"),
    [
        ("A AND B", "AND", "`A & B`"),
        ("A AND B", "AND", "`A B`"),
        ("(A and B)+", "and", "`A & B`"),
        ("A OR B", "OR", "`A | B`"),
        ("NOT A", "NOT", "`~A`"),
        ("A && B", "&&", "`A & B`"),
        ("A || B", "||", "`A | B`"),
        ("A -> B", "->", "`A B`"),
        ("(A -> B)*", "->", "`A B`"),
        ("A => B", "=>", "`A B`"),
        ("A, B", ",", "`A B`"),
        ("(A, B)", ",", "`A B`"),
        ("{- A, B -}", ",", "`A B`"),
        ("PERMUTE(A, (B, C))", ",", "`A B`"),
    ],
)
def test_operators_of_other_languages(text: str, word: str, meant: str) -> None:
    """They would read as variables, or as nothing: the error names the operator that is meant."""
    with pytest.raises(QuerySyntaxError) as caught:
        parse_pattern_text(text)
    error = caught.value
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word
    assert meant in (error.cure or "")


@pytest.mark.parametrize("name", ["AND", "OR", "NOT"])
def test_a_quoted_operator_is_a_variable(name: str) -> None:
    pattern = parse_pattern_text(f"A `{name}`")
    assert pattern == Concat((A, Var(name)))
    assert parse_pattern_text(str(pattern)) == pattern


def test_the_limit_is_said() -> None:
    assert parse_pattern_text(f"A{{{MAX_COUNT}}}") == Repeat(A, MAX_COUNT, MAX_COUNT)
    with pytest.raises(UnsupportedError, match=str(MAX_COUNT)):
        parse_pattern_text(f"A{{{MAX_COUNT + 1}}}")


def test_nesting_has_a_bound() -> None:
    parse_pattern_text("(" * 60 + "A" + ")*" * 60)
    with pytest.raises(QuerySyntaxError, match="nested too deeply"):
        parse_pattern_text("(" * 5000 + "A" + ")*" * 5000)
