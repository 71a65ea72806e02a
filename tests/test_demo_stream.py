"""The demonstration of a stream runs, and its alerts are the frauds that were planted, no more and no fewer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trellis import demo_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTES = 13
PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def by_hand(payments: list[demo_stream.Payment]) -> list[tuple[str, int, float]]:
    """Stolen cards by a loop: the card, how many small payments, and the large one."""
    found = []
    by_card: dict[str, list[demo_stream.Payment]] = {}
    for payment in sorted(payments, key=lambda payment: payment.seconds):
        by_card.setdefault(payment.card, []).append(payment)
    for card, paid in by_card.items():
        small: list[demo_stream.Payment] = []
        for payment in paid:
            small = [one for one in small if payment.seconds - one.seconds <= 600]
            if payment.amount > 500 and len(small) >= 3:
                found.append((card, len(small), payment.amount))
            small = [*small, payment] if payment.amount < 2 else []
    return sorted(found)


@pytest.mark.parametrize("seed", range(5))
def test_the_planted_frauds_are_those_of_a_loop(seed: int) -> None:
    by_minute, owed = demo_stream.plan_day(seed, demo_stream.SECONDS)
    paid = [payment for arrived in by_minute for payment in arrived]
    assert by_hand(paid) == sorted((alert.card, alert.small, alert.amount) for alert in owed)
    large = {payment.card for payment in paid if payment.amount > 500}
    assert len(owed) == demo_stream.SECONDS // 2 < len(large)  # there are others that only look alike


def test_payments_are_the_same_for_a_seed() -> None:
    assert demo_stream.plan_day(3, 5) == demo_stream.plan_day(3, 5) != demo_stream.plan_day(4, 5)


def test_payments_overtake_each_other_by_less_than_the_watermark_waits() -> None:
    by_minute, _ = demo_stream.plan_day(1, 10)
    latest = 0.0
    for arrived in by_minute:
        assert all(payment.seconds > latest - 60 for payment in arrived)
        latest = max([latest, *(payment.seconds for payment in arrived)])


def test_what_a_session_says_is_put_aside(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with open(tmp_path / "said", "wb") as said, demo_stream._errors_into(said.fileno()):
        subprocess.run([sys.executable, "-c", "import sys; print('noise', file=sys.stderr)"], check=True)
    os.write(2, b"news\n")
    assert ((tmp_path / "said").read_bytes(), capfd.readouterr().err) == (b"noise\n", "news\n")


@pytest.fixture
def stateful(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with the state store that streams need."""
    spark.conf.set(PROVIDER, demo_stream._ROCKSDB)
    yield spark
    spark.conf.unset(PROVIDER)


@pytest.mark.streaming
def test_demo(stateful: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    found = demo_stream._run(stateful, MINUTES, seed=2, pause=0.2)
    _, owed = demo_stream.plan_day(2, MINUTES)
    assert sorted(found) == owed
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if " card " in line and "then" in line][-len(owed) :] == [
        f"  {until}  card {card}: {small} small payments since {since}, then {amount:.2f} €"
        for card, since, until, small, amount in found
    ]
    assert f"Found: {len(owed)} of {len(owed)} stolen cards, and 0 alerts without a reason." in said
    assert not stateful.streams.active
