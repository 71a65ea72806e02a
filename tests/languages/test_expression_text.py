"""Expressions: what each syntax becomes."""

from __future__ import annotations

import pytest

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
    Raw,
    Star,
    walk,
)
from trellis.errors import QuerySyntaxError, TrellisError, UnsupportedError
from trellis.languages.cursor import MAX_DEPTH
from trellis.languages.expressions import parse_expression_text


def name(*parts: str) -> Name:
    return Name(tuple(Identifier(part) for part in parts))


def op(symbol: str, *operands: Expression) -> Operator:
    return Operator(symbol, operands)


A, B, C, D = name("a"), name("b"), name("c"), name("d")
ONE, TWO = Literal("1"), Literal("2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c - d", op("-", op("+", A, op("*", B, C)), D)),
        ("(a + b) * c", op("*", op("+", A, B), C)),
        ("a - b - c", op("-", op("-", A, B), C)),
        ("a || b + c", op("+", op("||", A, B), C)),
        ("a DIV b % c / d", op("/", op("%", op("DIV", A, B), C), D)),
        ("-a * b", op("*", op("NEG", A), B)),
        ("- - a", op("NEG", op("NEG", A))),
        ("+1", ONE),
        ("a == b", op("=", A, B)),
        ("a != b", op("<>", A, B)),
        ("a <=> b", op("<=>", A, B)),
        ("a = b = c", op("=", op("=", A, B), C)),
        ("a + 1 < b", op("<", op("+", A, ONE), B)),
        ("a OR b AND c", op("OR", A, op("AND", B, C))),
        ("a AND b AND (c AND d)", op("AND", A, B, C, D)),
        ("a OR (b OR c) OR d", op("OR", A, B, C, D)),
        ("NOT a = b AND c", op("AND", op("NOT", op("=", A, B)), C)),
        ("NOT NOT a", op("NOT", op("NOT", A))),
        ("! a OR b", op("OR", op("NOT", A), B)),
        ("a = b IS NULL", op("IS NULL", op("=", A, B))),
        ("a IS NOT NULL AND b", op("AND", op("IS NOT NULL", A), B)),
        ("a is true or b is not false", op("OR", op("IS TRUE", A), op("IS NOT FALSE", B))),
        ("a IS UNKNOWN", op("IS NULL", A)),
        ("a IS DISTINCT FROM b", op("NOT", op("<=>", A, B))),
        ("a IS NOT DISTINCT FROM b + 1", op("<=>", A, op("+", B, ONE))),
        ("a BETWEEN 1 AND 2 AND b", op("AND", op("BETWEEN", A, ONE, TWO), B)),
        ("a NOT BETWEEN b + 1 AND c", op("NOT", op("BETWEEN", A, op("+", B, ONE), C))),
        ("a IN (1, b)", op("IN", A, ONE, B)),
        ("a NOT IN (1)", op("NOT", op("IN", A, ONE))),
        ("(((a)))", A),
        ("a -- comment\n + /* b */ b", op("+", A, B)),
    ],
)
def test_operators(text: str, expected: Expression) -> None:
    assert parse_expression_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b ^ c & d", Raw(("(", A, " | ", Raw(("(", B, " ^ ", Raw(("(", C, " & ", D, ")")), ")")), ")"))),
        ("a + b >>> 2", Raw(("((", op("+", A, B), ") >>> ", TWO, ")"))),
        ("~a", Raw(("(~ ", A, ")"))),
        ("+a", Raw(("(+ ", A, ")"))),
        ("a like 'x%'", Raw(("(", A, " LIKE ", Literal("'x%'"), ")"))),
        ("a NOT RLIKE b", op("NOT", Raw(("(", A, " RLIKE ", B, ")")))),
        ("a LIKE b ESCAPE '!'", Raw(("(", A, " LIKE ", B, " ESCAPE '!')"))),
        ("a NOT LIKE ALL ('x', b)", Raw(("(", A, " NOT LIKE ALL (", Literal("'x'"), ", ", B, "))"))),
        ("CAST(a AS decimal(10,2))", Raw(("CAST(", A, " AS decimal(10,2))"))),
        ("try_cast(a as interval day to second)", Raw(("TRY_CAST(", A, " AS INTERVAL DAY TO SECOND)"))),
        ("a::map<string, array<int>>", Raw(("CAST(", A, " AS map<string, array<int>>)"))),
        ("a::timestamp without time zone", Raw(("CAST(", A, " AS timestamp without time zone)"))),
        ("a[b + 1].c", Raw((Raw((A, "[", op("+", B, ONE), "]")), ".c"))),
        ("(a + b).c", Raw(("(", op("+", A, B), ").c"))),
        ("a COLLATE UTF8_LCASE = b", op("=", Raw(("(", A, " COLLATE UTF8_LCASE)")), B)),
        ("(a, b) IN ((1, 2))", op("IN", Raw(("(", A, ", ", B, ")")), Raw(("(", ONE, ", ", TWO, ")")))),
        ("extract(year FROM a)", Raw(("EXTRACT(YEAR FROM ", A, ")"))),
        ("trim(both 'x' from a)", Raw(("TRIM(BOTH ", Literal("'x'"), " FROM ", A, ")"))),
        ("trim(leading from a)", Raw(("TRIM(LEADING FROM ", A, ")"))),
        ("trim(a)", Call("trim", (A,))),
        ("substring(a from 1 for 2)", Raw(("SUBSTRING(", A, " FROM ", ONE, " FOR ", TWO, ")"))),
        ("substring(a from 1)", Raw(("SUBSTRING(", A, " FROM ", ONE, ")"))),
        ("substr(a, 1, 2)", Call("substr", (A, ONE, TWO))),
        ("position(a in b)", Raw(("POSITION(", A, " IN ", B, ")"))),
        ("position(a, b)", Call("position", (A, B))),
        ("overlay(a placing b from 1 for 2)", Raw(("OVERLAY(", A, " PLACING ", B, " FROM ", ONE, " FOR ", TWO, ")"))),
        ("timestampdiff(minute, a, b)", Raw(("TIMESTAMPDIFF(MINUTE, ", A, ", ", B, ")"))),
        ("datediff(a, b)", Call("datediff", (A, B))),
        ("f(key => a, b)", Call("f", (Raw(("key => ", A)), B))),
        ("struct(a AS x, b)", Call("struct", (Raw((A, " AS x")), B))),
        ("(SELECT max(x) FROM {t})", Raw(("(SELECT max(x) FROM {t})",))),
        ("a > (with q as (select 1) select * from q)", op(">", A, Raw(("(with q as (select 1) select * from q)",)))),
        ("a IN (SELECT  b FROM c)", Raw(("(", A, " IN (SELECT  b FROM c))"))),
        ("EXISTS(SELECT 1)", Raw(("EXISTS (SELECT 1)",))),
        ("((SELECT 1) UNION (SELECT 2))", Raw(("((SELECT 1) UNION (SELECT 2))",))),
        ("((SELECT 1) + 2)", op("+", Raw(("(SELECT 1)",)), TWO)),
        ("(values)", name("values")),
        ("(table + 1)", op("+", name("table"), ONE)),
    ],
)
def test_syntax_that_only_spark_knows(text: str, expected: Expression) -> None:
    assert parse_expression_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", "1"),
        ("2L", "2L"),
        (".5", ".5"),
        ("1.5e-3BD", "1.5e-3BD"),
        ("'it''s'", "'it''s'"),
        ("'a'   'b'", "'a' 'b'"),
        ("r'\\d'", "r'\\d'"),
        ("x'1F'", "x'1F'"),
        ("X '1F'", "X '1F'"),
        ('"d"', '"d"'),
        ("true", "TRUE"),
        ("Null", "NULL"),
        ("date '2020-01-01'", "DATE '2020-01-01'"),
        ("timestamp\n'2020-01-01'", "TIMESTAMP '2020-01-01'"),
        ("timestamp_ntz'x'", "TIMESTAMP_NTZ 'x'"),
        ("interval '1' day", "INTERVAL '1' DAY"),
        ("interval 5  minutes", "INTERVAL 5 MINUTES"),
        ("interval - 5 minutes", "INTERVAL -5 MINUTES"),
        ("interval '1-2' year to month", "INTERVAL '1-2' YEAR TO MONTH"),
        ("interval '2 hours 3 minutes'", "INTERVAL '2 hours 3 minutes'"),
        ("interval 1 day 2 hours", "INTERVAL 1 DAY 2 HOURS"),
        ("interval 1 day '2' hour", "INTERVAL 1 DAY '2' HOUR"),
    ],
)
def test_literals(text: str, expected: str) -> None:
    assert parse_expression_text(text) == Literal(expected)


COLUMN_WORDS = [
    "date", "timestamp", "interval", "key", "value", "values", "start", "end", "count", "first", "last", "prev",
    "next", "running", "final", "classifier", "match_number", "day", "hour", "filter", "over", "sum", "min",
    "row", "rows", "match", "pattern", "define", "measures", "subset", "within", "permute", "x", "r", "current",
    "year", "exists", "any", "all", "distinct", "cast", "extract",
]  # fmt: skip


@pytest.mark.parametrize("word", COLUMN_WORDS)
def test_words_that_can_be_columns(word: str) -> None:
    assert parse_expression_text(word) == name(word)
    assert parse_expression_text(f"{word} + a") == op("+", name(word), A)
    assert parse_expression_text(f"A.{word}") == name("A", word)
    assert parse_expression_text(f"`{word}`") == Name((Identifier(word, quoted=True),))


def test_names() -> None:
    assert parse_expression_text("A.x.y") == name("A", "x", "y")
    assert parse_expression_text("`a b`.`c``d`") == Name((Identifier("a b", True), Identifier("c`d", True)))
    assert parse_expression_text("A.from") == name("A", "from")
    assert parse_expression_text("größe") == name("größe")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("first(A.x)", Navigation("FIRST", name("A", "x"))),
        ("Last(x, 2)", Navigation("LAST", name("x"), TWO)),
        ("PREV(x, :n)", Navigation("PREV", name("x"), Parameter("n"))),
        ("NEXT(FIRST(A.x, 1), 2)", Navigation("NEXT", Navigation("FIRST", name("A", "x"), ONE), TWO)),
        ("FINAL LAST(x)", Navigation("LAST", name("x"), None, True)),
        ("running first(x)", Navigation("FIRST", name("x"), None, False)),
        ("running sum(A.x)", Aggregate("sum", (name("A", "x"),), final=False)),
        ("FINAL COUNT(*)", Aggregate("count", (Star(),), final=True)),
        ("count(U.*)", Aggregate("count", (Star(Identifier("U")),))),
        ("count(DISTINCT a, b)", Aggregate("count", (A, B), distinct=True)),
        ("sum(ALL a)", Aggregate("sum", (A,))),
        ("avg(a) FILTER (WHERE b > 1)", Aggregate("avg", (A,), condition=op(">", B, ONE))),
        ("max_by(a, b)", Aggregate("max_by", (A, B))),
        # Of a function that is not known to be an aggregate, its syntax may say so.
        ("corr(a, b)", Call("corr", (A, B))),
        ("corr(a, b) FILTER (WHERE b > 1)", Aggregate("corr", (A, B), condition=op(">", B, ONE))),
        ("bit_or(DISTINCT a)", Aggregate("bit_or", (A,), distinct=True)),
        ("my.agg(ALL a)", Aggregate("my.agg", (A,))),
        ("RUNNING bit_or(a)", Aggregate("bit_or", (A,), final=False)),
        ("FINAL my.agg(a)", Aggregate("my.agg", (A,), final=True)),
        ("first_value(a) IGNORE NULLS", Aggregate("first_value", (A,), nulls="IGNORE NULLS")),
        ("any_value(a IGNORE NULLS)", Aggregate("any_value", (A,), nulls="IGNORE NULLS")),
        ("last_value(a) respect nulls", Aggregate("last_value", (A,), nulls="RESPECT NULLS")),
        (
            "listagg(a) WITHIN GROUP (ORDER BY b DESC NULLS LAST, a) FILTER (WHERE b > 1)",
            Aggregate("listagg", (A,), condition=op(">", B, ONE), order=((B, " DESC NULLS LAST"), (A, ""))),
        ),
        ("mode() WITHIN GROUP (ORDER BY a)", Aggregate("mode", (), order=((A, ""),))),
        ("CLASSIFIER()", Classifier()),
        ("classifier(u)", Classifier(Identifier("u"))),
        ("MATCH_NUMBER ( )", MatchNumber()),
        ("running * final", op("*", name("running"), name("final"))),
        ("final IN (1)", op("IN", name("final"), ONE)),
        ("UPPER(a)", Call("upper", (A,))),
        ("f()", Call("f", ())),
        ("my.Func(a)", Call("my.func", (A,))),
        ("like(a, b)", Call("like", (A, B))),
        ("current_date", Call("current_date", ())),
        (":price_limit", Parameter("price_limit")),
        ("if(a, b, 1)", Call("if", (A, B, ONE))),
    ],
)
def test_calls(text: str, expected: Expression) -> None:
    assert parse_expression_text(text) == expected


def test_case() -> None:
    searched = parse_expression_text("CASE WHEN a THEN 1 WHEN b THEN 2 ELSE c END")
    assert searched == Case(((A, ONE), (B, TWO)), C)
    simple = parse_expression_text("case a when 1 then end end")
    assert simple == Case(((op("=", A, ONE), name("end")),))


def test_a_large_subject_of_case_is_not_repeated() -> None:
    text = "a"
    for _ in range(60):
        text = f"CASE {text} WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 4 END"
    assert sum(1 for _ in walk(parse_expression_text(text))) < 10_000


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("transform(xs, x -> x + A.y)", [name("xs"), name("A", "y")]),
        ("aggregate(xs, 0, (acc, x) -> acc + x.v * b, ACC -> acc)", [name("xs"), name("b")]),
        ("filter(xs, x -> exists(ys, y -> y = x AND y > LAST(A.z)))", [name("xs"), name("ys")]),
        ("transform(xs, x -> CASE a WHEN x THEN a END)", [name("xs"), A, A]),
    ],
)
def test_lambda_parameters_are_not_columns(text: str, rows: list[Name]) -> None:
    expression = parse_expression_text(text)
    outside = [node for node in walk(expression) if isinstance(node, Name)]
    assert [row for row in outside if row in rows] == rows
    assert all(part.text.upper() not in ("X", "ACC") for node in outside for part in node.parts[:1])
    assert parse_expression_text(str(expression)) == expression


def test_every_node_has_its_place() -> None:
    text = "upper(a) || 'x' = CASE WHEN LAST(A.b, 1) IN (1, 2) THEN sum(c) ELSE d END AND NOT x::int > -1"
    for node in walk(parse_expression_text(text)):
        assert node.span is not None, node
        assert text[node.span.start : node.span.end].strip() == text[node.span.start : node.span.end] != ""
    names = [node.span for node in walk(parse_expression_text(text)) if isinstance(node, Name)]
    assert [text[span.start : span.end] for span in names if span] == ["a", "A.b", "c", "d", "x"]


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("", QuerySyntaxError, ""),
        ("a +", QuerySyntaxError, ""),
        ("a + * b", QuerySyntaxError, "*"),
        ("a b", QuerySyntaxError, "b"),
        ("(a", QuerySyntaxError, "("),
        ("a)", QuerySyntaxError, ")"),
        ("()", QuerySyntaxError, ")"),
        ("a = NOT b", QuerySyntaxError, "NOT"),
        ("a IS NULL IS NULL", QuerySyntaxError, "IS"),
        ("a IS NULL = b", QuerySyntaxError, "="),
        ("a IS 5", QuerySyntaxError, "5"),
        ("a BETWEEN 1 OR 2", QuerySyntaxError, "OR"),
        ("a IN ()", QuerySyntaxError, ")"),
        ("a IN b", QuerySyntaxError, "b"),
        ("a AND AND b", QuerySyntaxError, "AND"),
        ("a LIKE 'x' ESCAPE b", QuerySyntaxError, "b"),
        ("CASE a END", QuerySyntaxError, "END"),
        ("CASE WHEN a THEN b", QuerySyntaxError, ""),
        ("CASE WHEN a b END", QuerySyntaxError, "b"),
        ("CAST(a INT)", QuerySyntaxError, "INT"),
        ("CAST(a AS decimal(10)", QuerySyntaxError, ""),
        ("A.*", QuerySyntaxError, "*"),
        ("f(*)", QuerySyntaxError, "*"),
        ("sum()", QuerySyntaxError, ")"),
        ("FIRST()", QuerySyntaxError, ")"),
        ("LAST(a, 1, 2)", QuerySyntaxError, ","),
        ("PREV(a IGNORE NULLS)", UnsupportedError, "IGNORE"),
        ("CLASSIFIER(1)", QuerySyntaxError, "1"),
        ("MATCH_NUMBER(a)", QuerySyntaxError, "a"),
        ("FINAL PREV(a)", QuerySyntaxError, "FINAL"),
        ("RUNNING CAST(a AS INT)", QuerySyntaxError, "RUNNING"),
        ("FINAL CLASSIFIER()", QuerySyntaxError, "FINAL"),
        ("FIRST(a) IGNORE NULLS", UnsupportedError, "IGNORE"),
        ("listagg(a) WITHIN GROUP (b)", QuerySyntaxError, "b"),
        ("listagg(a) WITHIN GROUP (ORDER BY a NULLS)", QuerySyntaxError, ")"),
        ("sum(a) OVER (ORDER BY b)", UnsupportedError, "sum(a) OVER"),
        ("f(a) OVER w", UnsupportedError, "f(a) OVER"),
        ("a > ?", UnsupportedError, "?"),
        ("a > {t}", QuerySyntaxError, "{"),
        ("a > :", QuerySyntaxError, ""),
        ("a > @x", QuerySyntaxError, "@"),
        ("a[1", QuerySyntaxError, ""),
        ("a.", QuerySyntaxError, ""),
        ("f(a", QuerySyntaxError, ""),
        ("1.a", QuerySyntaxError, "1.a"),
        ("ä = 'ö' = = b", QuerySyntaxError, "="),
        ("a::", QuerySyntaxError, ""),
        ("a::map<int", QuerySyntaxError, "<"),
        ("a = 'open", QuerySyntaxError, "'open"),
    ],
)
def test_mistakes(text: str, kind: type[TrellisError], word: str) -> None:
    with pytest.raises(kind) as caught:
        parse_expression_text(text)
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word
    if not word:
        assert "The text ends here" in error.problem
    assert str(error).count("^") == max(1, len(word))


@pytest.mark.parametrize(
    "shape",
    ["({})", "f({})", "NOT {}", "- {}", "a[{}]", "CASE WHEN {} THEN 1 END", "a IN (({}), 1)", "CAST({} AS INT)"],
)
def test_nesting_has_a_bound(shape: str) -> None:
    text = "x"
    for _ in range(MAX_DEPTH // 3):
        text = shape.format(text)
    parse_expression_text(text)
    for _ in range(2000):
        text = shape.format(text)
    with pytest.raises(QuerySyntaxError, match="nested too deeply"):
        parse_expression_text(text)


def test_long_chains() -> None:
    wide = parse_expression_text(" AND ".join(["a"] * 3000))
    assert isinstance(wide, Operator)
    assert len(wide.operands) == 3000
    with pytest.raises(QuerySyntaxError, match="nested too deeply"):
        parse_expression_text(" + ".join(["a"] * 3000))
