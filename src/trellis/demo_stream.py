"""The demonstration behind `make demo-stream`: stolen cards in a stream of payments, each alert as it is found.

Run it with `python -m trellis.demo_stream`; it ends by itself after about half a minute and leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

import trellis as tr
from trellis.demo_session import local_builder
from trellis.errors import TrellisError, raising_worker_errors
from trellis.java import require_java

__all__ = ["STOLEN_CARDS", "Alert", "Payment", "main", "plan_day"]

STOLEN_CARDS = """
    SELECT card, date_format(since, 'HH:mm:ss') AS since, date_format(until, 'HH:mm:ss') AS until, small, amount
    FROM {payments} MATCH_RECOGNIZE (
        PARTITION BY card
        ORDER BY time
        MEASURES
            first(time)         AS since,
            last(time)          AS until,
            count(SMALL.*)      AS small,
            last(LARGE.amount)  AS amount
        ONE ROW PER MATCH
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN (SMALL{3,} LARGE)
        WITHIN INTERVAL '10' MINUTE
        DEFINE
            SMALL AS amount < 2,
            LARGE AS amount > 500
    )
"""
"""Somebody tries a card with at least three small payments, and then takes what it holds, all within ten minutes."""

SECONDS = 20
CARDS = 300
SLOWEST = 40.0  # seconds that a payment is under way, less than the watermark waits
DELAY = "1 minute"
NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Payment(NamedTuple):
    """A payment: what for does not matter, only when (in seconds after noon) and how much."""

    card: str
    seconds: float
    amount: float


class Alert(NamedTuple):
    """What is told of a stolen card, with the times of day of its first and last payment."""

    card: str
    since: str
    until: str
    small: int
    amount: float


# ---------------------------------------------------------------------------------------------------- the payments


def plan_day(seed: int, minutes: int) -> tuple[list[list[Payment]], list[Alert]]:
    """Payments as they arrive in each minute, and the alerts that are owed: the same for the same seed."""
    draw = random.Random(seed)
    stories = list(_stories(draw, minutes))
    paid = [payment for story in stories for payment in story]
    paid += _ordinary(draw, minutes, stories)
    arrivals = sorted((payment.seconds + draw.uniform(0, SLOWEST), payment) for payment in paid)
    by_minute: list[list[Payment]] = [[] for _ in range(minutes + 1)]
    for at, payment in arrivals:
        by_minute[int(at // 60)].append(payment)
    frauds = [story for story in stories if len(story) > 3 and story[-1].seconds - story[0].seconds <= 600]
    return by_minute, sorted(map(_alert, frauds))


def _stories(draw: random.Random, minutes: int) -> Iterator[list[Payment]]:
    """Small payments and then a large one, each on a card of its own. Some are no frauds: too few or too slow."""
    kinds = [(draw.randint(3, 5), 30.0) for _ in range(max(1, minutes // 2))]
    kinds += [(2, 30.0)] * (minutes // 6) + [(3, 660.0)] * (minutes // 13)
    cards = draw.sample(range(CARDS), len(kinds))
    for card, (small, pause) in zip(cards, kinds, strict=True):
        gaps = [draw.uniform(3, 12) for _ in range(small - 1)] + [pause * draw.uniform(1, 1.1)]
        at = draw.uniform(0, minutes * 60 - sum(gaps))
        amounts = [draw.uniform(0.5, 1.9) for _ in range(small)] + [draw.uniform(510, 990)]
        story = []
        for gap, amount in zip([0.0, *gaps], amounts, strict=True):
            at += gap
            story.append(_payment(card, at, amount))
        yield story


def _ordinary(draw: random.Random, minutes: int, stories: Sequence[Sequence[Payment]]) -> Iterator[Payment]:
    """What people pay all day; nobody but the thief pays with a stolen card meanwhile."""
    told = {story[0].card: (story[0].seconds, story[-1].seconds) for story in stories}
    for card in range(CARDS):
        at = draw.expovariate(1 / 240)
        while at < minutes * 60:
            payment = _payment(card, at, draw.uniform(3, 400))
            begin, end = told.get(payment.card, (-1.0, -1.0))
            if not begin <= payment.seconds <= end:
                yield payment
            at += draw.expovariate(1 / 240)


def _payment(card: int, seconds: float, amount: float) -> Payment:
    return Payment(f"{card:04d}", round(seconds, 3), round(amount, 2))


def _alert(story: Sequence[Payment]) -> Alert:
    since, until = (f"{NOON + timedelta(seconds=story[at].seconds):%H:%M:%S}" for at in (0, -1))
    return Alert(story[0].card, since, until, len(story) - 1, story[-1].amount)


def _deliver(folder: Path, number: int, payments: Sequence[Payment]) -> None:
    """A new file of payments. It gets its name when it is complete: the stream reads what has no dot in front."""
    lines = [
        json.dumps(
            {
                "card": payment.card,
                "time": (NOON + timedelta(seconds=payment.seconds)).isoformat(timespec="milliseconds"),
                "amount": payment.amount,
            }
        )
        for payment in payments
    ]
    hidden = folder / f".{number:04d}.json"
    hidden.write_text("\n".join(lines) + "\n", encoding="utf-8")
    hidden.rename(folder / f"{number:04d}.json")


# ---------------------------------------------------------------------------------------------------- the demonstration


def main(seconds: str = str(SECONDS)) -> int:
    """Run the demonstration; the answer is the exit code."""
    try:
        require_java()
        with _session() as spark, raising_worker_errors():
            _run(spark, int(seconds))
    except TrellisError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _run(spark: SparkSession, minutes: int, *, seed: int = 1, pause: float = 1.0) -> list[Alert]:
    """Deliver a minute of payments each second, and print the alerts; they are also the answer."""
    by_minute, owed = plan_day(seed, minutes)
    count = sum(map(len, by_minute))
    print(f"Asked of a stream of {count:,} payments with {CARDS} cards, a minute of them in each second:")
    print("which cards were tried with three or more small payments, and then charged with a large one?")
    print(STOLEN_CARDS)
    print(f"A payment may be {SLOWEST:.0f} seconds under way. An alert comes when no earlier one can come any more.")
    print("(Starting takes some seconds, and up to a minute where Trellis runs for the first time.)\n", flush=True)
    found: list[Alert] = []
    with tempfile.TemporaryDirectory(prefix="trellis-", ignore_cleanup_errors=True) as scratch:
        inbox = Path(scratch) / "payments"
        inbox.mkdir()
        _stream(spark, inbox, by_minute, found, pause)
    right = len(set(found) & set(owed))
    print(f"\nFound: {right} of {len(owed)} stolen cards, and {len(found) - right} alerts without a reason.")
    return found


def _stream(
    spark: SparkSession, inbox: Path, by_minute: Sequence[Sequence[Payment]], found: list[Alert], pause: float
) -> None:
    """Run the query while files come, until all of them are read; the alerts go into `found`."""

    def tell(batch: DataFrame, number: int) -> None:
        for row in sorted(batch.collect(), key=lambda row: row["until"]):
            found.append(Alert(*row))
            print(_line(found[-1]), flush=True)

    payments = (
        spark.readStream.schema("card string, time timestamp, amount double")
        .json(str(inbox))
        .withWatermark("time", DELAY)
    )
    query = (
        tr.sql(STOLEN_CARDS, payments=payments)
        .writeStream.foreachBatch(tell)
        .option("checkpointLocation", str(inbox.parent / "checkpoint"))
        .start()
    )
    try:
        for number, arrived in enumerate(by_minute):
            _deliver(inbox, number, arrived)
            if number == 0:
                query.processAllAvailable()  # the first batch starts the workers
            time.sleep(pause)
        # A payment of the next day: everything before it is complete.
        _deliver(inbox, len(by_minute), [Payment("none", 86_400.0, 20.0)])
        query.processAllAvailable()
    finally:
        query.stop()


def _line(alert: Alert) -> str:
    card, since, until, small, amount = alert
    return f"  {until}  card {card}: {small} small payments since {since}, then {amount:.2f} €"


@contextmanager
def _session() -> Iterator[SparkSession]:
    """A session that ends with the demonstration; its state store has timers."""
    builder = (
        local_builder("trellis demo of a stream")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.providerClass", _ROCKSDB)
    )
    with tempfile.TemporaryFile() as said:
        try:
            with _errors_into(said.fileno()):
                spark = builder.getOrCreate()
            try:
                yield spark
            finally:
                spark.stop()
        except Exception:
            said.seek(0)
            sys.stderr.write(said.read().decode(errors="replace"))
            raise


@contextmanager
def _errors_into(file: int) -> Iterator[None]:
    """What starts here writes its errors into a file: PySpark tells of stateful functions where alerts should stand."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
