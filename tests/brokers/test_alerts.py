"""A streaming query between two topics of a real broker, stopped and started again: exactly the matches of a batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from brokers import broker, jars
from brokers.payments import BROKEN_OFF

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def connector() -> list[Path]:
    try:
        broker.java()
        jars.broker_jars()
        return jars.connector_jars(pyspark.__version__)
    except jars.Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.streaming
@pytest.mark.thorough
def test_alerts_of_a_query_that_was_stopped(connector: list[Path], tmp_path: Path) -> None:
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": tmp_path / "local",
        "spark.log.level": "ERROR",
        "spark.python.daemon.module": "trellis.spark.daemon",
        "spark.sql.shuffle.partitions": 2,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    options = [f"--conf {name}={value}" for name, value in settings.items()]
    listed = ",".join(map(str, connector))
    environment = {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": f"--master local[2] --jars {listed} {' '.join(options)} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE.parents[1] / "src")]),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    program = [sys.executable, "-m", "brokers.from_topic_to_topic"]
    with broker.running() as servers:
        done = subprocess.run(
            [*program, servers, str(tmp_path)], env=environment, capture_output=True, text=True, cwd=tmp_path
        )
    assert done.returncode == 0, done.stderr[-5000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["found"] == said["batch"]
    assert 0 < len(said["halfway"]) < len(said["found"])
    (half,) = [alert for alert in map(json.loads, said["found"]) if alert["card"] == BROKEN_OFF]
    assert (half["since"], half["small_payments"], half["amount"]) == ("2026-03-01T12:16:40.000Z", 3, 900.0)
