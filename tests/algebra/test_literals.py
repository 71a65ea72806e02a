"""Numbers and intervals as SQL writes them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from trellis.algebra.literals import Interval, in_largest_unit, interval_micros, read_interval, read_number

SECOND = 1_000_000
HOUR = 3600 * SECOND


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("7L", 7),
        ("7y", 7),
        ("1.50", Decimal("1.50")),
        (".5", Decimal("0.5")),
        ("3BD", Decimal(3)),
        ("1e3", 1000.0),
        ("2.5D", 2.5),
        ("2F", 2.0),
        ("1e2BD", Decimal(100)),
        ("1.5L", None),
        ("x", None),
        ("'7'", None),
        ("", None),
        ("1 2", None),
    ],
)
def test_numbers(text: str, value: object) -> None:
    found = read_number(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "months", "micros"),
    [
        ("INTERVAL '2' HOUR", 0, 2 * HOUR),
        ("interval 2 hours", 0, 2 * HOUR),
        ("INTERVAL '1 day 2 hours'", 0, 26 * HOUR),
        ("INTERVAL 1 DAY -2 HOURS", 0, 22 * HOUR),
        ("INTERVAL '-3' MINUTE", 0, -180 * SECOND),
        ("INTERVAL '1.25' SECOND", 0, 1_250_000),
        ("INTERVAL '5' MICROSECOND", 0, 5),
        ("INTERVAL '2' WEEKS", 0, 14 * 24 * HOUR),
        ("INTERVAL '1 02:03:04.5' DAY TO SECOND", 0, 26 * HOUR + 184_500_000),
        ("INTERVAL '-00:30' HOUR TO MINUTE", 0, -HOUR // 2),
        ("INTERVAL '1-2' YEAR TO MONTH", 14, 0),
        ("INTERVAL '1 month 3 days'", 1, 72 * HOUR),
    ],
)
def test_intervals(text: str, months: int, micros: int) -> None:
    assert read_interval(text) == Interval(months, micros)
    assert interval_micros(text) == (None if months else micros)


@pytest.mark.parametrize(
    "text",
    [
        "INTERVAL 'x'",
        "INTERVAL '1.5' DAY",
        "INTERVAL '1' PARSEC",
        "INTERVAL '0.0000001' SECOND",
        "INTERVAL '1:2' SECOND TO HOUR",
        "INTERVAL '1' DAY TO SECOND",
        "INTERVAL '1.5 02' DAY TO HOUR",
        "DATE '2020-01-01'",
        "5",
    ],
)
def test_what_spark_must_read(text: str) -> None:
    assert read_interval(text) is None and interval_micros(text) is None


@pytest.mark.parametrize(
    ("micros", "shown"), [(14 * 24 * HOUR, (2, "WEEK")), (26 * HOUR, (26, "HOUR")), (1, (1, "MICROSECOND"))]
)
def test_the_largest_unit(micros: int, shown: tuple[int, str]) -> None:
    assert in_largest_unit(micros) == shown
