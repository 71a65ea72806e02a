"""How the work of a search grows with the rows, counted in steps by means of `step_budget`; never in seconds.

The big sizes are for compiled kernels only.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

import local
from trellis.errors import ResourceError

_SCHEMA = [("k", "string"), ("id", "int"), ("x", "int")]
_COMPILED = os.environ.get("NUMBA_DISABLE_JIT") != "1"
_SIZES = (3_000, 30_000) if _COMPILED else (200, 400)
_STEPS_PER_ROW = 50

# Each never matches on equal rows, and each way to split the rows between the variables has to be ruled out.
_HOPELESS = {
    "row-local": "PATTERN (A+ B+) DEFINE B AS x > 5",
    "row-local, five loops": "PATTERN (A+ B+ C+ D+ E) DEFINE E AS x > 5",
    "row-local, nested": "PATTERN ((A+ | B)+ C) DEFINE C AS x > 5",
    "neighbour": "PATTERN (A+ B+) DEFINE B AS x > PREV(x)",
    "last row of a variable": "PATTERN (A+ B+) DEFINE B AS B.x > A.x",
    "last rows": "PATTERN ((A | B)+ C) DEFINE C AS C.x > LAST(x, 2)",
    "last rows of two variables": "PATTERN ((A B)+ C) DEFINE C AS C.x > A.x + B.x",
    "match number": "PATTERN (A+ B+) DEFINE B AS x > 5 + MATCH_NUMBER()",
}


def equal_rows(count: int, key: str = "k1") -> list[dict[str, Any]]:
    return [{"k": key, "id": number, "x": 1} for number in range(count)]


@pytest.mark.parametrize("count", _SIZES)
@pytest.mark.parametrize("clause", _HOPELESS.values(), ids=_HOPELESS)
def test_steps_grow_as_the_rows_do(clause: str, count: int) -> None:
    options = {"search": "backtrack", "step_budget": _STEPS_PER_ROW * count}
    assert local.run(f"PARTITION BY k ORDER BY id {clause}", equal_rows(count), _SCHEMA, **options) == []


@pytest.mark.parametrize("clause", _HOPELESS.values(), ids=_HOPELESS)
def test_the_table_of_ends_gives_the_same(clause: str) -> None:
    assert local.run(f"PARTITION BY k ORDER BY id {clause}", equal_rows(_SIZES[0]), _SCHEMA) == []


@pytest.mark.parametrize("clause", _HOPELESS.values(), ids=_HOPELESS)
def test_without_merging_the_budget_ends_it_with_an_error_that_names_the_place(clause: str) -> None:
    rows = [{"k": "k0", "id": 0, "x": 1}, *equal_rows(_SIZES[0], "k1")]
    options = {"search": "backtrack", "step_budget": _STEPS_PER_ROW * len(rows), "off": ["merge_states"]}
    with pytest.raises(ResourceError) as caught:
        local.run(f"PARTITION BY k ORDER BY id {clause}", rows, _SCHEMA, **options)
    assert "'k1'" in str(caught.value)
    assert "row " in str(caught.value)
    assert f"{options['step_budget']:,}" in str(caught.value)
    assert "step_budget" in str(caught.value)


def test_the_budget_is_for_each_partition() -> None:
    rows = [row for key in range(50) for row in equal_rows(20, f"k{key:02}")]
    clause = "PARTITION BY k ORDER BY id PATTERN (A+ B) DEFINE B AS x > 5"
    options = {"search": "backtrack", "step_budget": _STEPS_PER_ROW * 20}
    assert local.run(clause, rows, _SCHEMA, **options) == []


def test_a_budget_never_drops_a_match() -> None:
    """Either every match is found, or there is an error."""
    rows = equal_rows(30)
    rows[-1]["x"] = 9
    clause = "PARTITION BY k ORDER BY id MEASURES count(*) AS n PATTERN ((A | B)+ C) DEFINE C AS C.x > LAST(x, 1) + 1"
    for budget in (1, 10, 100, 1_000, 10_000, 100_000):
        try:
            found = local.run(clause, rows, _SCHEMA, step_budget=budget)
        except ResourceError:
            continue
        assert found == [{"k": "k1", "n": 30}]


@pytest.mark.parametrize(
    "define",
    ["A AS x > 0", "A AS A.x >= FIRST(A.x)", "A AS count(*) > 0", "A AS sum(x) > 0 AND count(DISTINCT x) = 1"],
)
@pytest.mark.parametrize("search", ["auto", "backtrack"])
def test_one_long_match(define: str, search: str) -> None:
    count = 60_000 if _COMPILED else 500
    clause = (
        "ORDER BY id MEASURES count(*) AS n, FIRST(id) AS lo, LAST(id) AS hi, sum(x) AS total "
        f"PATTERN (A+) DEFINE {define}"
    )
    found = local.run(clause, equal_rows(count), _SCHEMA, search=search, batch_rows=10_000)
    assert found == [{"n": count, "lo": 0, "hi": count - 1, "total": count}]


def test_many_tiny_partitions() -> None:
    count = 20_000 if _COMPILED else 200
    rows = [
        {"k": f"{key:06}", "id": 3 * key + at, "x": at if key % 2 else -at} for key in range(count) for at in range(3)
    ]
    clause = """PARTITION BY k ORDER BY id MEASURES MATCH_NUMBER() AS m, count(UP.*) AS n, LAST(id) AS hi
        PATTERN (A UP+) DEFINE UP AS x > PREV(x)"""
    found = local.run(clause, rows, _SCHEMA, batch_rows=5_000)
    assert found == [{"k": f"{key:06}", "m": 1, "n": 2, "hi": 3 * key + 2} for key in range(1, count, 2)]


@pytest.mark.parametrize("search", ["auto", "backtrack"])
def test_chunks_and_batches_never_change_the_result(search: str) -> None:
    lengths = (1, 5, 2, 7, 3, 1, 1, 4)
    rows = [
        {"k": f"k{key}", "id": 10 * key + at, "x": (at * 7 + key) % 5}
        for key, length in enumerate(lengths)
        for at in range(length)
    ]
    clause = """PARTITION BY k ORDER BY id
        MEASURES MATCH_NUMBER() AS m, CLASSIFIER() AS c, RUNNING sum(x) AS s, FINAL array_agg(id) AS ids, NEXT(x) AS nx
        ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A UP+) DEFINE UP AS UP.x > PREV(UP.x) AND count(*) < 4"""
    whole = local.run(clause, rows, _SCHEMA, search=search)
    assert len(whole) == len(rows)
    for chunk_rows in (1, 2, 3, 5, 8, 100):
        for batch_rows in (1, 2, 3, 5, 8, 100):
            options = {"search": search, "chunk_rows": chunk_rows, "batch_rows": batch_rows}
            assert local.run(clause, rows, _SCHEMA, **options) == whole
