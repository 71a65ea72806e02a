"""How many segments the parts of a pattern have alone, against a count of all pairs of rows; without Spark."""

from __future__ import annotations

import json
import random

import local
from trellis.execution.segments.parts import PartsTask
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.driver import bind_rows
from trellis.planning.hints import Hints
from trellis.planning.rule import Firing
from trellis.planning.segments.choose import choose_tree
from trellis.planning.why.plan import QUIET
from trellis.planning.why.segments import plan_parts

SCHEMA = [("k", "int"), ("t", "int"), ("x", "int")]
CLAUSE = """
    PARTITION BY k ORDER BY t
    PATTERN ((A UP B) & WIN)
    DEFINE SEGMENT A AS true, SEGMENT B AS last(x) = 3,
        SEGMENT UP AS window(2, 4) AND last(x) > first(x) AND last(x) > 4,
        SEGMENT WIN AS window(3, 6)
"""


def test_parts_are_counted_alone() -> None:
    randomly = random.Random(1)
    rows = [{"k": k, "t": t, "x": randomly.randrange(8)} for k in range(4) for t in range(randomly.randrange(1, 12))]
    source, hints, rules = local.source_of(SCHEMA), Hints(off=QUIET), Firing(frozenset(QUIET))
    plan, parts = plan_parts(bind_rows(parse_clause_text(CLAUSE), source, hints, rules), source, hints, rules)
    table = local.sorted_rows(plan, rows, SCHEMA)
    task = PartsTask(plan.scan, tuple(part.scan for part in parts), {}, choose_tree)
    found = json.loads(next(iter(task(table.to_batches(max_chunksize=5))))["found"][0].as_py())
    counts = {(part.variable, part.text): count for part, count in zip(parts, found["counts"], strict=True)}

    series = [[row["x"] for row in rows if row["k"] == k] for k in range(4)]
    pairs = [(x, s, e) for x in series for s in range(len(x)) for e in range(s, len(x))]
    up = {(id(x), s, e) for x, s, e in pairs if 2 <= e - s + 1 <= 4 and x[e] > x[s] and x[e] > 4}
    # A and B share a row with UP, and the whole has six rows at most.
    b = {(id(x), s, e) for x, s, e in pairs if e - s + 1 <= 5 and x[e] == 3}
    joined = {(k, s, e) for k, s, e in up for s in range(s + 1)}
    whole = {(k, s, end) for k, s, e in joined for key, begin, end in b if key == k and begin == e}
    matches = {(k, s, e) for k, s, e in whole if 3 <= e - s + 1 <= 6}
    assert counts["UP", "2 to 4 rows"] == len(up)
    assert counts["UP", "last(x) > first(x)"] == sum(2 <= e - s + 1 <= 4 and x[e] > x[s] for x, s, e in pairs)
    assert counts["B", "1 to 5 rows"] == len(b)
    assert counts["A", "1 to 5 rows"] == sum(e - s + 1 <= 5 for _, s, e in pairs)
    assert counts["", "A UP"] == len({(k, s, e) for k, s, e in joined if e - s + 1 <= 6})
    assert counts["", "A UP B"] == len(matches)
    assert (found["rows"], found["series"]) == (len(rows), 4)
