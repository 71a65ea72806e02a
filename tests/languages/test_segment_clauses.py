"""MATCH_RECOGNIZE with segment variables: text, builder, and the rules."""

from __future__ import annotations

import pytest

from languages.segment_queries import TEMPLATES
from trellis.algebra.pattern import Concat, Repeat, Var, variables_of, walk, with_counts
from trellis.algebra.query import Definition, Skip, SkipTo, VariableKind, Wanted
from trellis.errors import BindingError, QuerySyntaxError, TrellisError, UnsupportedError
from trellis.languages.builder import build
from trellis.languages.match_recognize import parse_clause_text
from trellis.languages.statement import parse_statement

SEGMENT = VariableKind.SEGMENT


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates(name: str) -> None:
    query = parse_clause_text(TEMPLATES[name])
    assert query.kind is SEGMENT
    assert query.wanted is Wanted.ALL
    assert {definition.variable for definition in query.definitions} == set(variables_of(query.pattern))
    assert parse_clause_text(str(query)) == query
    statement = parse_statement(f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({TEMPLATES[name]}) AS m")
    assert statement.clauses[0].query == query
    assert with_counts(query.pattern, {"k": 2, "K": 5}) is not None


def test_templates_as_printed() -> None:
    assert str(parse_clause_text(TEMPLATES["head_shldr"]).pattern) == (
        "(UP1 & W (DN1 & W UP2 & W & NECK_TO_HEAD) & SHOULDER_TO_HEAD"
        " (DN2 & W & HEAD_TO_NECK UP3 & W) & HEAD_TO_SHOULDER DN3 & W) & WIN"
    )
    assert str(parse_clause_text(TEMPLATES["limit_sell"]).pattern) == "RISE & WIN & ~(FALL W)"
    counted = with_counts(parse_clause_text(TEMPLATES["rptd_pttrn"]).pattern, {"k": 3})
    assert isinstance(counted, Repeat)
    assert (counted.least, counted.most) == (3, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SEGMENT A AS x", [("A", True)]),
        ("segment a AS x", [("A", True)]),
        ("SEG A AS x", [("A", True)]),
        ("Seg `A` AS x", [("A", True)]),
        ("A AS x", [("A", False)]),
        ("A AS x, SEGMENT B AS x, SEG C AS x", [("A", False), ("B", True), ("C", True)]),
        ("SEG C AS x, A AS x", [("C", True), ("A", False)]),
        ("SEGMENT AS x", [("SEGMENT", False)]),
        ("seg AS x", [("SEG", False)]),
        ("SEGMENT SEGMENT AS x", [("SEGMENT", True)]),
        ("SEG SEGMENT AS x, SEGMENT SEG AS x", [("SEGMENT", True), ("SEG", True)]),
        ("SEG AS x, SEGMENT AS x, SEGMENT A AS x", [("SEG", False), ("SEGMENT", False), ("A", True)]),
        ("SEGMENT `SEGMENT` AS x", [("SEGMENT", True)]),
        ("`SEGMENT` AS x", [("SEGMENT", False)]),
        ("SEGMENT AS AS x", [("AS", True)]),
        ("AS AS x", [("AS", False)]),
        ("SEGMENT DEFINE AS x, DEFINE AS x", None),
        ("SEGMENT DEFINE AS x", [("DEFINE", True)]),
        ("SEGMENT AS segment > seg", [("SEGMENT", False)]),
        ("SEG AS SEG.x > 1", [("SEG", False)]),
    ],
)
def test_definitions(text: str, expected: list[tuple[str, bool]] | None) -> None:
    clause = f"PATTERN (A B C SEGMENT SEG AS DEFINE) DEFINE {text}"
    if expected is None:
        with pytest.raises(BindingError, match="DEFINE is defined twice"):
            parse_clause_text(clause)
        return
    query = parse_clause_text(clause)
    assert [(definition.variable, definition.kind is SEGMENT) for definition in query.definitions] == expected
    assert (query.kind is SEGMENT) == any(segment for _, segment in expected)
    assert parse_clause_text(str(query)) == query


def test_definition_has_its_place_and_kind() -> None:
    text = "PATTERN (A) DEFINE SEGMENT A AS x"
    (definition,) = parse_clause_text(text).definitions
    assert definition.span is not None
    assert text[definition.span.start :] == "A AS x"
    assert definition == Definition("A", definition.condition, kind=SEGMENT)
    assert definition != Definition("A", definition.condition)
    assert str(definition) == "SEGMENT A AS x"


def test_keywords_as_names() -> None:
    query = parse_clause_text(
        "MEASURES x AS segment, y seg, z define PATTERN (SEG & SEGMENT) DEFINE SEG SEG AS true, SEGMENT AS segment > 1"
    )
    assert [measure.name for measure in query.measures] == ["segment", "seg", "define"]
    assert [definition.kind is SEGMENT for definition in query.definitions] == [True, False]


@pytest.mark.parametrize(
    ("text", "segmented", "pattern"),
    [
        ("PATTERN ((A B) (C (A B)))", False, "A B C A B"),
        ("PATTERN ((A | (B | C)) ((A)))", False, "(A | B | C) A"),
        ("PATTERN ((A B) C) DEFINE A AS x > 1", False, "A B C"),
        ("PATTERN ((A B) C) DEFINE SEGMENT A AS true", True, "(A B) C"),
        ("PATTERN ((A (B C)) (C (A B))) DEFINE C AS true, SEG B AS true", True, "(A (B C)) (C (A B))"),
        ("PATTERN ((((A B)))) DEFINE SEGMENT A AS true", True, "A B"),
        ("PATTERN ((A B) C & A)", True, "(A B) C & A"),
        ("PATTERN ((A B) ~C)", True, "(A B) ~C"),
        ("PATTERN (A (B C)+) DEFINE SEGMENT A AS true", True, "A (B C)+"),
        ("PATTERN ((A B){:k} (B C))", False, "(A B){:k} B C"),
    ],
)
def test_brackets_count_in_segment_queries_only(text: str, segmented: bool, pattern: str) -> None:
    query = parse_clause_text(text)
    assert (query.kind is SEGMENT) is segmented
    assert str(query.pattern) == pattern
    assert parse_clause_text(str(query)) == query


def test_after_match() -> None:
    segments = "PATTERN (A & B)"
    query = parse_clause_text(segments)
    assert query.wanted is Wanted.ALL
    assert "AFTER" not in str(query)
    for words, expected in (
        ("PAST LAST ROW", Skip()),
        ("TO NEXT ROW", Skip(SkipTo.NEXT_ROW)),
        ("TO FIRST B", Skip(SkipTo.FIRST, "B")),
    ):
        query = parse_clause_text(f"AFTER MATCH SKIP {words} {segments}")
        assert query.after_match == expected
        assert parse_clause_text(str(query)) == query
    points = parse_clause_text("PATTERN (A B)")
    assert points.after_match == Skip(SkipTo.PAST_LAST_ROW)
    assert "AFTER MATCH SKIP PAST LAST ROW" in str(points)


SEGMENT_A = "DEFINE B AS x > 1, SEGMENT A AS true"
UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS"


@pytest.mark.parametrize(
    ("text", "kind", "word", "problem", "cure"),
    [
        (f"PATTERN (B {{- B A -}}) {SEGMENT_A}", BindingError, "A", "segment variable A .* exclusion", "Take it out"),
        (f"PATTERN (B {{- (B | A+) -}}) {SEGMENT_A}", BindingError, "A", "exclusion", "Take it out"),
        (f"PATTERN (PERMUTE(B, A)) {SEGMENT_A}", BindingError, "A", "segment variable A .* PERMUTE", r"(A B) | (B A)"),
        (f"PATTERN (B PERMUTE(B, ~(B A))) {SEGMENT_A}", BindingError, "A", "PERMUTE", "orders"),
        (
            f"PATTERN (B A) SUBSET U = (B, A) {SEGMENT_A}",
            BindingError,
            "U = (B, A)",
            "The subset U holds A, which is a segment variable",
            "`(...) & U` in the pattern and `SEGMENT U AS true` in DEFINE",
        ),
        (f"MEASURES CLASSIFIER() AS c PATTERN (B A) {SEGMENT_A}", BindingError, "CLASSIFIER()", "CLASSIFIER", "FIRST"),
        ("MEASURES 1 + CLASSIFIER(B) AS c PATTERN (B & A)", BindingError, "CLASSIFIER(B)", "several variables", "rows"),
        ("PATTERN (~A) DEFINE A AS classifier() = 'A'", BindingError, "classifier()", "CLASSIFIER", "rows"),
        ("MEASURES max(CLASSIFIER()) AS c PATTERN (~A)", BindingError, "CLASSIFIER()", "CLASSIFIER", "rows"),
        (f"{UNMATCHED} PATTERN (B A) {SEGMENT_A}", UnsupportedError, UNMATCHED, "segment query", "ALL ROWS PER MATCH,"),
        (f"{UNMATCHED} PATTERN (~())", UnsupportedError, UNMATCHED, "segment query", "join"),
        ("PATTERN (B) DEFINE SEGMENT A AS true", BindingError, "A", "does not stand in the pattern", "are B"),
        ("PATTERN (A) DEFINE SEGMENT A AS true, A AS x > 1", BindingError, "A", "defined twice", "AND"),
        ("PATTERN (A & B) SUBSET U = (A) DEFINE SEGMENT U AS 1", BindingError, "U", "is a subset", "Define"),
        ("PATTERN (A) DEFINE SEGMENT A AS sum(LAST(x)) > 1", BindingError, "LAST(x)", "inside the aggregate", "reads"),
        ("PATTERN (A & B) DEFINE A AS LAST(A.x + B.x) > 1", BindingError, "B.x", "reads rows of A and of B", "same"),
    ],
)
def test_rules(text: str, kind: type[TrellisError], word: str, problem: str, cure: str) -> None:
    with pytest.raises(kind, match=problem) as caught:
        parse_clause_text(text)
    error = caught.value
    assert type(error) is kind
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word
    assert error.cure is not None
    assert cure in error.cure


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN (A & B) DEFINE A AS FINAL LAST(A.x) > 1, B AS RUNNING LAST(B.x) > 1",
        "PATTERN (A B) DEFINE SEGMENT A AS FINAL sum(A.x) > 1",
        "MEASURES FINAL LAST(A.x) AS x, RUNNING LAST(B.x) AS y PATTERN (A & B)",
        "PATTERN (A {- B -} PERMUTE(C, B)) DEFINE SEGMENT A AS true",
        "PATTERN (A B C) SUBSET U = (B, C) DEFINE SEGMENT A AS true",
        "ALL ROWS PER MATCH PATTERN (A & B)",
        "PATTERN (A & B) DEFINE SEGMENT A AS corr(A.x, B.x) > 0.5, SEGMENT B AS window(ts, 0, :n, MINUTE)",
        "PATTERN ((A B) & U) DEFINE SEGMENT A AS count(A.*) > 2, SEGMENT U AS true",
    ],
)
def test_queries_that_are_fine(text: str) -> None:
    query = parse_clause_text(text)
    assert parse_clause_text(str(query)) == query


def test_point_queries_keep_their_rules() -> None:
    with pytest.raises(BindingError, match="cannot stand in DEFINE"):
        parse_clause_text("PATTERN (A B) DEFINE A AS FINAL LAST(A.x) > 1")
    parse_clause_text(f"MEASURES CLASSIFIER() AS c {UNMATCHED} PATTERN (A B)")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("PATTERN (A) DEFINE SEGMENT A AS", ""),
        ("PATTERN (A) DEFINE SEGMENT A AS true, SEGMENT", ""),
        ("PATTERN (A) DEFINE A AS true, SEGMENT B", "B"),
        ("PATTERN (A) DEFINE SEGMENT A = true", "DEFINE"),
        ("PATTERN (A) DEFINE SEGMENT SEG A AS true", "DEFINE"),
        ("PATTERN (A) DEFINE A AS true SEGMENT B AS true", "SEGMENT"),
    ],
)
def test_mistakes(text: str, word: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_clause_text(text)
    error = caught.value
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word


def test_builder() -> None:
    builder = (
        build("((DOWN & W) UP) PEAK")
        .define_segments(DOWN="last(DOWN.x) < first(DOWN.x)", up="last(UP.x) > first(UP.x)")
        .define(PEAK="x > 10")
        .define_segments({"W": "window(2, :n)"})
        .measures(low="min(DOWN.x)")
    )
    text = """PARTITION BY city ORDER BY ts MEASURES min(DOWN.x) AS low PATTERN (((DOWN & W) UP) PEAK)
    DEFINE SEGMENT DOWN AS last(DOWN.x) < first(DOWN.x), SEGMENT UP AS last(UP.x) > first(UP.x), PEAK AS x > 10,
    SEGMENT W AS window(2, :n)"""
    query = builder.query("city", "ts")
    assert query == parse_clause_text(text)
    assert query.wanted is Wanted.ALL
    assert "DEFINE\n  SEGMENT DOWN AS last(DOWN.x) < first(DOWN.x),\n  SEGMENT up AS" in builder.text()
    assert parse_clause_text(builder.text("city", "ts")) == query
    condition = query.definitions[3].condition
    assert condition.span is not None
    assert builder.text("city", "ts")[condition.span.start : condition.span.end] == "window(2, :n)"


def test_builder_keeps_brackets_of_segment_queries() -> None:
    base = build("(A B) C")
    assert base.define(A="x > 1").query().pattern == Concat((Var("A"), Var("B"), Var("C")))
    assert base.define_segments(A="true").query().pattern == Concat((Concat((Var("A"), Var("B"))), Var("C")))
    assert base.query() == build("(A B) C").query()


def test_builder_again_replaces() -> None:
    base = build("A B").define_segments(A="true", B="true")
    kinds = [(d.variable, d.kind is SEGMENT) for d in base.define(a="x > 1").query().definitions]
    assert kinds == [("A", False), ("B", True)]
    assert base.define(A="x > 1").define_segments(a="true", b="true").query() == base.query()


def test_builder_names() -> None:
    builder = build("SEGMENT SEG `segment x`").define(SEGMENT="x > 1")
    builder = builder.define_segments({"segment x": "true"}, SEG="true")
    assert [(d.variable, d.kind is SEGMENT) for d in builder.query().definitions] == [
        *(("SEGMENT", False), ("segment x", True), ("SEG", True))
    ]
    again = builder.define_segments(segment="true").define({"segment x": "x > 2"}).query().definitions
    assert [(d.variable, d.kind is SEGMENT) for d in again] == [
        ("SEGMENT", True),
        ("segment x", False),
        ("SEG", True),
    ]


@pytest.mark.parametrize(
    ("make", "kind", "text", "word"),
    [
        (lambda: build("A &"), QuerySyntaxError, "A &", ""),
        (lambda: build("A").define_segments(A="x >"), QuerySyntaxError, "x >", ""),
        (lambda: build("A").define_segments(A="x, B AS y"), QuerySyntaxError, "x, B AS y", ","),
        (lambda: build("A").define_segments(B="true"), BindingError, "SEGMENT B AS true", "B"),
        (lambda: build("A {- B -}").define_segments(B="true"), BindingError, "A {- B -}", "B"),
        (lambda: build("A & B").rows_per_match("all with unmatched"), UnsupportedError, UNMATCHED, UNMATCHED),
        (
            lambda: build("A").define_segments(A="classifier() = 'A'"),
            BindingError,
            "SEGMENT A AS classifier() = 'A'",
            "classifier()",
        ),
    ],
)
def test_builder_mistakes_show_the_piece(make: object, kind: type[TrellisError], text: str, word: str) -> None:
    assert callable(make)
    with pytest.raises(kind) as caught:
        make().query()
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word


def test_builder_wants_texts() -> None:
    with pytest.raises(TypeError, match="The condition of A must be a string"):
        build("A").define_segments(A=5)  # type: ignore[arg-type]


def test_spans_do_not_count() -> None:
    one = parse_clause_text("ALL ROWS PER MATCH PATTERN (A{:k} & B)")
    other = parse_clause_text("  ALL ROWS PER MATCH  PATTERN  ( A{ :k } & B )")
    assert one == other
    assert hash(one) == hash(other)
    assert one.rows_span is not None
    assert any(isinstance(node, Repeat) for node in walk(one.pattern))
