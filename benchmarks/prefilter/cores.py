"""Two cores against one: each number of cores in a process of its own, with its own Spark.

python -m benchmarks.prefilter.cores TABLE --cores 2     is what each process runs; it prints a line for each run
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from subprocess import CalledProcessError

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.options import is_quick
from benchmarks.prefilter.queries import SEQUENCE, build
from benchmarks.prefilter.records import Keep, Record
from benchmarks.prefilter.runner import OFF, plan
from benchmarks.processes import json_lines
from benchmarks.sessions import noop, run_digested, session
from benchmarks.timing import say

__all__ = ["CASES", "SETTINGS", "cores"]

CASES = ("skip to next row", "skip past last row", "90 % in one partition", "scan and sort by Spark alone")
SETTINGS: Mapping[str, tuple[int, bool]] = {"local[2]": (2, False), "local[1]": (1, False), "one CPU": (1, True)}
"""Threads of Spark, and whether the process and all its children are held on one processor."""

# The commonest types: hardly a window is without them, so there is nothing to drop.
_TYPES = ("THEFT", "BATTERY", "CRIMINAL DAMAGE")
_PART = "CASE WHEN pmod(xxhash64(id), 10) <> 0 THEN 0 ELSE 1 + pmod(id, 100) END"


def cores(keep: Keep, path: Path, table: str, runs: int) -> None:
    """All cases in all settings, so many runs each. No other Spark should run meanwhile."""
    texts = _texts()
    for setting, (threads, pinned) in list(SETTINGS.items())[: 1 if is_quick() else None]:
        missing = [case for case in CASES if len(keep.held(_key(table, case, setting), texts[case])) < runs]
        if not missing:
            continue
        say(f"cores, {table}: {setting} …")
        options = ["--cores", str(threads), "--runs", str(runs), "--cases", json.dumps(missing)]
        options += ["--pinned"] if pinned else []
        try:
            for values in json_lines(__name__, str(path), *options):
                case, whole = values.pop("case"), values.pop("whole")
                variant = f"{setting}, not cut" if whole else setting
                keep.add(Record(*_key(table, case, variant), text=texts[case], **values))
                say(f"cores, {table}: {case}, {variant}: {values['seconds']:.2f} s")
        except CalledProcessError as problem:
            # Kept as failures, so that the page names what is missing; the next run tries them again.
            text = f"the process ended with {problem.returncode}"
            say(f"cores, {table}: {setting}: {text}")
            for case in missing:
                if len(keep.held(_key(table, case, setting), texts[case])) < runs:
                    keep.add(Record(*_key(table, case, setting), text=texts[case], error=text))


def _key(table: str, case: str, setting: str) -> tuple[str, str, str, str]:
    return "cores", table, case, setting


def _texts() -> dict[str, str]:
    """The box of DyGeoBox around the three commonest types, unpartitioned and with a partition of 90 %."""
    whole = build(SEQUENCE, "DyGeoBox", 0, _TYPES, None).text
    return {
        CASES[0]: whole,
        CASES[1]: whole.replace("SKIP TO NEXT ROW", "SKIP PAST LAST ROW"),
        CASES[2]: whole.replace("(ORDER BY", "(PARTITION BY part ORDER BY"),
        CASES[3]: "",
    }


def main() -> None:
    """Run the cases in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", type=json.loads, default=list(CASES))
    parser.add_argument("--pinned", action="store_true", help="hold everything on one processor")
    asked = parser.parse_args()
    if asked.pinned:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    texts = _texts()
    with session(asked.cores) as (spark, _):
        frame = spark.read.parquet(str(asked.table)).withColumn("part", F.expr(_PART))
        for case in asked.cases:
            _case(case, texts[case], frame, asked.runs, asked.cores > 1)


def _case(case: str, text: str, frame: DataFrame, runs: int, check: bool) -> None:
    """One run that is not timed, then those that are; once more without slices, for an equal result."""
    for number in range(runs + 1):
        values = _run(text, frame, {"off": list(OFF)}) if text else _sort(frame)
        if number:
            print(json.dumps({"case": case, "whole": False, **values}), flush=True)
    if text and check:
        values = _run(text, frame, {"off": [*OFF, "slices"]})
        print(json.dumps({"case": case, "whole": True, **values}), flush=True)


def _run(text: str, frame: DataFrame, hints: Mapping[str, object]) -> dict[str, object]:
    began = time.perf_counter()
    planned = plan(text, frame, hints)
    planning = time.perf_counter() - began
    matches, digest = run_digested(planned.frame)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "planning": planning, "matches": matches, "digest": digest}


def _sort(frame: DataFrame) -> dict[str, object]:
    """What Spark itself gains: the same columns, through an exchange, in order."""
    began = time.perf_counter()
    columns = frame.select("id", "tstamp", "primary_type", "longitude", "latitude")
    noop(columns.repartitionByRange(8, "tstamp").sortWithinPartitions("tstamp", "id"))
    return {"seconds": time.perf_counter() - began}


if __name__ == "__main__":
    main()
