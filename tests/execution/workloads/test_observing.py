"""What a look at events tells of them is near the truth."""

from __future__ import annotations

from random import Random

import pytest

from local import Row
from local_workloads import observed_statistics

SCHEMA = (("id", "int"), ("type", "string"), ("time", "int"), ("x", "int"), ("y", "double"), ("k", "int"))
SHARES = {"A": 0.6, "B": 0.3, "C": 0.09, "D": 0.01}


def made_rows(count: int, seed: int = 1, step: int = 2) -> list[Row]:
    random = Random(seed)
    kinds = random.choices(list(SHARES), list(SHARES.values()), k=count)
    return [
        {
            "id": number,
            "type": kind,
            "time": number * step,
            "x": random.randrange(10),
            "y": random.random(),
            "k": random.randrange(4),
        }
        for number, kind in enumerate(kinds)
    ]


def test_rates_are_by_unit_of_time_and_by_label() -> None:
    patterns = {"p": "PATTERN SEQ(A a, B b, D d) WHERE { a.x < 3 } WITHIN 100"}
    found = observed_statistics(patterns, made_rows(8000), SCHEMA)
    # Events of other types are dropped before.
    assert found.event_rate == pytest.approx(0.5 * 0.91, rel=0.05)
    assert found.rates["B"] == pytest.approx(0.15, rel=0.1)
    assert found.rates["D"] == pytest.approx(0.005, rel=0.4)
    (label,) = [name for name in found.rates if name.startswith("A")]
    assert found.rates[label] == pytest.approx(0.3 * 0.3, rel=0.1)
    assert "C" not in found.rates


def test_rates_are_those_of_single_series() -> None:
    patterns = {"p": "PATTERN SEQ(A a, B b) WITHIN 100"}
    found = observed_statistics(patterns, made_rows(8000), SCHEMA, ("k",))
    assert found.event_rate == pytest.approx(0.5 * 0.9 / 4, rel=0.1)
    assert found.rates["A"] == pytest.approx(0.3 / 4, rel=0.1)


def test_windows_of_events_have_the_event_as_their_unit() -> None:
    found = observed_statistics({"p": "PATTERN SEQ(A a, B b) WITHIN 50 EVENTS"}, made_rows(4000), SCHEMA)
    assert found.event_rate == 1.0
    assert found.rates["A"] == pytest.approx(0.6, rel=0.1)
    assert found.rates["B"] == pytest.approx(0.3, rel=0.1)


def test_without_a_window_the_horizon_is_the_series() -> None:
    found = observed_statistics({"p": "PATTERN SEQ(A a, B b)"}, made_rows(4000), SCHEMA)
    assert found.horizon == pytest.approx(0.9 * 4000 / 2, rel=0.05)


@pytest.mark.parametrize(
    ("condition", "share"),
    [
        ("a.x < b.x", 0.45),
        ("b.x < a.x", 0.45),
        ("a.x = b.x", 0.1),
        ("a.x <> b.x", 0.9),
        ("a.x >= b.x", 0.55),
        ("a.y < b.y", 0.5),
        ("a.x + 5 < b.x", 0.1),
        ("a.y + b.y > 1.5", 0.125),
        ("a.y + 0.5 < b.y", 0.125),
    ],
)
def test_selectivities(condition: str, share: float) -> None:
    patterns = {"p": f"PATTERN SEQ(A a, B b) WHERE {{ {condition} }} WITHIN 100"}
    found = observed_statistics(patterns, made_rows(8000), SCHEMA)
    (selectivity,) = found.selectivities.values()
    assert selectivity == pytest.approx(share, abs=0.14)


def test_pairs_are_near_each_other_and_in_order() -> None:
    rows = [{**row, "x": row["time"]} for row in made_rows(4000)]
    for pattern, share in (("SEQ(A a, B b)", 1.0), ("SEQ(B b, A a)", 0.0), ("AND(A a, B b)", 0.5)):
        found = observed_statistics({"p": f"PATTERN {pattern} WHERE {{ a.x < b.x }} WITHIN 100"}, rows, SCHEMA)
        (selectivity,) = found.selectivities.values()
        assert selectivity == pytest.approx(share, abs=0.12)
    near = {"p": "PATTERN SEQ(A a, B b) WHERE { b.x < a.x + 50 } WITHIN 100"}
    (selectivity,) = observed_statistics(near, rows, SCHEMA).selectivities.values()
    assert selectivity == pytest.approx(0.5, abs=0.14)


def test_agreement_in_keys() -> None:
    patterns = {"p": "PATTERN SEQ(A a, B b) WHERE { [k] } WITHIN 100", "q": "PATTERN SEQ(A a, B b) WITHIN 100"}
    found = observed_statistics(patterns, made_rows(4000), SCHEMA)
    assert found.keys["k"] == pytest.approx(0.25, abs=0.12)


def test_what_is_never_seen_is_rare_but_not_impossible() -> None:
    patterns = {"p": "PATTERN SEQ(A a, Z z) WHERE { a.x = z.x } WITHIN 100"}
    found = observed_statistics(patterns, made_rows(1000), SCHEMA)
    assert 0.0 < found.rates["Z"] < 0.001
    (selectivity,) = found.selectivities.values()
    assert selectivity == pytest.approx(0.1)


def test_no_rows() -> None:
    patterns = {"p": "PATTERN SEQ(A a, B b) WHERE { a.x = b.x } WITHIN 100"}
    assert not observed_statistics(patterns, [], SCHEMA).rates


def test_a_condition_that_fails_tells_nothing() -> None:
    patterns = {"p": "PATTERN SEQ(A a, B b) WHERE { a.x % b.x = 0 } WITHIN 100"}
    rows = [{**row, "x": 0} for row in made_rows(100)]
    (selectivity,) = observed_statistics(patterns, rows, SCHEMA).selectivities.values()
    assert selectivity == pytest.approx(0.1)


def test_long_windows_of_calendar_and_small_series() -> None:
    patterns = {"p": "PATTERN SEQ(A a, B b) WHERE { a.x < b.x } WITHIN 100"}
    rows = [{**row, "k": number} for number, row in enumerate(made_rows(50))]
    found = observed_statistics(patterns, rows, SCHEMA, ("k",))
    assert found.event_rate > 0.0
