"""What is asked: the same for one seed, in the dialect of both sides."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, settings

from naive import NaiveQuery
from peers.expressions import expressions, map_expr, map_pattern
from peers.queries import COLUMNS, case_of, cases, peer_queries, table
from peers.trino_text import TYPES, clause, statement
from properties.render import render_clause


def test_one_seed_gives_one_list_without_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peers.queries.ROUND", 30)
    first = list(islice(cases(5, tables=2), 40))
    assert first == list(islice(cases(5, tables=2), 40))
    texts = [render_clause(case.query) for case in first]
    assert len(set(texts)) == 40
    assert texts != [render_clause(case.query) for case in islice(cases(6, tables=2), 40)]


@settings(max_examples=50)
@given(peer_queries())
def test_queries_have_nothing_that_trino_lacks(query: NaiveQuery) -> None:
    assert query.within is None
    assert query.define, "Trino needs DEFINE"
    assert not any(node[0] == "agg" and node[4] for node in expressions(query)), "no DISTINCT"
    assert query.order_by[-1][0] == "id", "a unique key, so that ties do not matter"


@settings(max_examples=50)
@given(peer_queries())
def test_walking_without_a_change_changes_nothing(query: NaiveQuery) -> None:
    assert map_pattern(lambda node: node, query.pattern) == query.pattern
    for _, expr in (*query.measures, *query.define):
        assert map_expr(lambda node: node, expr) == expr


def test_tables_are_told_apart_by_a_key() -> None:
    dice = random.Random(1)
    query = NaiveQuery(pattern=("var", "A"), partition_by=("k",))
    case = case_of(query, dice, 3, alone=False)
    assert case.query.partition_by == ("c", "k")
    assert [{row["c"] for row in rows} <= {number} for number, rows in enumerate(case.tables)] == [True] * 3
    alone = case_of(replace(query, partition_by=()), dice, 3, alone=True)
    assert alone.query.partition_by == ()
    assert len(alone.tables) == 1


def test_ids_are_unique() -> None:
    rows = table(random.Random(2), 0)
    assert len({row["id"] for row in rows}) == len(rows) > 0


def test_the_dialect_of_trino() -> None:
    x, y = ("col", None, "x"), ("col", "A", "y")
    query = NaiveQuery(
        pattern=("cat", (("start",), ("rep", ("var", "A"), 0, 2, False))),
        define=(("A", ("op", "<=>", (x, ("lit", None, "STRING")))),),
        measures=(
            ("m", ("op", "/", (x, ("lit", 2)))),
            ("n", ("call", "least", (y, ("lit", -0.5)))),
            ("o", ("call", "bin", (("match_number",),))),
        ),
        order_by=(("t", True, True), ("id", False, False)),
    )
    assert clause(query).split("\n") == [
        "ORDER BY t DESC NULLS FIRST, id NULLS LAST",
        "MEASURES ((1.0E0 * x) / 2) AS m, coalesce(least(A.y, (-0.5E0)), A.y, (-0.5E0)) AS n, "
        "to_base(MATCH_NUMBER(), 2) AS o",
        "ONE ROW PER MATCH",
        "AFTER MATCH SKIP PAST LAST ROW",
        "PATTERN ((^ A{,2}?))",
        "DEFINE A AS (x IS NOT DISTINCT FROM CAST(NULL AS VARCHAR))",
    ]


def test_rows_stand_in_the_statement() -> None:
    row = {"c": 0, "id": 3, "k": None, "t": 1, "x": 2, "y": 0.5, "s": "a", "b": True}
    text = statement(NaiveQuery(pattern=("var", "A")), [row])
    assert "JSON '[[0, 3, null, 1, 2, 0.5, \"a\", true]]'" in text
    assert list(TYPES) == COLUMNS
