"""Card payments for a topic, the same in every run, in the order in which they arrive."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta, timezone

BEGIN = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
MINUTES = 40
CARDS = 20
LATEST = 40.0  # seconds that a payment is under way, less than the watermark waits
BROKEN_OFF = "half-way"
"""A card whose fraud begins before the first part ends and is complete in the second."""


def message(card: str, seconds: float, amount: float) -> str:
    time = BEGIN + timedelta(seconds=seconds)
    return json.dumps({"card": card, "time": time.isoformat(timespec="milliseconds"), "amount": amount})


def parts() -> tuple[list[str], list[str]]:
    """The messages of two halves of the time. Some of the second half are older than the last of the first."""
    draw = random.Random(20260301)
    half = MINUTES * 30
    paid = [(BROKEN_OFF, half + at, amount) for at, amount in ((-200, 1.0), (-100, 2.0), (100, 3.0), (200, 900.0))]
    for number in range(CARDS):
        seconds = 0.0
        while (seconds := seconds + draw.expovariate(1 / 80)) < MINUTES * 60:
            amount = draw.choice((1.0, 2.5, 4.0, 80.0, 600.0))
            paid.append((f"card {number}", round(seconds, 3), amount))
    arrivals = sorted((seconds + draw.uniform(0, LATEST), card, seconds, amount) for card, seconds, amount in paid)
    before = [message(card, seconds, amount) for at, card, seconds, amount in arrivals if at < half]
    after = [message(card, seconds, amount) for at, card, seconds, amount in arrivals if at >= half]
    return [*before, "no payment"], after


def far_ahead() -> str:
    """A payment so late that everything before it is complete."""
    return message("nobody", 1_000_000, 50.0)
