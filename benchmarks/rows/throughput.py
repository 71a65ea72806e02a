"""Ratios on millions of rows: Trellis against what Spark needs at least to bring the same rows to Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

from pyspark.sql import DataFrame

import trellis as tr
from benchmarks.pages import Bar, table
from benchmarks.rows.inside import parts_of
from benchmarks.rows.queries import V_ALL_ROWS, V_ALL_ROWS_MEASURES, V_SHAPE
from benchmarks.rows.ticks import FOUR, Bench, consume, identity, with_lag
from benchmarks.sections import Section
from benchmarks.sessions import noop
from benchmarks.shipments import ship
from benchmarks.timing import Rounds, in_turns

__all__ = ["all_rows", "batch_sizes", "profile", "tiny_series", "v_shape"]

_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_TRELLIS, _FLOOR, _LAG = "Trellis", "floor: `lag` and an empty `mapInArrow`", "`lag` without Python"
# What Trellis itself asks of Spark: it ships three columns and needs no window. A stricter baseline, for the record.
_TRANSPORT = "exchange, sort and an empty `mapInArrow`"


def v_shape(bench: Bench) -> Section:
    """The V shape on long series."""
    return _v_shape(bench, "v_shape", "V shape, one row per match", bench.size(1_000), 5_000, 1.25)


def tiny_series(bench: Bench) -> Section:
    """The V shape on very many short series."""
    return _v_shape(bench, "tiny_series", "V shape in tiny series", bench.size(1_000_000), 5, 1.35)


def _v_shape(bench: Bench, name: str, title: str, series: int, length: int, limit: float) -> Section:
    ticks = bench.ticks(series, length)
    rounds = in_turns(_v_jobs(ticks), bench.repeats)
    bar = Bar.at_most(
        f"{title}, {_size(series, length)}: against the floor", limit, rounds.ratio(_TRELLIS, _FLOOR).value
    )
    body = f"{_size(series, length)}; {_count(tr.sql(V_SHAPE, ticks=ticks))} matches; {bar}.\n\n"
    return Section(name, title, body + _ratios(rounds, (_FLOOR, _TRANSPORT, _LAG)), (bar,))


def _v_jobs(ticks: DataFrame) -> dict[str, Callable[[], None]]:
    three = ("sym", "ts", "price")
    return {
        _TRELLIS: lambda: noop(tr.sql(V_SHAPE, ticks=ticks)),
        _FLOOR: lambda: noop(with_lag(ticks, *three).mapInArrow(consume, "sym int")),
        _TRANSPORT: lambda: noop(_sorted(ticks, *three).mapInArrow(consume, "sym int")),
        _LAG: lambda: noop(with_lag(ticks, *three)),
    }


def all_rows(bench: Bench) -> Section:
    """ALL ROWS PER MATCH with four columns carried."""
    title = "ALL ROWS PER MATCH, four columns"
    series, length = bench.size(1_000), 5_000
    ticks = bench.ticks(series, length)
    schema = ticks.select(*FOUR).schema
    floor, window_floor = "identity after exchange and sort", "identity after `lag`"
    labelled = "Trellis with match_number() and classifier()"

    jobs: dict[str, Callable[[], None]] = {
        _TRELLIS: lambda: noop(tr.sql(V_ALL_ROWS, ticks=ticks)),
        labelled: lambda: noop(tr.sql(V_ALL_ROWS_MEASURES, ticks=ticks)),
        floor: lambda: noop(_sorted(ticks, *FOUR).mapInArrow(identity, schema)),
        window_floor: lambda: noop(
            with_lag(ticks, *FOUR).mapInArrow(identity, with_lag(ticks, *FOUR).schema).select(*FOUR)
        ),
        _LAG: lambda: noop(with_lag(ticks, *FOUR)),
    }
    rounds = in_turns(jobs, bench.repeats)
    bar = Bar.at_most(
        f"{title}, {_size(series, length)}: against the identity", 1.5, rounds.ratio(_TRELLIS, floor).value
    )
    body = f"{_size(series, length)}; {_count(tr.sql(V_ALL_ROWS, ticks=ticks))} output rows; {bar}.\n\n"
    return Section("all_rows", title, body + _ratios(rounds, (floor, window_floor, _LAG)), (bar,))


def batch_sizes(bench: Bench) -> Section:
    """How the V shape and its floor depend on the size of Arrow batches."""
    series, length = bench.size(1_000), 5_000
    ticks = bench.ticks(series, length)
    sizes = (2_000, 10_000, 50_000, 200_000)[: bench.times(4)]

    def at(size: int, job: Callable[[], None]) -> None:
        bench.spark.conf.set(_BATCH_ROWS, str(size))
        job()

    timed = {name: job for name, job in _v_jobs(ticks).items() if name in (_TRELLIS, _FLOOR)}
    jobs = {f"{name} {size}": partial(at, size, job) for size in sizes for name, job in timed.items()}
    try:
        rounds = in_turns({**jobs, _LAG: _v_jobs(ticks)[_LAG]}, bench.repeats)
    finally:
        bench.spark.conf.unset(_BATCH_ROWS)
    rows = [
        (
            f"{size:,}",
            rounds.text(f"{_TRELLIS} {size}"),
            rounds.text(f"{_FLOOR} {size}"),
            rounds.ratio(f"{_TRELLIS} {size}", f"{_FLOOR} {size}"),
            rounds.ratio(f"{_TRELLIS} {size}", _LAG),
            rounds.ratio(f"{_FLOOR} {size}", _LAG),
        )
        for size in sizes
    ]
    best = min(sizes, key=lambda size: rounds.median(f"{_TRELLIS} {size}"))
    head = ("rows in a batch", "Trellis, s", "floor, s", "Trellis / floor", "Trellis / `lag`", "floor / `lag`")
    body = (
        f"The V shape on {_size(series, length)}. `{_BATCH_ROWS}` is 10,000 by default; Trellis never sets it. "
        f"Fastest here: {best:,}.\n\n{table(head, rows)}"
    )
    return Section("batch_sizes", "Rows in an Arrow batch", body)


def profile(bench: Bench) -> Section:
    """Where the time of the V shape goes: Spark's stages as jobs of their own, and the worker from inside."""
    series, length = bench.size(1_000), 5_000
    ticks = bench.ticks(series, length)
    shipment = ship(lambda: tr.sql(V_SHAPE, ticks=ticks))
    jobs: dict[str, Callable[[], None]] = {
        "scan": lambda: noop(ticks.select("sym", "ts", "price")),
        "exchange": lambda: noop(ticks.select("sym", "ts", "price").repartition("sym")),
        "sort": lambda: noop(shipment.frame),
        "Arrow to Python": lambda: noop(shipment.frame.mapInArrow(consume, "sym int")),
        "matching and results": lambda: noop(tr.sql(V_SHAPE, ticks=ticks)),
    }
    rounds = in_turns(jobs, bench.repeats)
    total = rounds.median("matching and results")
    rows, before = [], 0.0
    for name in jobs:
        seconds = rounds.median(name)
        rows.append((name, f"{seconds:.2f}", f"{seconds - before:.2f}", f"{(seconds - before) / total:.0%}"))
        before = seconds
    spark_side = table(("up to and with", "s", "more than before, s", "share"), rows)
    batches = shipment.batches()
    # The first run loads the kernels and is dropped.
    runs = [parts_of(shipment, batches) for _ in range(bench.repeats + 1)][1:]
    parts = {part: median(run[part] for run in runs) for part in runs[0]}
    whole = sum(parts.values())
    tuples = [(part, f"{seconds:.3f}", f"{seconds / whole:.0%}") for part, seconds in parts.items()]
    tuples.append(("all", f"{whole:.3f}", f"{series * length / whole / 1e6:.1f} M rows/s"))
    body = (
        f"The V shape on {_size(series, length)}. Each line is a job that does one step more than the line above.\n\n"
        f"{spark_side}\nThe worker's function alone, over the same rows, in this process and one thread:\n\n"
        f"{table(('part', 's', 'share'), tuples)}"
    )
    return Section("profile", "Where the time goes", body)


def _ratios(rounds: Rounds[str], baselines: tuple[str, ...]) -> str:
    rows = [
        (job, rounds.text(job), *(rounds.ratio(job, base) if base != job else "1" for base in baselines))
        for job in rounds.times
    ]
    return table(("job", "median s (min–max)", *(f"against {base}" for base in baselines)), rows)


def _sorted(ticks: DataFrame, *columns: str) -> DataFrame:
    return ticks.select(*columns).repartition("sym").sortWithinPartitions("sym", "ts")


def _size(series: int, length: int) -> str:
    return f"{series * length:,} rows in {series:,} series of {length:,}"


def _count(frame: DataFrame) -> str:
    return f"{frame.count():,}"
