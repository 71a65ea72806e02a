"""Trap 11: names."""

from __future__ import annotations

from typing import Any

import pytest

import local
from trellis.analysis.bind_query import bind_query
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.errors import BindingError, TrellisError
from trellis.languages.match_recognize import parse_clause_text

_SCHEMA = [
    ("a", "int"),
    ("B", "int"),
    ("first", "int"),
    ("my col", "int"),
    ("price", "int"),
    ("üñ", "int"),
    ("x`y", "int"),
]


def rows_of(*values: int) -> list[dict[str, Any]]:
    names = [name for name, _ in _SCHEMA]
    return [dict.fromkeys(names, value) for value in values]


def run(clause: str, *values: int) -> list[dict[str, Any]]:
    return local.run(f"ORDER BY a {clause}", rows_of(*(values or (1, 2, 3))), _SCHEMA)


def test_a_variable_with_the_name_of_a_column() -> None:
    """`a` alone is the column, `a.price` the column price of the variable A."""
    assert run("MEASURES a AS c, a.price AS p, A.a AS v PATTERN (A B) DEFINE B AS b > a") == []
    assert run("MEASURES a AS c, a.price AS p, A.a AS v, b AS d PATTERN (A B) DEFINE B AS b.b > a.a") == [
        {"c": 2, "p": 1, "v": 1, "d": 2}
    ]


def test_a_variable_alone_is_not_a_value() -> None:
    with pytest.raises(BindingError) as caught:
        run("MEASURES V AS c PATTERN (V)")
    assert "V" in caught.value.problem
    assert caught.value.cure


@pytest.mark.parametrize(
    "name",
    "FIRST LAST PREV NEXT PATTERN DEFINE MEASURES SUBSET PERMUTE FINAL RUNNING CLASSIFIER MATCH_NUMBER COUNT SUM ONE "
    "ALL ROWS AFTER SKIP TO PAST ROW MATCH EMPTY WITHIN ORDER PARTITION BY AS SELECT FROM WHERE AND OR NOT NULL TRUE "
    "CASE END DATE INTERVAL X D L Y".split(),
)
@pytest.mark.parametrize("quoted", [False, True])
def test_a_variable_with_the_name_of_a_keyword(name: str, quoted: bool) -> None:
    """Quoted, every keyword is a name. Plain, it is a name or an error of Trellis, never something else."""
    variable = f"`{name}`" if quoted else name
    clause = f"""MEASURES {variable}.price AS p, count({variable}.*) AS n, CLASSIFIER({variable}) AS c
        AFTER MATCH SKIP TO NEXT ROW PATTERN ({variable}+ {variable}{{1}}) SUBSET U_ = ({variable})
        DEFINE {variable} AS {variable}.price > 1 OR count({variable}.*) > 0"""
    try:
        found = run(clause)
    except TrellisError:
        assert not quoted
        return
    assert found == [{"p": 3, "n": 3, "c": name}, {"p": 3, "n": 2, "c": name}]


def test_plain_names_of_variables_have_no_case() -> None:
    clause = (
        "MEASURES Down.price AS p, CLASSIFIER() AS c, count(dOWN.*) AS n PATTERN (s down+) DEFINE DOWN AS price > 1"
    )
    assert run(clause) == [{"p": 3, "c": "DOWN", "n": 2}]


def test_quoted_names_of_variables_have_case() -> None:
    clause = """MEASURES `v`.price AS small, V.price AS large, array_agg(CLASSIFIER()) AS labels
        PATTERN (V `v`+) DEFINE `v` AS `v`.price > V.price"""
    assert run(clause) == [{"small": 3, "large": 1, "labels": ["V", "v", "v"]}]
    # A plain name is in upper case, so `V` is V.
    assert run("MEASURES `V`.price AS p PATTERN (v) DEFINE `V` AS V.price = 2") == [{"p": 2}]
    with pytest.raises(BindingError):
        run("PATTERN (A) DEFINE `a` AS TRUE")


def test_names_of_columns_have_no_case_quoted_or_not() -> None:
    assert run("MEASURES PRICE AS p, `PRICE` AS q, V.`My Col` AS m, `üñ` AS u PATTERN (^ V)") == [
        {"p": 1, "q": 1, "m": 1, "u": 1}
    ]


def test_strange_columns() -> None:
    clause = "MEASURES `x``y` AS m, `first` AS f, FIRST(`first`) AS g, first(first) AS h, V.first AS i PATTERN (^ V V)"
    assert run(clause) == [{"m": 2, "f": 2, "g": 1, "h": 1, "i": 2}]


def test_strange_measures() -> None:
    clause = "MEASURES price AS `select`, price AS `a b`, price AS `x``y`, price AS `ü`, price AS end PATTERN (^ V)"
    assert run(clause) == [{"select": 1, "a b": 1, "x`y": 1, "ü": 1, "end": 1}]


@pytest.mark.parametrize("clause", ["PATTERN (V) DEFINE V AS ticks.price > 1", "MEASURES ticks.price AS m PATTERN (V)"])
def test_the_name_of_a_table(clause: str) -> None:
    with pytest.raises(BindingError) as caught:
        run(clause)
    assert "ticks" in caught.value.problem
    assert "table" in (caught.value.cure or "")


def test_unknown_columns_come_with_a_suggestion() -> None:
    with pytest.raises(BindingError) as caught:
        run("PATTERN (V) DEFINE V AS V.prise > 1")
    assert "prise" in caught.value.problem
    assert "price" in (caught.value.cure or "")
    with pytest.raises(BindingError, match="prise"):
        run("MEASURES prise AS p PATTERN (V)")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("V? W", 2),
        ("V?? W", 1),
        ("V+? W", 2),
        ("V*? W", 1),
        ("V{0,2}? W", 1),
        ("V{1}? W", 2),
        ("(V ?) W", 2),
        ("V ? ? W", 1),
    ],
)
def test_question_marks_are_quantifiers(pattern: str, expected: int) -> None:
    """Never parameter markers."""
    assert run(f"MEASURES count(*) AS n PATTERN (^ {pattern})") == [{"n": expected}]


@pytest.mark.parametrize(
    "clause",
    [
        "PATTERN (A B) DEFINE C AS TRUE",
        "PATTERN (A) DEFINE A AS TRUE, A AS TRUE",
        "PATTERN (A) DEFINE A AS TRUE, a AS TRUE",
        "PATTERN (A B) SUBSET A = (B)",
        "PATTERN (A B) SUBSET U = (A), U = (B)",
        "PATTERN (A B) SUBSET U = (C)",
        "PATTERN (A B) SUBSET U = (A), V = (U)",
        "PATTERN (A B) SUBSET U = (A) DEFINE U AS TRUE",
        "MEASURES price AS p, price AS P PATTERN (A)",
        "MEASURES price AS p PATTERN (U) SUBSET U = (A)",
    ],
)
def test_names_that_clash(clause: str) -> None:
    with pytest.raises(BindingError) as caught:
        run(clause)
    assert caught.value.span is not None


@pytest.mark.parametrize(
    "clause",
    [
        "MEASURES price AS price ALL ROWS PER MATCH PATTERN (V)",
        "MEASURES price + 1 AS `PRICE` ALL ROWS PER MATCH PATTERN (V)",
        "MEASURES price AS a ALL ROWS PER MATCH PATTERN (V)",
    ],
)
def test_a_measure_with_the_name_of_a_column_that_is_shown(clause: str) -> None:
    """Two columns of one name could not be told apart in the statement around."""
    with pytest.raises(BindingError):
        run(clause)


def test_one_row_per_match_shows_no_columns_to_clash_with() -> None:
    assert run("MEASURES price + 1 AS price PATTERN (^ V)") == [{"price": 2}]


def keys_of(clause: str, qualifier: tuple[str, ...], pattern: str = "V") -> list[tuple[str, str]]:
    """The keys of a clause over `FROM qualifier`: names in the result, and expressions."""
    columns = (("price", "int"), ("x", "int"), ("t", "struct<x: int, z: int>"))
    source = Source(Schema(columns, qualifier=qualifier), lambda asked: ["int" for _ in asked])
    bound = bind_query(parse_clause_text(f"{clause} PATTERN ({pattern})"), source)
    return [(name, str(expression)) for name, expression in (*bound.partition_by, *bound.order_by)]


def test_the_alias_of_the_input_before_keys() -> None:
    assert keys_of("PARTITION BY t.x ORDER BY T.price DESC", ("t",)) == [("x", "`x`"), ("price", "`price`")]
    assert keys_of("ORDER BY abs(t.x) + `t`.`price`", ("t",)) == [("order_1", "abs(`x`) + `price`")]
    assert keys_of("ORDER BY t.x", ("t",), pattern="T") == [("x", "`x`")]
    # The alias goes before the column of its name, as in Spark.
    assert keys_of("ORDER BY t.t.x", ("t",)) == [("x_", "`t`.`x`")]
    assert keys_of("ORDER BY t.z", ("t",)) == [("z", "`t`.`z`")]


def test_the_name_of_a_table_before_keys() -> None:
    for name in ("u.x", "db.u.x", "cat.db.u.x"):
        assert keys_of(f"PARTITION BY {name}", ("cat", "db", "u")) == [("x", "`x`")]
    for name in ("db.x", "cat.u.x", "w.x"):
        with pytest.raises(BindingError) as caught:
            keys_of(f"PARTITION BY {name}", ("cat", "db", "u"))
        assert "alias" in (caught.value.cure or "")


def test_the_alias_stands_before_keys_only() -> None:
    with pytest.raises(BindingError, match="u is neither"):
        keys_of("MEASURES u.x AS m", ("u",))


@pytest.mark.parametrize(
    "clause",
    [
        "MEASURES first(S.price) AS price ALL ROWS PER MATCH PATTERN (S) DEFINE SEGMENT S AS window(1, 2)",
        "MEASURES first(S.price) AS `PRICE` ALL ROWS PER MATCH PATTERN (S) DEFINE SEGMENT S AS window(1, 2)",
        "MEASURES first(S.price) AS a ALL ROWS PER MATCH PATTERN (S) DEFINE SEGMENT S AS window(1, 2)",
    ],
)
def test_a_measure_of_segments_with_the_name_of_a_column_that_is_shown(clause: str) -> None:
    with pytest.raises(BindingError, match="two columns"):
        local.plan_clause(f"ORDER BY a {clause}", _SCHEMA)


def test_measures_that_nobody_named_take_no_name_of_a_key() -> None:
    clause = "PARTITION BY match_start ORDER BY x PATTERN (S) DEFINE SEGMENT S AS window(1, 2)"
    plan = local.plan_clause(clause, [("match_start", "int"), ("x", "int")])
    assert [name for name, _ in plan.finished] == ["match_start", "match_start_", "match_end"]
