"""Kernels are compiled once: every chunk has the same types as the one that warms them up."""

from __future__ import annotations

import numba
import pytest

import local
from trellis.execution.warmup import Kernels, _plan, kernels_of, warmup
from trellis.kernels import expressions, matches, measures
from trellis.kernels import opcodes as o
from trellis.planning.rows.automaton import backward_order
from trellis.planning.rows.merge_states import key_width, sets_of

# What interprets programs has a variant for decimals of more than 18 digits.
BOTH = [expressions.evaluate_rows, matches.find_matches]
KERNELS = [
    measures.find_aggregates,
    measures.find_places,
    measures.label_rows,
    measures.list_rows,
]

SCHEMA = [("k", "int"), ("t", "int"), ("x", "int"), ("y", "double"), ("s", "string")]
ROWS = [{"k": i // 7, "t": i, "x": i % 3, "y": float(i % 4), "s": "ab"[i % 2]} for i in range(40)]
QUERIES = [
    "PARTITION BY k ORDER BY t MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS x > PREV(x)",
    "ORDER BY t MEASURES LAST(s) AS z ALL ROWS PER MATCH PATTERN (A B+) WITHIN 3 DEFINE B AS B.y > A.y",
    "ORDER BY t ALL ROWS PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B+ C) WITHIN 3 DEFINE C AS x > 9",
    "ORDER BY t DESC ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B*) WITHIN 5 DEFINE A AS x > 0",
    "ORDER BY t MEASURES array_agg(x) AS l, max_by(s, y) AS m PATTERN (A B+ C) DEFINE C AS sum(B.x) > 2 AND s = A.s",
    "ORDER BY t PATTERN (A B+) DEFINE A AS x > 0, B AS CAST(B.x AS DECIMAL(20, 2)) > CAST(A.x AS DECIMAL(20, 2))",
    "ORDER BY t AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+) DEFINE B AS count(DISTINCT s) < 2 AND x / 2 < NEXT(y, 70)",
]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("search", ["auto", "backtrack"])
def test_no_query_compiles(search: str) -> None:
    warmup()
    for query in QUERIES:
        local.run(query, ROWS, SCHEMA, search=search)
    for kernel in BOTH:
        assert len(kernel.signatures) == 2, kernel.__name__
    for kernel in KERNELS:
        assert len(kernel.signatures) == 1, kernel.__name__


@pytest.mark.parametrize(
    ("type_", "needed"),
    [("decimal(18,2)", (Kernels.ROWS,)), ("decimal(19,2)", (Kernels.ROWS, Kernels.WIDE_DECIMALS))],
)
def test_plans_name_their_kernels(type_: str, needed: tuple[Kernels, ...]) -> None:
    clause = "ORDER BY t PATTERN (A B) DEFINE B AS B.d > A.d"
    assert kernels_of(local.plan_clause(clause, [("t", "int"), ("d", type_)]).scan) == needed


def test_what_planning_derives_of_the_plan() -> None:
    """The plan of the warm-up is written by hand; room that is too small would be written over."""
    plan = _plan(o.BIT)
    assert plan.backward == backward_order(plan.instructions)
    assert plan.sets == sets_of(plan.places, plan.aggregates)
    assert plan.measure_sets == sets_of(plan.measure_places, plan.measure_aggregates)
    assert plan.key_width == key_width(plan.merges)
