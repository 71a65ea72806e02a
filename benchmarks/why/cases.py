"""Queries with and without matches, and how long `why` takes beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import trellis as tr
from benchmarks.pages import Bar, table
from benchmarks.rows.ticks import Bench
from benchmarks.sections import Section
from benchmarks.sessions import noop
from benchmarks.timing import in_turns

__all__ = ["logins", "v_shape"]

_LIMIT = 3.0


def v_shape(bench: Bench) -> Section:
    """A fall and a rise: by conditions of rows alone, and with one that looks at the match."""
    series, length = bench.size(1_000), 5_000
    ticks = bench.ticks(series, length)
    v = "PARTITION BY sym ORDER BY ts MEASURES first(A.ts) AS begins, min(DOWN.price) AS low, last(UP.ts) AS ends "
    v += "PATTERN (A DOWN+ UP+) DEFINE DOWN AS price < prev(price), UP AS price > prev(price)"
    cases = {
        "V shape": v,
        "V shape, never so high": f"{v} AND price > 100",
        "V shape above its start": f"{v} AND price > A.price",
        "V shape far above its start, never": f"{v} AND price > A.price + 100",
    }
    return _section("v_shape", "V shapes in ticks", cases, ticks, series * length, bench)


def logins(bench: Bench) -> Section:
    """Three failed logins and one that goes well within ten minutes; and the same with a word that no row has."""
    users, length = bench.size(50_000), 100
    path = bench.folder / f"logins_{users}_{length}"
    if not path.exists():
        rows = bench.spark.range(0, users * length, 1, numPartitions=8)
        rows.select(
            (F.col("id") % users).cast("int").alias("user"),
            # Some five minutes between two logins of a user.
            (F.expr(f"id div {users}") * 300 + (F.rand(seed=3) * 280).cast("long")).alias("at"),
            F.when(F.rand(seed=4) < 0.3, F.lit("failed")).otherwise(F.lit("ok")).alias("outcome"),
        ).write.parquet(str(path))
    stolen = "PARTITION BY user ORDER BY at MEASURES first(FAILED.at) AS begins, OK.at AS ends "
    stolen += "PATTERN (FAILED{{3}} OK) WITHIN {} DEFINE FAILED AS outcome = '{}', OK AS outcome = 'ok'"
    cases = {
        "three failed logins, then one that goes well": stolen.format(1_200, "failed"),
        "the same, in a window that is too narrow": stolen.format(60, "failed"),
        "the same, `'Failed'` for `'failed'`": stolen.format(1_200, "Failed"),
    }
    return _section("logins", "Failed logins", cases, bench.spark.read.parquet(str(path)), users * length, bench)


def _section(name: str, title: str, cases: Mapping[str, str], rows: DataFrame, count: int, bench: Bench) -> Section:
    lines, bars = [], []
    for what, clause in cases.items():
        text = f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({clause})"
        rounds = in_turns(_jobs(text, rows), bench.repeats)
        ratio = rounds.ratio("why", "query")
        report = rounds.results["why"]
        bars.append(Bar.at_most(f"{what}, {count:,} rows: why against the query", _LIMIT, ratio.value))
        lines.append((what, f"{report.matches:,}", rounds.text("query"), rounds.text("why"), ratio))
    head = ("query", "matches", "query, s", "why, s", "why / query")
    return Section(name, title, f"{count:,} rows.\n\n{table(head, lines)}", tuple(bars))


def _jobs(text: str, rows: DataFrame) -> dict[str, Callable[[], Any]]:
    return {"query": lambda: noop(tr.sql(text, rows=rows)), "why": lambda: tr.why(text, rows=rows)}
