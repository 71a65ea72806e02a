"""What a query costs beside throughput: latency, compilation, memory, and hopeless searches."""

from __future__ import annotations

import time
from functools import partial
from itertools import pairwise
from statistics import median

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import trellis as tr
from benchmarks.memory import WorkerMemory
from benchmarks.pages import Bar, table
from benchmarks.rows.queries import HOPELESS, ONE_SERIES, V_SHAPE, never_seen
from benchmarks.rows.ticks import Bench, consume
from benchmarks.sections import Section
from benchmarks.sessions import noop
from benchmarks.shipments import ship
from benchmarks.timing import best_of, seconds_of, spread

__all__ = ["hopeless", "latency", "memory", "one_series"]

_GB = 2**30


def latency(bench: Bench) -> Section:
    """What a query that nobody has asked before costs more than a `lag` query, on a table of 1 000 rows."""
    ticks = bench.ticks(10, 100)
    ticks.createOrReplaceTempView("small_ticks")

    def lag(number: int) -> float:
        text = f"SELECT *, lag(price, 1, {number}.5) OVER (PARTITION BY sym ORDER BY ts) AS before FROM small_ticks"
        return seconds_of(lambda: noop(bench.spark.sql(text)))

    noop(tr.sql(V_SHAPE, ticks=ticks))
    lag(-1)
    rows = []
    for number in range(bench.times(10)):
        planned, run = _new_query(number, ticks)
        rows.append((planned, run, lag(number)))
    fresh, empty = [], []
    for number in range(10, 10 + bench.times(3)):
        bench.new_workers()
        fresh.append(sum(_new_query(number, ticks)) - lag(number))
        bench.new_workers()
        empty.append(seconds_of(lambda: noop(ticks.mapInArrow(consume, "sym int"))) - lag(number + 3))
    more = [planned + run - base for planned, run, base in rows]
    bar = Bar.at_most("a never-seen query on 1 000 rows, beyond a `lag` query", 0.5, median(more), " s")
    lines = [
        ("planning (`trellis.sql`)", *_spread([planned for planned, _, _ in rows])),
        ("running it", *_spread([run for _, run, _ in rows])),
        ("a `lag` query", *_spread([base for _, _, base in rows])),
        ("difference", *_spread(more)),
        ("difference, with new Python workers (Spark ends idle ones after a minute)", *_spread(fresh)),
        ("the same for an empty `mapInArrow` with new Python workers", *_spread(empty)),
    ]
    body = (
        "Ten queries of ten shapes with constants of their own, each beside a `lag` query with a constant of its own, "
        f"in a session that has run Trellis before; {bar}.\n\n{table(('part', 'median s', 'min–max'), lines)}"
    )
    return Section("latency", "A never-seen query", body, (bar,))


def _spread(seconds: list[float]) -> tuple[str, str]:
    return f"{median(seconds):.2f}", spread(seconds)


def _new_query(number: int, ticks: DataFrame) -> tuple[float, float]:
    """The seconds to plan and to run a query that was not run before."""
    began = time.perf_counter()
    result = tr.sql(never_seen(number), ticks=ticks)
    planned = time.perf_counter()
    noop(result)
    return planned - began, time.perf_counter() - planned


def one_series(bench: Bench) -> Section:
    """The memory of the one worker that gets a series of millions of rows, no PARTITION BY."""
    length = bench.size(5_000_000)
    ticks = bench.ticks(1, length)
    rows, bars = [], []
    for name, text in list(ONE_SERIES.items())[: bench.times(len(ONE_SERIES))]:
        seconds, peak, _ = _peak(bench, text, ticks)
        bars.append(
            Bar.at_most(
                f"one series of {length:,} rows, {name}: memory of the worker", 2, peak / _GB, " GB", below=True
            )
        )
        rows.append((name, f"{seconds:.1f}", f"{peak / _GB:.2f}", bars[-1]))
    body = f"{length:,} rows, ORDER BY ts.\n\n{table(('query', 's', 'peak of the worker, GB', ''), rows)}"
    return Section("one_series", "One long series", body, tuple(bars))


def memory(bench: Bench) -> Section:
    """Whether a worker's memory depends on the number of rows, at equal length of series."""
    length, small, large = 5_000, bench.size(1_000), 4 * bench.size(1_000)
    peaks: dict[int, list[int]] = {small: [], large: []}
    rows = []
    for number in range(min(bench.repeats, 3)):
        for series, found in peaks.items():
            seconds, peak, workers = _peak(bench, V_SHAPE, bench.ticks(series, length))
            found.append(peak)
            rows.append((number + 1, f"{series * length:,}", f"{seconds:.1f}", workers, f"{peak / 2**20:.0f}"))
    ratio = median(peaks[large]) / median(peaks[small])
    bar = Bar.at_most("peak memory of a worker, four times the rows", 1.1, ratio)
    head = ("round", "rows", "s", "workers", "peak of the largest worker, MB")
    body = f"The V shape on series of {length:,} rows, new workers for each run; ratio {ratio:.2f}, {bar}.\n\n"
    return Section("memory", "Memory and the number of rows", body + table(head, rows), (bar,))


def _peak(bench: Bench, text: str, ticks: DataFrame) -> tuple[float, int, int]:
    """The seconds of a query, the peak memory of its largest worker, the number of workers; all workers are new."""
    bench.new_workers()
    with WorkerMemory() as watched:
        seconds = seconds_of(lambda: noop(tr.sql(text, ticks=ticks)))
    return seconds, watched.peak, watched.workers


def hopeless(bench: Bench) -> Section:
    """`A+ B+` on equal rows that no B accepts: the worker's function alone, in this process."""
    sizes = (50, 500, 5_000) if bench.quick else (5_000, 50_000, 500_000)
    rows, bars = [], []
    for name, (define, hints) in HOPELESS.items():
        clause = f"ORDER BY id MEASURES last(B.id) AS e PATTERN (A+ B+) DEFINE {define}"
        seconds = []
        for size in sizes:
            equal = bench.spark.range(0, size, 1, numPartitions=1).select("id", F.lit(1).alias("x"))
            shipment = ship(
                partial(tr.sql, f"SELECT * FROM {{ticks}} MATCH_RECOGNIZE ({clause})", ticks=equal, hints=hints)
            )
            batches = shipment.batches()
            assert shipment.run(batches) == 0
            # Whatever disturbs such short runs makes them longer, so the fastest counts.
            seconds.append(best_of(partial(shipment.run, batches), bench.repeats))
        growth = [later / earlier for earlier, later in pairwise(seconds)]
        bars.append(Bar.at_most(f"`A+ B+`, {name}: 50 000 equal rows", 1, seconds[1], " s", below=True))
        steady = (seconds[-1] / seconds[0]) ** 0.5
        bars.append(Bar.at_most(f"`A+ B+`, {name}: growth for ten times the rows (linear: about 10)", 15, steady))
        linear = "linear" if bars[-1].met else "NOT linear"
        rows.append((name, *(f"{s:.4f}" for s in seconds), *(f"{g:.1f}" for g in growth), f"{linear}; {bars[-2]}"))
    head = ("condition", *(f"{size:,} rows, s" for size in sizes), "growth", "growth", "")
    body = f"`PATTERN (A+ B+)`, one series, no Spark.\n\n{table(head, rows)}"
    return Section("hopeless", "A pattern that never matches", body, tuple(bars))
