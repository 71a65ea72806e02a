"""The hundred queries of the matrix, with the answers that the naive definitions give: drawn once, kept in a file.

`PYTHONPATH=src:tests:. python -m matrix.drawn` draws them anew. What is kept is what no change of Hypothesis, of the
definitions or of Trellis may change: a query, rows, and the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import naive
import naive_sqlts
from properties import segment_strategies as segments
from properties import strategies, test_events, test_segments, test_sqlts
from properties.render import render_clause

QUERIES = Path(__file__).parent / "queries.json"
DRAWN = {"rows": 50, "segments": 15, "events": 20, "sequences": 15}
SEED = 20261119
MOST_ROWS = 25  # of an answer: what is longer shows little more
Query = dict[str, Any]  # kind, text, schema, rows, columns, expected


def all_drawn() -> list[Query]:
    """A hundred queries with their answers."""
    makers = {"rows": row_queries, "segments": segment_queries, "events": event_queries, "sequences": sequence_queries}
    return [query for kind, count in DRAWN.items() for query in some(makers[kind](), count)]


def some(drawn: Iterator[Query | None], count: int) -> Iterator[Query]:
    """So many queries with different texts that find something, and not too much."""
    seen: set[str] = set()
    for query in drawn:
        if query is not None and 1 <= len(query["expected"]) <= MOST_ROWS and query["text"] not in seen:
            seen.add(query["text"])
            yield query
            if len(seen) == count:
                return


def examples(strategy: SearchStrategy[Any]) -> Iterator[Any]:
    """What Hypothesis draws."""
    for seed in range(SEED, SEED + 100):
        notes: list[Any] = []
        take = notes.append
        _run(strategy, take, seed)
        yield from notes


def _run(strategy: SearchStrategy[Any], take: Callable[[Any], None], seed: int) -> None:
    @with_seed(seed)
    @settings(
        max_examples=200, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=HealthCheck
    )
    @given(strategy)
    def note(drawn: Any) -> None:
        take(drawn)

    note()


def row_queries() -> Iterator[Query | None]:
    for rows, columns, query in examples(strategies.cases()):
        if strategies.unordered_measures(query):
            continue
        try:
            expected = naive.run(rows, columns, query, limit=20_000)
        except (naive.TooManyCandidates, naive.SkipError):
            continue
        names = list(expected[0]) if expected else []
        yield made("rows", render_clause(query), strategies.SCHEMA, rows, names, [list(r.values()) for r in expected])


def segment_queries() -> Iterator[Query | None]:
    for case in examples(segments.bound_cases()):
        if test_segments.is_circular(case):
            continue
        found = [
            test_segments.shown(k, match) for k, matches in test_segments.matches_of(case).items() for match in matches
        ]
        names = ["k", "s", "e", *(f"{name}_{end}" for name in case.wanted for end in ("first", "last"))]
        yield made("segments", case.clause(), schema(segments.SCHEMA), case.rows, names, [list(row) for row in found])


def event_queries() -> Iterator[Query | None]:
    for query, stream in examples(st.tuples(test_events.queries(), test_events.streams())):
        variables = [c for c in query.components if not c.negated]
        found = test_events.numbered(query, stream, test_events.expected(query, stream))
        found += test_events.timed_out(query, stream)
        names = [*(c.variable for c in variables), "number"]
        # A repeated component that a match which timed out did not come to has no array, as a single one has no event.
        rows = [
            [*(list(at) if c.kleene else at[0] if at else None for c, at in zip(variables, match, strict=True)), number]
            for number, match in found
        ]
        if any(number is None for number, _ in found):
            continue
        yield made("events", test_events.render(query), schema(test_events._SCHEMA), stream, names, rows)


def sequence_queries() -> Iterator[Query | None]:
    for query, rows in examples(st.tuples(test_sqlts.queries(), test_sqlts.tables())):
        expected = [list(row) for row in naive_sqlts.results(query, rows)]
        names = [f"c{number}" for number in range(len(query.output))]
        yield made("sequences", test_sqlts.text_of(query), schema(test_sqlts._SCHEMA), rows, names, expected)


def schema(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns)


def made(kind: str, text: str, types: str, rows: list[Any], columns: list[str], expected: list[Any]) -> Query:
    return {
        "kind": kind,
        "text": text,
        "schema": types,
        "rows": [list(row.values()) for row in rows],
        "columns": columns,
        "expected": expected,
    }


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(query) for query in all_drawn())
    QUERIES.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
