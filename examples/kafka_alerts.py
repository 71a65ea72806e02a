r"""Card payments from one topic of Kafka, alerts to another: three or more small payments, then a large one.

Payments are JSON: {"card": "4711", "time": "2026-03-01T12:00:00Z", "amount": 1.5}. With the Spark that you have:

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0 kafka_alerts.py \
        --servers broker:9092 --payments payments --alerts alerts --checkpoint /data/alerts

Run it again with the same checkpoint, and it goes on where it was. See docs/kafka.md.
"""

from __future__ import annotations

import argparse
import signal
import threading
import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import trellis as tr

TESTED_CARDS = """
    SELECT * FROM {payments} MATCH_RECOGNIZE (
        PARTITION BY card
        ORDER BY time
        MEASURES
            first(time)         AS since,
            last(time)          AS until,
            count(SMALL.*)      AS small_payments,
            last(LARGE.amount)  AS amount
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN (SMALL{3,} LARGE)
        WITHIN INTERVAL '10' MINUTE
        DEFINE
            SMALL AS amount < 5,
            LARGE AS amount > 500
    )
"""
"""Somebody tries a stolen card with small amounts, and then takes what it holds."""


def parsed(messages: DataFrame) -> DataFrame:
    """The payments that messages of Kafka hold. What cannot be read is left out: it has no time to wait for."""
    fields = F.from_json(F.col("value").cast("string"), "card string, time timestamp, amount double")
    return messages.select(fields.alias("payment")).select("payment.*").where("card IS NOT NULL AND time IS NOT NULL")


def as_messages(alerts: DataFrame) -> DataFrame:
    """Alerts as messages of Kafka. The key is the card, so that all alerts of a card are in one partition."""
    return alerts.select(F.col("card").alias("key"), F.to_json(F.struct(*alerts.columns)).alias("value"))


def start(spark: SparkSession, chosen: argparse.Namespace) -> StreamingQuery:
    """The running query from topic to topic."""
    messages = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", chosen.servers)
        .option("subscribe", chosen.payments)
        .option("startingOffsets", "earliest")  # of the first run; later ones begin where the checkpoint says
        .load()
    )
    payments = parsed(messages).withWatermark("time", chosen.delay)
    writer = (
        as_messages(tr.sql(TESTED_CARDS, payments=payments))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", chosen.servers)
        .option("topic", chosen.alerts)
        .option("checkpointLocation", chosen.checkpoint)
    )
    writer = writer.trigger(availableNow=True) if chosen.once else writer.trigger(processingTime=chosen.every)
    return writer.start()


def run(query: StreamingQuery) -> None:
    """Wait for the end of the query, or for a signal to end it."""
    asked = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked.set())
    while not query.awaitTermination(1):
        if asked.is_set():
            stop(query)


def stop(query: StreamingQuery, patience: float = 60) -> None:
    """End the query between two batches: of one that is broken off, the next run writes the alerts once more."""
    until = time.monotonic() + patience
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < until:
        time.sleep(0.05)
    query.stop()


def arguments() -> argparse.Namespace:
    """What the command line says."""
    known = argparse.ArgumentParser(description="Alerts on stolen cards, from topic to topic.")
    known.add_argument("--servers", required=True, help="the brokers: host:port, host:port, ...")
    known.add_argument("--payments", default="payments", help="the topic that is read")
    known.add_argument("--alerts", default="alerts", help="the topic that is written")
    known.add_argument("--checkpoint", required=True, help="a folder of this query alone, which executors reach")
    known.add_argument("--delay", default="1 minute", help="how late a payment may come")
    known.add_argument("--every", default="5 seconds", help="how often to look for new payments")
    known.add_argument("--once", action="store_true", help="take what is there, then end")
    return known.parse_args()


def main() -> None:
    """Run until a signal comes, or until everything is read."""
    spark = (
        SparkSession.builder.appName("kafka alerts")
        .config("spark.sql.session.timeZone", "UTC")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )
    try:
        run(start(spark, arguments()))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
