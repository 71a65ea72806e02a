"""What is left of a case when all that does not matter is gone."""

from __future__ import annotations

from naive import NaiveQuery, Row
from peers.expressions import expressions, pattern_nodes
from peers.minimise import Rows, minimise

QUERY = NaiveQuery(
    pattern=(
        "cat",
        (
            (
                "alt",
                (("var", "A"), ("rep", ("cat", (("var", "B"), ("rep", ("var", "D"), 2, 3, False))), 1, None, True)),
            ),
            ("perm", (("var", "A"), ("var", "C"), ("excl", ("var", "B")))),
            ("end",),
        ),
    ),
    define=(
        ("A", ("op", ">", (("col", None, "x"), ("nav", "PREV", ("col", None, "x"), 2, None)))),
        ("B", ("lit", True)),
    ),
    subsets=(("U", ("A", "B")),),
    measures=(
        ("m0", ("match_number",)),
        ("m1", ("op", "+", (("agg", "sum", (("col", "U", "x"),), None, False, "FINAL"), ("lit", 2)))),
    ),
    partition_by=("c", "k"),
    order_by=(("t", True, False), ("id", True, False)),
    rows_per_match="ALL_OMIT_EMPTY",
    skip=("LAST", "B"),
)


def table(size: int) -> Rows:
    rows: list[Row] = [
        {"c": 0, "id": id_, "k": id_ % 2, "t": id_, "x": id_, "y": 0.5, "s": "b", "b": None} for id_ in range(size)
    ]
    return tuple(rows)


def test_nothing_is_left_of_a_case_that_always_differs() -> None:
    query, rows = minimise(QUERY, table(14), lambda query, rows: True)
    assert rows == ()
    assert query == NaiveQuery(pattern=("var", "A"), order_by=(("id", False, True),))


def test_what_matters_stays() -> None:
    def shows(query: NaiveQuery, rows: Rows) -> bool:
        looping = any(node[0] == "rep" and node[1] == ("var", "D") for node in pattern_nodes(query.pattern))
        summing = any(node[:2] == ("agg", "sum") for node in expressions(query))
        return looping and summing and sum(row["x"] > 4 for row in rows) >= 2 and query.skip[0] == "LAST"

    query, rows = minimise(QUERY, table(14), shows)
    # SKIP speaks of B and the sum of U, so both stay in the query.
    assert query == NaiveQuery(
        pattern=("cat", (("var", "B"), ("rep", ("var", "D"), 0, 1, True))),
        subsets=(("U", ("B",)),),
        measures=(("m1", ("agg", "sum", (("col", "U", "x"),), None, False, None)),),
        order_by=(("id", False, True),),
        skip=("LAST", "B"),
    )
    assert len(rows) == 2
    assert all(
        row == {"c": 0, "id": row["id"], "k": 1, "t": 0, "x": row["x"], "y": 0.0, "s": "a", "b": True} for row in rows
    )


def test_a_case_that_cannot_shrink_is_returned() -> None:
    assert minimise(QUERY, table(3), lambda query, rows: False) == (QUERY, table(3))
