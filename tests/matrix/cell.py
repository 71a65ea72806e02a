"""One cell of the matrix: runs in a fresh environment, outside the checkout, with what a user installs and no more.

Runs the quickstart, the hundred queries and a stream, and writes what happened as JSON: `python cell.py FOLDER`, where
the folder holds what `__main__.py` laid there.
"""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
import traceback
from pathlib import Path
from typing import Any

STORES = "org.apache.spark.sql.execution.streaming.state"
ORDER = ["time", "id"]  # of events: those of one time in the order of id


def main(folder: Path) -> int:
    """The exit code: 0 if everything was right."""
    import pyspark
    from pyspark.sql import SparkSession

    import trellis

    home = Path(trellis.__file__).resolve()
    assert home.is_relative_to(Path(sys.prefix).resolve()), f"trellis is not the installed one: {home}"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": f"{STORES}.RocksDBStateStoreProvider",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.range(1).collect()
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    started = time.monotonic()
    failed = run_queries(spark, queries[:1])
    first = time.monotonic() - started
    failed += run_queries(spark, queries[1:])
    every = time.monotonic() - started
    failed += run_quickstart(spark, folder)
    failed += run_stream(spark, folder)
    report = {
        "python": platform.python_version(),
        "spark": pyspark.__version__,
        "queries": len(queries),
        "failed": failed,
        "first_seconds": round(first, 1),
        "query_seconds": round(every, 1),
        "seconds": round(time.monotonic() - started, 1),
    }
    spark.stop()
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    return 1 if failed else 0


def run_queries(spark: Any, queries: list[dict[str, Any]]) -> list[str]:
    """What went wrong, a text for each query that did not give its answer."""
    failed = []
    for query in queries:
        try:
            found = answer(spark, query)
            if not same(found, query["expected"]):
                failed.append(f"{query['text']}\n  found    {found}\n  expected {query['expected']}")
        except Exception:
            failed.append(f"{query['text']}\n{traceback.format_exc()}")
    return failed


def answer(spark: Any, query: dict[str, Any]) -> list[list[Any]]:
    """The rows that Trellis finds."""
    import trellis as tr

    frame = spark.createDataFrame([tuple(row) for row in query["rows"]], query["schema"])
    match query["kind"]:
        case "rows" | "segments":
            found = tr.sql(f"SELECT * FROM {{t}} MATCH_RECOGNIZE (\n{query['text']}\n)", t=frame)
        case "events":
            found = tr.sase(query["text"], events=frame, time=ORDER)
        case "sequences":
            found = tr.sqlts(query["text"], t=frame)
        case kind:
            raise ValueError(kind)
    return [[row[name] for name in query["columns"]] for row in found.collect()]


def same(found: list[list[Any]], expected: list[list[Any]]) -> bool:
    """Whether these are the same rows, in any order: Spark gives partitions in any. Fractions are the same nearly."""
    if len(found) != len(expected):
        return False
    pairs = zip(sorted(found, key=_rough), sorted(expected, key=_rough), strict=True)
    return all(len(mine) == len(theirs) and all(map(_alike, mine, theirs)) for mine, theirs in pairs)


def _rough(row: list[Any]) -> str:
    return repr([f"{float(value):.6g}" if isinstance(value, (int, float)) else value for value in row])


def _alike(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9) or (mine != mine and theirs != theirs)
    return bool(mine == theirs)


def run_quickstart(spark: Any, folder: Path) -> list[str]:
    """What went wrong in the quickstart, which prints what its page says, or nothing."""
    from doc_pages import run_page

    text = (folder / "quickstart.md").read_text(encoding="utf-8")
    try:
        assert run_page("quickstart.md", text, {"__name__": "__main__", "spark": spark}) > 10
    except Exception:
        return [f"the quickstart\n{traceback.format_exc()}"]
    return []


DIPS = """SELECT * FROM {prices} MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY at MEASURES A.x AS high, last(DOWN.x) AS low
    PATTERN (A DOWN+ UP) WITHIN INTERVAL '1' HOUR
    DEFINE DOWN AS x < prev(x), UP AS x > prev(x))"""


def run_stream(spark: Any, folder: Path) -> list[str]:
    """What went wrong with a query on a stream of two files, whose answer is that of a table of both."""
    import trellis as tr

    home = folder / "prices"
    home.mkdir()
    for number, prices in enumerate(((9, 7, 5), (6, 8, 3, 4))):
        rows = [
            {"symbol": "a", "at": f"2024-05-01T12:{10 * number + at:02}:00Z", "x": x} for at, x in enumerate(prices)
        ]
        (home / f"{number}.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        # Spark reads files of one second in any order.
        os.utime(home / f"{number}.json", (1_000_000 + number, 1_000_000 + number))
    schema = "symbol string, at timestamp, x int"
    try:
        live = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(home))
        found = tr.sql(DIPS, prices=live.withWatermark("at", "1 second"))
        sink = found.writeStream.format("memory").queryName("dips").option("checkpointLocation", str(folder / "stream"))
        sink.trigger(availableNow=True).start().awaitTermination()
        rows = sorted(map(tuple, spark.table("dips").collect()))
        # The last row is at the watermark at most, so it is not complete.
        assert rows == [("a", 9, 5)], rows
    except Exception:
        return [f"a stream\n{traceback.format_exc()}"]
    return []


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
