"""Row patterns that are rewritten into segments give the same rows as the search for row patterns."""

from __future__ import annotations

from typing import Any

import numba
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st

import local
import local_segments
from trellis.algebra.query import Query
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.rows.rewrite_rows import rewrite_rows

SCHEMA = [("k", "int"), ("t", "int"), ("v", "double"), ("u", "int")]
NAMES = ("A", "B", "C", "D")

quantifiers = st.sampled_from(("", "*", "+", "?", "{2}", "{1,3}", "*?", "+?", "{2,}?"))
locals_ = st.sampled_from(("v > 1", "u <= PREV(u)", "{}.v < 3", "u IS NOT NULL"))
stretches = st.sampled_from(
    (
        "last({0}.v) > first({0}.v)",
        "last({0}.v) - first({0}.v) <= 1",
        "count({0}.*) >= 2",
        "max({0}.u) < 3 AND min({0}.v) >= 0",
        "avg({0}.v) > 1.26",
        "first({0}.u, 1) = 2",
        "{0}.v <> 2",
        "count({0}.v) BETWEEN 1 AND 3",
    )
)
rows = st.lists(
    st.tuples(st.integers(1, 2), st.sampled_from((None, 0.0, 1.0, 2.0, 3.0)), st.sampled_from((None, 0, 1, 2, 3))),
    max_size=9,
)


@st.composite
def clauses(draw: st.DrawFn) -> str:
    """Variables with quantifiers, then Z once, whose condition speaks of the others and of a subset."""
    names = NAMES[: draw(st.integers(1, 4))]
    pattern = " ".join(f"{name}{draw(quantifiers)}" for name in names)
    first, last = sorted((draw(st.integers(0, len(names) - 1)), draw(st.integers(0, len(names) - 1))))
    members = names[first : last + 1]
    readable = [*names, "U"] if len(members) > 1 else list(names)
    conditions = [draw(stretches).format(draw(st.sampled_from(readable))) for _ in range(draw(st.integers(1, 2)))]
    if len(names) > 1 and draw(st.booleans()):
        conditions.append(f"last({names[0]}.v) <= last({names[-1]}.v)")
    definitions = [f"Z AS {' AND '.join(conditions)}"]
    for name in names:
        if draw(st.integers(0, 3)) == 0:
            definitions.append(f"{name} AS {draw(locals_).format(name)}")
    subset = f"SUBSET U = ({', '.join(members)})" if len(members) > 1 else ""
    skip = draw(st.sampled_from(("", "AFTER MATCH SKIP TO NEXT ROW")))
    measures = [f"first({names[0]}.t) AS a", "Z.t AS z", "MATCH_NUMBER() AS n"]
    measures += [f"last({name}.t) AS l{place}" for place, name in enumerate(readable) if draw(st.booleans())]
    return (
        f"PARTITION BY k ORDER BY t MEASURES {', '.join(measures)} {skip} "
        f"PATTERN ({pattern} Z) {subset} DEFINE {', '.join(definitions)}"
    )


def in_order(result: list[dict[str, Any]]) -> list[list[Any]]:
    return sorted(([-1 if value is None else value for value in row.values()] for row in result), key=str)


@settings(max_examples=settings().max_examples * (1 if numba.config.DISABLE_JIT else 3))
@given(clauses(), rows)
@example(
    "PARTITION BY k ORDER BY t MEASURES first(A.t) AS a, Z.t AS z PATTERN (A+? B*? C* Z) "
    "DEFINE Z AS last(A.v) - first(A.v) <= 1",
    [(1, 3.0, 2), (1, None, 2), (1, 1.0, 2)],  # B leaves its rows to C
)
def test_rewritten(clause: str, drawn: list[tuple[int, float | None, int | None]]) -> None:
    rewritten: Query | None = rewrite_rows(parse_clause_text(clause), {}, always=True)
    event("rewritten" if rewritten is not None else "stays a row pattern")
    assume(rewritten is not None)
    assert rewritten is not None
    table = [{"k": k, "t": t, "v": v, "u": u} for t, (k, v, u) in enumerate(drawn)]
    expected = local.run(clause, table, SCHEMA)
    assert in_order(local_segments.run(rewritten, table, SCHEMA)) == in_order(expected)
