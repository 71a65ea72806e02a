"""What is stored of a stream: read back by this release, and by those to come.

The files in tests/fixtures/streams were written by the release that brought their format, by running this module:
`python -m execution.streams.test_state`, in the folder tests. They are never written again: a release that changes the
format adds files, and still reads these.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import local
import local_workloads
from streams import FAR, Stream
from trellis.algebra.plan import Plan
from trellis.algebra.query import Query
from trellis.errors import UnsupportedError
from trellis.execution.streams.bucket import FORMAT, Bucket
from trellis.languages.match_recognize import parse_clause_text
from trellis.languages.sase import parse_sase_text

FOLDER = Path(__file__).parents[2] / "fixtures" / "streams"
SCHEMA = [("k", "string"), ("t", "int"), ("type", "string"), ("x", "double")]
ROWS = [
    {"k": key, "t": time, "type": type_, "x": x}
    for key, time, type_, x in (
        ("a", 1, "Order", 5.0),
        ("b", 2, "Order", 4.0),
        (None, 3, "Payment", 3.0),
        ("a", 4, "Payment", 2.0),
        ("b", 5, "Payment", 6.0),
        ("a", 6, "Order", 7.0),
        ("a", 7, "Payment", 1.0),
    )
]
QUERIES: dict[str, Query] = {
    "rows": parse_clause_text(
        """PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS n, first(t) AS s, last(t) AS e
        PATTERN (A DOWN+ UP+) WITHIN 20 DEFINE DOWN AS x < PREV(x), UP AS x > PREV(x)"""
    ),
    "segments": parse_clause_text(
        """PARTITION BY k ORDER BY t MEASURES first(t) AS s, last(t) AS e
        PATTERN (W) DEFINE SEGMENT W AS window(2, 3) AND last(x) > first(x)"""
    ),
    "events": parse_sase_text(
        """PATTERN SEQ(Order o, Payment+ p[]) WHERE skip_till_next_match { [k] AND p[i].x < p[i-1].x }
        WITHIN 20 RETURN o.t AS s, p[p.LEN].t AS e""",
        time_columns="t",
    ),
}
FOUND = {
    "rows": [("a", 1, 1, 6)],
    "segments": [("a", 1, 6), ("a", 4, 6), ("b", 2, 5)],
    "events": [(1, 4), (1, 7), (2, 5), (6, 7)],
}
_STORED = 4  # so many rows have come when the stream is stopped


def plan(name: str) -> Plan:
    return local.plan_clause(QUERIES[name], SCHEMA, watermark="t")


def stream(name: str) -> Stream:
    planned = plan(name)
    return Stream(planned, local.table_of(planned, ROWS, SCHEMA))


def results(name: str, found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = {"rows": ("k", "n", "s", "e"), "segments": ("k", "s", "e"), "events": ("s", "e")}[name]
    return sorted(tuple(row[name] for name in names) for row in found)


@pytest.mark.parametrize("name", QUERIES)
def test_what_this_release_stores_is_read_back(name: str) -> None:
    running = stream(name)
    running.give(range(_STORED), -FAR)
    running.give((), 4)
    assert not running.bucket.is_empty
    running.give(range(_STORED, len(ROWS)), 4)
    running.give((), FAR, final=True)
    assert results(name, running.found) == FOUND[name]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.state")), ids=lambda path: path.stem)
def test_what_earlier_releases_stored_is_read(path: Path) -> None:
    """A stream goes on from a file; what it had found before stands beside that."""
    name = path.stem.split("-")[0]
    going_on = stream(name)
    going_on.stored = path.read_bytes()
    going_on.found = json.loads(path.with_suffix(".json").read_text())
    going_on.give(range(_STORED, len(ROWS)), 4)
    going_on.give((), FAR, final=True)
    assert results(name, going_on.found) == FOUND[name]


def test_there_are_files_of_every_engine_in_this_format() -> None:
    assert {f"{name}-{FORMAT}" for name in QUERIES} <= {path.stem for path in FOLDER.glob("*.state")}


def test_another_format_and_another_query_are_refused() -> None:
    running = stream("rows")
    running.give(range(_STORED), -FAR)
    stored = running.stored.replace(b'"format": 1', b'"format": 9')
    with pytest.raises(UnsupportedError, match="format 9"):
        Bucket.from_bytes(stored, running.spec)
    with pytest.raises(UnsupportedError, match="another query"):
        Bucket.from_bytes(running.stored, stream("segments").spec)


def test_measures_may_change_within_what_was_kept() -> None:
    running = stream("rows")
    running.give(range(_STORED), -FAR)
    text = str(QUERIES["rows"])
    fewer = text.replace("MATCH_NUMBER() AS `n`, ", "")
    assert fewer != text
    spec = local.plan_clause(fewer, SCHEMA, watermark="t").stream
    assert spec is not None
    assert Bucket.from_bytes(running.stored, spec).waiting.num_rows == _STORED
    more = local.plan_clause(text.replace("MEASURES", "MEASURES last(type) AS l,"), SCHEMA, watermark="t").stream
    assert more is not None
    with pytest.raises(UnsupportedError, match=r"reads .*type"):
        Bucket.from_bytes(running.stored, more)


RISES = """PARTITION BY k ORDER BY t MEASURES first(t) AS s, last(t) AS e{}
    PATTERN (A UP+) WITHIN 20 DEFINE UP AS x > PREV(x)"""


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("", ", PREV(A.x) AS p", "look back at 1 row .* has kept no rows"),
        (", PREV(A.x) AS p", ", PREV(A.x, 3) AS p", "look back at 3 rows .* has kept 1 row"),
        ("", ", MATCH_NUMBER() AS n", "MATCH_NUMBER.* were not counted"),
        (", A.type AS w", "", "order by a hash of the columns"),
        ("", ", A.type AS w", "reads `type`, which the checkpoint has not kept"),
    ],
)
def test_measures_that_need_what_was_not_kept_are_refused(before: str, after: str, words: str) -> None:
    running, changed = (going(RISES.format(measures)) for measures in (before, after))
    running.give(range(_STORED), -FAR)
    running.give((), 4)
    changed.stored = running.stored
    with pytest.raises(UnsupportedError, match=words) as refused:
        changed.give(range(_STORED, len(ROWS)), 4)
    assert "new checkpoint" in str(refused.value.cure)


def test_measures_that_need_nothing_new_may_change() -> None:
    """They need less, or look further ahead: the matches to come are those of a query that had always had them."""
    before = ", PREV(A.x, 2) AS p, MATCH_NUMBER() AS n, A.x AS a"
    after = ", PREV(A.x) AS p, NEXT(LAST(x), 2) AS q, count(*) AS c"
    expected = local.run(RISES.format(after), ROWS, SCHEMA)
    running, changed = (going(RISES.format(measures)) for measures in (before, after))
    running.give(range(_STORED), -FAR)
    running.give((), 4)
    assert running.found == []
    changed.stored = running.stored
    changed.give(range(_STORED, len(ROWS)), 4)
    changed.give((), FAR, final=True)
    assert sorted(map(repr, changed.found)) == sorted(map(repr, expected))


EVENTS = {"pairs": "PATTERN SEQ(Order o, Payment p) WITHIN 20"}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"partition_by": ("k",)}, "PARTITION BY nothing, and now `k`"),
        ({"time": ("t", "x")}, "ORDER BY `t` NULLS FIRST, and now `t` NULLS FIRST, `x` NULLS FIRST"),
    ],
)
def test_other_keys_are_refused(keys: dict[str, tuple[str, ...]], words: str) -> None:
    """Those of workloads and event patterns are no part of their text."""
    before, after = (
        Stream(planned, local.table_of(planned, ROWS, SCHEMA))
        for planned in (
            local_workloads.plan_patterns(EVENTS, SCHEMA, **{"time": ("t",), **more}, watermark="t")
            for more in ({}, keys)
        )
    )
    before.give(range(_STORED), -FAR)
    after.stored = before.stored
    with pytest.raises(UnsupportedError, match=words) as refused:
        after.give((), 4)
    assert "Use the keys that it had" in str(refused.value.cure)


def test_rows_of_other_types_are_refused() -> None:
    running = going(RISES.format(""))
    running.give(range(_STORED), -FAR)
    whole = [(name, "int" if name == "x" else type_) for name, type_ in SCHEMA]
    planned = local.plan_clause(RISES.format(""), whole, watermark="t")
    rows = [{**row, "x": int(row["x"])} for row in ROWS]
    changed = Stream(planned, local.table_of(planned, rows, whole))
    changed.stored = running.stored
    with pytest.raises(UnsupportedError, match="have `x` of the type double, and now it is int32"):
        changed.give(range(_STORED, len(ROWS)), 4)


def going(clause: str) -> Stream:
    planned = local.plan_clause(clause, SCHEMA, watermark="t")
    return Stream(planned, local.table_of(planned, ROWS, SCHEMA))


def write() -> None:
    """Write the files of this format, where there are none."""
    FOLDER.mkdir(exist_ok=True)
    for name in QUERIES:
        path = FOLDER / f"{name}-{FORMAT}.state"
        if path.exists():
            continue
        running = stream(name)
        running.give(range(_STORED), -FAR)
        running.give((), 4)
        path.write_bytes(running.stored)
        path.with_suffix(".json").write_text(json.dumps(running.found))


if __name__ == "__main__":
    write()
