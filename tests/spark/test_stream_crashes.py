"""Streams whose driver or worker is killed: no match is lost, and none comes twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

import stream_program
import trellis

pytestmark = [pytest.mark.streaming, pytest.mark.thorough]

_BATCHES = 50
_KILLS = 20
_BEGIN = datetime(2024, 5, 1, 12, tzinfo=timezone.utc)


def write_batches(folder: Path) -> None:
    """Files of prices that come a little out of order; the last one closes all windows."""
    chance = random.Random(7)
    (folder / "in").mkdir(parents=True)
    for number in range(_BATCHES + 1):
        rows = [
            (chance.randrange(20), 20 * number + chance.randrange(-10, 20), float(chance.randrange(10)))
            for _ in range(60)
        ]
        if number == _BATCHES:
            rows = [(-1, 1_000_000, 0.0)]
        lines = [
            json.dumps({"k": k, "at": (_BEGIN + timedelta(seconds=second)).isoformat(), "x": x})
            for k, second, x in rows
        ]
        path = folder / "in" / f"{number:03d}.json"
        path.write_text("\n".join(lines))
        os.utime(path, (number, number))


def start(folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    environment.pop("PYSPARK_SUBMIT_ARGS", None)
    command = [sys.executable, stream_program.__file__, str(folder)]
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)


def committed(folder: Path) -> int:
    return len([path for path in (folder / "checkpoint" / "commits").glob("*") if path.name.isdigit()])


def check(folder: Path, spark: SparkSession) -> None:
    rows = spark.read.schema(stream_program.SCHEMA).json(str(folder / "in"))
    schema = "k int, number bigint, first timestamp, last timestamp, low double"
    found = sorted(map(tuple, spark.read.schema(schema).json(str(folder / "out")).collect()))
    expected = sorted(map(tuple, trellis.sql(stream_program.QUERY, t=rows).collect()))
    assert found == expected
    assert len(expected) > 100


def test_a_driver_that_is_killed_again_and_again(spark: SparkSession, tmp_path: Path) -> None:
    write_batches(tmp_path)
    chance = random.Random(11)
    killed = 0
    while True:
        program = start(tmp_path)
        began = committed(tmp_path)
        # Some micro-batches on, and then at any moment.
        further, moment = chance.randrange(0, 5), chance.random() * 2
        if killed < _KILLS:
            while program.poll() is None and committed(tmp_path) < began + further:
                time.sleep(0.05)
            time.sleep(moment)
        else:
            program.wait()
        if program.poll() is not None:
            assert program.returncode == 0, (tmp_path / "log.txt").read_text()[-3000:]
            break
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        killed += 1
    assert killed >= _KILLS // 2, "the stream was over before it could be killed"
    check(tmp_path, spark)


def workers(program: int) -> Iterator[psutil.Process]:
    """The Python workers of a program, without the daemon that forks them."""
    for process in psutil.Process(program).children(recursive=True):
        try:
            parent = process.parent()
            family = [] if parent is None else [process.cmdline(), parent.cmdline()]
        except psutil.Error:
            continue  # it ended meanwhile
        if family and all("trellis.spark.daemon" in words for words in family):
            yield process


def test_a_worker_that_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    """Spark runs its task again; the query goes on."""
    write_batches(tmp_path)
    program = start(tmp_path)
    killed = 0
    while program.poll() is None:
        if committed(tmp_path) >= 3 + 5 * killed and killed < 5:
            worker = next(workers(program.pid), None)
            if worker is not None:
                worker.kill()
                killed += 1
        time.sleep(0.05)
    assert killed > 0
    assert program.returncode == 0, (tmp_path / "log.txt").read_text()[-3000:]
    check(tmp_path, spark)
