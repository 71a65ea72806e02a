from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal

import pytest

from trellis.cli import values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("0", 0),
        ("007", "007"),  # a code, not a number
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("nan", "nan"),
        ("1_000", "1_000"),
        ("٣", "٣"),
        ("2020-01-01", "2020-01-01"),
        ("", ""),
    ],
)
def test_a_value_without_a_type_is_guessed(text: str, value: object) -> None:
    name, found = values.parameter(f"p={text}")
    assert (name, found, type(found)) == ("p", value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("p:string=42", "42"),
        ("p:int=42", 42),
        ("p:double=42", 42.0),
        ("p:decimal=1.10", Decimal("1.10")),
        ("p:boolean=TRUE", True),
        ("p:date=2020-02-29", date(2020, 2, 29)),
        ("p:timestamp=2020-01-01 10:30:00.5", datetime(2020, 1, 1, 10, 30, 0, 500_000)),
        ("p:timestamp=2020-01-01T10:30:00Z", datetime(2020, 1, 1, 10, 30, tzinfo=timezone.utc)),
        ("p=a=b", "a=b"),
    ],
)
def test_a_type_can_be_named(text: str, value: object) -> None:
    assert values.parameter(text) == ("p", value)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("p", "key=value"),
        ("=1", "key=value"),
        ("p q=1", "not a name"),
        ("p:float16=1", "the types are int, double"),
        ("p:int=one", "not of the type int"),
        ("p:date=2020-02-30", "not of the type date"),
        ("p:decimal=x", "not of the type decimal"),
        ("p:boolean=yes", "not of the type boolean"),
    ],
)
def test_a_wrong_parameter_is_explained(text: str, about: str) -> None:
    with pytest.raises(ArgumentTypeError, match=about):
        values.parameter(text)


def test_hints() -> None:
    assert values.hint("step_budget=1000") == ("step_budget", 1000)
    assert values.hint("off=hoist_slots,merge_states") == ("off", ("hoist_slots", "merge_states"))
    assert values.hint("off=hoist_slots") == ("off", "hoist_slots")


def test_table_options() -> None:
    assert values.table_option("ticks.sep=;") == ("ticks", "sep", ";")
    assert values.table_option("ticks.a.b==") == ("ticks", "a.b", "=")
    with pytest.raises(ArgumentTypeError, match=r"table\.key=value"):
        values.table_option("sep=;")


@pytest.mark.parametrize(
    ("read", "wrong"),
    [
        (values.named, "my-table=x"),
        (values.named, "t="),
        (values.limit, "0"),
        (values.limit, "-1"),
        (values.limit, "some"),
        (values.memory, "4"),
        (values.memory, "4 g"),
        (values.memory, "0g"),
        (values.zoom, "-1"),
        (values.zoom, "1,2,3"),
        (values.zoom, "x"),
    ],
)
def test_wrong_values(read: Callable[[str], object], wrong: str) -> None:
    with pytest.raises(ArgumentTypeError):
        read(wrong)


def test_limits_and_memory() -> None:
    assert [values.limit(text) for text in ("5", "all")] == [5, 0]
    assert [values.memory(text) for text in ("4G", "800m", "2gb")] == ["4g", "800m", "2gb"]


def test_zooms() -> None:
    assert [values.zoom(text) for text in ("20", "5,20", "0")] == [20, (5, 20), 0]
