"""The program of test_alerts: payments into a topic, the example stopped and run again, alerts out of the other topic.

It needs a Spark with the connector to Kafka, which the session of the tests has not; so it runs as a process.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pyspark
from pyspark.sql import DataFrame, SparkSession

import trellis as tr
from brokers.payments import far_ahead, parts

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "kafka_alerts.py"
PAYMENTS, ALERTS = "payments", "alerts"
PATIENCE = 240.0


def main(servers: str, folder: Path) -> None:
    """Print what was found after the first run and in the end, and what a batch query finds, as JSON."""
    spark = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    first, second = parts()
    example = [
        *(str(EXAMPLE), "--servers", servers, "--payments", PAYMENTS, "--alerts", ALERTS),
        *("--checkpoint", str(folder / "checkpoint"), "--every", "1 second"),
    ]
    send(spark, servers, first)
    run_until_stopped(example, folder / "checkpoint")
    halfway = alerts(spark, servers)
    # The far payment comes alone: what it overtook would be late.
    for messages in (second, [far_ahead()]):
        send(spark, servers, messages)
        run_once(example)
    print(json.dumps({"halfway": halfway, "found": alerts(spark, servers), "batch": in_a_batch(spark, servers)}))
    spark.stop()


def send(spark: SparkSession, servers: str, messages: Sequence[str]) -> None:
    """Write messages; those of a card need not stand in one partition, since Trellis sorts by time."""
    rows = spark.createDataFrame([(message,) for message in messages], "value string")
    rows.write.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", PAYMENTS).save()


def received(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    return spark.read.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", topic).load()


def alerts(spark: SparkSession, servers: str) -> list[str]:
    rows = received(spark, servers, ALERTS).selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)").collect()
    assert all(row["key"] == json.loads(row["value"])["card"] for row in rows)
    return sorted(row["value"] for row in rows)


def in_a_batch(spark: SparkSession, servers: str) -> list[str]:
    """The same query over all payments at once."""
    script = load_example()
    payments = script.parsed(received(spark, servers, PAYMENTS))
    return sorted(row["value"] for row in script.as_messages(tr.sql(script.TESTED_CARDS, payments=payments)).collect())


def load_example() -> ModuleType:
    spec = importlib.util.spec_from_file_location(EXAMPLE.stem, EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_until_stopped(example: list[str], checkpoint: Path) -> None:
    """Run the example without end; when it has written its first alerts, ask it to stop."""
    process = subprocess.Popen([sys.executable, *example], stdout=sys.stderr)
    try:
        # The first batch reads; the second one has no new rows but a watermark, and finds.
        await_file(checkpoint / "commits" / "1", process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def await_file(file: Path, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while not file.exists():
        assert process.poll() is None, "the example has ended"
        assert time.monotonic() < until, f"there is no {file} after {PATIENCE} s"
        time.sleep(0.2)


def run_once(example: list[str]) -> None:
    """Run the example as users do, until all is read."""
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    options = os.environ["PYSPARK_SUBMIT_ARGS"].removesuffix("pyspark-shell").split()
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
    command = [str(submit), *options, *example, "--once"]
    subprocess.run(command, check=True, stdout=sys.stderr, env=environment, timeout=PATIENCE)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
