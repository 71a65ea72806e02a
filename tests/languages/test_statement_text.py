"""Statements: which clauses are found, and what is left."""

from __future__ import annotations

import pytest

from trellis.errors import BindingError, QuerySyntaxError, TrellisError, UnsupportedError
from trellis.languages.match_recognize import parse_clause_text
from trellis.languages.statement import parse_statement

BODY = "PATTERN (A+)"
M = f"MATCH_RECOGNIZE ({BODY})"


@pytest.mark.parametrize(
    ("text", "final", "inputs"),
    [
        ("SELECT 1", "SELECT 1", []),
        ("SELECT 1 ; ", "SELECT 1", []),
        (f"SELECT * FROM t {M}", "SELECT * FROM {trellis_match_0}", ["t"]),
        (f"SELECT * FROM t {M} AS m;", "SELECT * FROM {trellis_match_0} AS m", ["t"]),
        (f"SELECT * FROM a.`b c` {M} m (x, y)", "SELECT * FROM {trellis_match_0} m (x, y)", ["a.`b c`"]),
        (f"SELECT * FROM {{df}} {M}", "SELECT * FROM {trellis_match_0}", ["{df}"]),
        (f"SELECT * FROM t AS u (a, b) {M}", "SELECT * FROM {trellis_match_0}", ["t AS u (a, b)"]),
        (f"SELECT * FROM t u {M}", "SELECT * FROM {trellis_match_0}", ["t u"]),
        (f"SELECT * FROM (SELECT * FROM t) AS u {M}", "SELECT * FROM {trellis_match_0}", ["(SELECT * FROM t) AS u"]),
        (f"SELECT * FROM (t) {M}", "SELECT * FROM {trellis_match_0}", ["(t)"]),
        (f"SELECT * FROM range(10) {M}", "SELECT * FROM {trellis_match_0}", ["range(10)"]),
        (
            f"SELECT * FROM t TABLESAMPLE (5 ROWS) x {M}",
            "SELECT * FROM {trellis_match_0}",
            ["t TABLESAMPLE (5 ROWS) x"],
        ),
        (f"SELECT * FROM u, t {M}, v", "SELECT * FROM u, {trellis_match_0}, v", ["t"]),
        (f"SELECT * FROM u JOIN t {M} ON 1 = 1", "SELECT * FROM u JOIN {trellis_match_0} ON 1 = 1", ["t"]),
        (f"SELECT * FROM t {M} LEFT JOIN u USING (a)", "SELECT * FROM {trellis_match_0} LEFT JOIN u USING (a)", ["t"]),
        (f"SELECT * FROM u, LATERAL (SELECT 1) {M}", "SELECT * FROM u, LATERAL {trellis_match_0}", ["(SELECT 1)"]),
        (
            f"SELECT * FROM VALUES (1, 2), (3, 4) AS v(a, b) {M}",
            "SELECT * FROM {trellis_match_0}",
            ["VALUES (1, 2), (3, 4) AS v(a, b)"],
        ),
        (f"SELECT * FROM VALUES 1, 2 {M}", "SELECT * FROM {trellis_match_0}", ["VALUES 1, 2"]),
        (f"SELECT * FROM VALUES (1), (2) v, t {M}", "SELECT * FROM VALUES (1), (2) v, {trellis_match_0}", ["t"]),
        (f"SELECT * FROM u, VALUES (1), (2) v {M}", "SELECT * FROM u, {trellis_match_0}", ["VALUES (1), (2) v"]),
        (
            f"SELECT * FROM t {M} AS m {M} AS n",
            "SELECT * FROM {trellis_match_1} AS n",
            ["t", "{trellis_match_0} AS m"],
        ),
        (
            f"SELECT * FROM (SELECT * FROM t {M}) {M}",
            "SELECT * FROM {trellis_match_1}",
            ["t", "(SELECT * FROM {trellis_match_0})"],
        ),
        (
            f"SELECT * FROM a {M} UNION ALL (SELECT * FROM b {M})",
            "SELECT * FROM {trellis_match_0} UNION ALL (SELECT * FROM {trellis_match_1})",
            ["a", "b"],
        ),
        (f"FROM t {M} |> WHERE a", "FROM {trellis_match_0} |> WHERE a", ["t"]),
        (f"SELECT * FROM (t {M} JOIN u)", "SELECT * FROM ({trellis_match_0} JOIN u)", ["t"]),
        (
            f"SELECT * FROM t WHERE a IN (SELECT b FROM u {M})",
            "SELECT * FROM t WHERE a IN (SELECT b FROM {trellis_match_0})",
            ["u"],
        ),
        (f"CREATE TABLE r AS SELECT * FROM t {M}", "CREATE TABLE r AS SELECT * FROM {trellis_match_0}", ["t"]),
        (f"SELECT extract(day FROM x) FROM t {M}", "SELECT extract(day FROM x) FROM {trellis_match_0}", ["t"]),
        (
            f"SELECT /*+ REBALANCE */ 'é' FROM ü -- {M}\n {M} -- end",
            "SELECT /*+ REBALANCE */ 'é' FROM {trellis_match_0} -- end",
            ["ü"],
        ),
        (f"select * from T match_recognize({BODY})", "select * from {trellis_match_0}", ["T"]),
    ],
)
def test_relations(text: str, final: str, inputs: list[str]) -> None:
    statement = parse_statement(text)
    assert statement.text == text
    assert statement.final == final
    assert [clause.input for clause in statement.clauses] == inputs
    assert [clause.name for clause in statement.clauses] == [f"trellis_match_{n}" for n in range(len(inputs))]
    for clause in statement.clauses:
        assert clause.query == parse_clause_text(BODY)
        assert clause.span is not None
        assert text[clause.span.start : clause.span.end].lower().endswith(f"({BODY})".lower())


@pytest.mark.parametrize(
    "text",
    [
        "SELECT match_recognize FROM t",
        "SELECT a.match_recognize, match_recognize.b FROM match_recognize",
        "SELECT match_recognize(x) FROM t WHERE match_recognize(y) > (1 + match_recognize(z))",
        "SELECT * FROM match_recognize(5)",
        "SELECT * FROM t AS match_recognize (a, b)",
        "SELECT * FROM t match_recognize WHERE match_recognize.x = 1",
        f"SELECT '{M}', \"FROM t {M}\" FROM `t {M}`",
        f"SELECT 1 /* FROM t {M} */ -- FROM t {M}",
        "SELECT sum(x) OVER (PARTITION BY pattern ORDER BY define, pattern(y)) FROM t WINDOW w AS (ORDER BY measures)",
        "BEGIN SELECT 1; SELECT 2; END",
        "SELECT transform(xs, x -> x + 1), a::int, :p, x[0] FROM {t} WHERE y <=> 'é;'",
    ],
)
def test_what_is_no_clause(text: str) -> None:
    statement = parse_statement(text)
    assert statement.final == text
    assert statement.clauses == ()


def test_table_expressions() -> None:
    statement = parse_statement(
        f"""WITH a AS (SELECT * FROM t {M}), b (x) AS (SELECT * FROM a {M}), c AS MATERIALIZED (SELECT 3)
        SELECT * FROM b {M}, (WITH d AS (SELECT 4) SELECT * FROM d {M}), e {M}"""
    )
    a = "a AS (SELECT * FROM {trellis_match_0})"
    b = "b (x) AS (SELECT * FROM {trellis_match_1})"
    c = "c AS MATERIALIZED (SELECT 3)"
    assert [(clause.input, clause.ctes) for clause in statement.clauses] == [
        ("t", ""),
        ("a", f"WITH {a}"),
        ("b", f"WITH {a}, {b}, {c}"),
        ("d", f"WITH {a}, {b}, {c}, d AS (SELECT 4)"),
        ("e", f"WITH {a}, {b}, {c}"),
    ]
    assert statement.final.startswith(f"WITH {a}, {b}, {c}")


def test_table_expressions_end_with_their_brackets() -> None:
    statement = parse_statement(f"SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) x, t {M}")
    assert statement.clauses[0].ctes == ""


def test_recursive_table_expressions() -> None:
    statement = parse_statement(f"WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT * FROM a {M}")
    assert statement.clauses[0].ctes == "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a)"


def test_a_subquery_in_a_condition_has_its_clauses_replaced() -> None:
    statement = parse_statement(
        f"""WITH c AS (SELECT 1) SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A)
        DEFINE A AS x > (SELECT max(y) FROM c {M} z) AND w IN (SELECT v FROM u {M}))"""
    )
    assert [clause.input for clause in statement.clauses] == ["c", "u", "t"]
    assert statement.clauses[0].ctes == "WITH c AS (SELECT 1)"
    condition = str(statement.clauses[2].query.definitions[0].condition)
    assert condition == ("(x > (SELECT max(y) FROM {trellis_match_0} z)) AND (w IN (SELECT v FROM {trellis_match_1}))")
    assert statement.final == "WITH c AS (SELECT 1) SELECT * FROM {trellis_match_2}"


def test_places_are_those_of_the_statement() -> None:
    text = "SELECT 'é😀' FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS `größe` > 1)"
    condition = parse_statement(text).clauses[0].query.definitions[0].condition
    assert condition.span is not None
    assert text[condition.span.start : condition.span.end] == "`größe` > 1"


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("", QuerySyntaxError, ""),
        (" ; ", QuerySyntaxError, " "),
        ("SELECT 1; SELECT 2", QuerySyntaxError, "SELECT"),
        (f"BEGIN SELECT * FROM t {M}; END", UnsupportedError, ";"),
        ("SELECT (1", QuerySyntaxError, "("),
        ("SELECT 1)", QuerySyntaxError, ")"),
        ("SELECT (1]", QuerySyntaxError, "]"),
        ("SELECT 'a", QuerySyntaxError, "'a"),
        (f"SELECT {M}", QuerySyntaxError, "MATCH_RECOGNIZE"),
        (f"SELECT * FROM {M}", QuerySyntaxError, "MATCH_RECOGNIZE"),
        (f"SELECT * FROM t, {M}", QuerySyntaxError, "MATCH_RECOGNIZE"),
        (f"SELECT * FROM a JOIN b ON a.x = b.x {M}", QuerySyntaxError, "MATCH_RECOGNIZE"),
        (f"SELECT * FROM t WHERE x {M}", QuerySyntaxError, "MATCH_RECOGNIZE"),
        (f"t {M}", QuerySyntaxError, "MATCH_RECOGNIZE"),
        ("SELECT * FROM t MATCH_RECOGNIZE", QuerySyntaxError, ""),
        ("SELECT * FROM t MATCH_RECOGNIZE (", QuerySyntaxError, "("),
        ("SELECT * FROM t MATCH_RECOGNIZE ()", QuerySyntaxError, ")"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x >)", QuerySyntaxError, ")"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE B AS 1)", BindingError, "B"),
        ("SELECT 'é', (SELECT 1 FROM t MATCH_RECOGNIZE (PATTERN (A**)))", QuerySyntaxError, "*"),
        (f"WITH a AS (SELECT 1) SELECT * FROM (WITH a AS (SELECT 2) SELECT * FROM a {M})", UnsupportedError, "a"),
        (
            "SELECT sum(x) OVER (ORDER BY b ROWS BETWEEN CURRENT ROW AND 5 FOLLOWING PATTERN (A) DEFINE A AS y)",
            UnsupportedError,
            "PATTERN",
        ),
        (
            "SELECT m OVER w FROM t WINDOW v AS (ORDER BY a), w AS (ORDER BY b MEASURES 1 AS m INITIAL PATTERN (A))",
            UnsupportedError,
            "PATTERN",
        ),
        ("SELECT " + "(" * 1000 + "1" + ")" * 1000, QuerySyntaxError, "("),
    ],
)
def test_mistakes(text: str, kind: type[TrellisError], word: str) -> None:
    with pytest.raises(kind) as caught:
        parse_statement(text)
    error = caught.value
    assert error.text == text
    assert error.span is not None
    assert text[error.span.start : error.span.end] == word


def test_the_message_shows_the_line() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_statement("SELECT *\nFROM t MATCH_RECOGNIZE (\n  PATTERN (A+ +)\n)")
    assert "line 3:   PATTERN (A+ +)\n                      ^" in str(caught.value)


@pytest.mark.parametrize(
    ("relation", "qualifier"),
    [
        ("ticks", ("ticks",)),
        ("db.ticks", ("db", "ticks")),
        ("spark_catalog.`my db`.ticks", ("spark_catalog", "my db", "ticks")),
        ("ticks AS t", ("t",)),
        ("ticks t", ("t",)),
        ("db.ticks AS `T t`", ("T t",)),
        ("{ticks}", ()),
        ("{ticks} AS t", ("t",)),
        ("{ticks} t", ("t",)),
        ("(SELECT * FROM ticks)", ()),
        ("(SELECT * FROM ticks) AS t", ("t",)),
        ("(SELECT * FROM ticks) t", ("t",)),
        ("(SELECT * FROM ticks) AS t (a, b)", ("t",)),
        ("(SELECT * FROM ticks) t (a, b)", ("t",)),
        ("VALUES (1, 2), (3, 4) AS t (a, b)", ("t",)),
        ("range(10)", ()),
        ("range(10) AS t", ("t",)),
        ("ticks TABLESAMPLE (5 ROWS)", ("ticks",)),
        ("ticks TABLESAMPLE (5 ROWS) AS t", ("t",)),
        ("ticks VERSION AS OF 3", ("ticks",)),
    ],
)
def test_names_that_may_stand_before_columns(relation: str, qualifier: tuple[str, ...]) -> None:
    assert parse_statement(f"SELECT * FROM {relation} {M}").clauses[0].qualifier == qualifier
