"""What the first query on a machine waits for: the compiler, or nothing where a wheel brings machine code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from statistics import median

import trellis
from benchmarks.pages import Bar, table
from benchmarks.rows.ticks import Bench
from benchmarks.sections import Section
from benchmarks.timing import say

__all__ = ["first_query"]

_ROOT = Path(__file__).parents[2]
_REPEATS = 3
# A session that has answered a query of Spark's own; then a query of Trellis, from its import to its rows.
_ASK = """
import time
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
ticks = spark.range(1000).selectExpr("id % 10 AS sym", "id AS ts", "CAST(id * 7919 % 101 AS DOUBLE) AS price")
ticks.createOrReplaceTempView("ticks")
spark.sql("SELECT *, lag(price) OVER (PARTITION BY sym ORDER BY ts) AS before FROM ticks").collect()
times = [time.perf_counter()]
import trellis as tr

times.append(time.perf_counter())
for least in (50, 60):
    query = f'''
        SELECT * FROM {{ticks}} MATCH_RECOGNIZE (
            PARTITION BY sym ORDER BY ts MEASURES first(A.ts) AS begin, count(*) AS n PATTERN (A DOWN+ UP+)
            DEFINE A AS price > {least}, DOWN AS price < prev(price), UP AS price > prev(price)
        )
    '''
    assert tr.sql(query, ticks=ticks).collect()
    times.append(time.perf_counter())
print(*(after - before for before, after in zip(times, times[1:])))
spark.stop()
"""


def first_query(bench: Bench) -> Section:
    """A first query in a new session of Spark: with machine code, with compiled kernels on disk, and with neither."""
    source = str(Path(trellis.__file__).parents[1])
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        empty, full = str(Path(folder) / "empty"), str(Path(folder) / "full")
        # A quick run does not wait for the compiler, and uses what is compiled already.
        runs = {"compiled on this machine before": (source, {} if bench.quick else {"NUMBA_CACHE_DIR": full})}
        if not bench.quick:
            runs = {
                "a wheel with machine code": (_wheel(Path(folder)), {"NUMBA_CACHE_DIR": empty}),
                "a wheel of pure Python": (source, {"NUMBA_CACHE_DIR": full}),
                **runs,
            }
        rows, seconds = [], {}
        for name, (package, cache) in runs.items():
            say(f"  {name}")
            once = name == "a wheel of pure Python"
            asked = [_ask(package, cache) for _ in range(1 if once else bench.times(_REPEATS))]
            imported, first, second = (median(column) for column in zip(*asked, strict=True))
            seconds[name] = imported + first
            rows.append((name, *(f"{one:.2f}" for one in (imported, first, second, imported + first))))
        compiled = sum(len(files) for _, _, files in os.walk(empty))
    bars: tuple[Bar, ...] = ()
    if not bench.quick:
        wheel = seconds["a wheel with machine code"]
        bars = (
            Bar.at_most("first query with machine code, beyond the start of Spark", 3, wheel, " s"),
            Bar("files that the compiler wrote meanwhile", "0", str(compiled), compiled == 0),
        )
    head = (
        "A new process, in which Spark has started and answered a query of its own; then Trellis is imported and asked "
        "for ten series of 100 rows, and asked again. Spark starts its Python workers within the first. "
    )
    columns = ("", "`import trellis`, s", "first query, s", "second query, s", "until the first rows, s")
    return Section("first_query", "The first query on a machine", f"{head}\n\n{table(columns, rows)}", bars)


def _wheel(folder: Path) -> str:
    """A wheel with machine code, unpacked."""
    say("  building a wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", str(_ROOT)]
    environment = {**os.environ, "TRELLIS_MACHINE_CODE": "1"}
    subprocess.run([*command, "--wheel-dir", str(folder)], env=environment, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "package")
    return str(folder / "package")


def _ask(package: str, cache: dict[str, str]) -> tuple[float, float, float]:
    """The seconds to import, of the first query and of the second, in a new process."""
    environment = {**os.environ, **cache, "PYTHONPATH": package}
    done = subprocess.run([sys.executable, "-c", _ASK], env=environment, capture_output=True, text=True, check=True)
    imported, first, second = map(float, done.stdout.split())
    return imported, first, second
