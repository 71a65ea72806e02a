"""What a condition compares, and the value that was meant, without Spark."""

from __future__ import annotations

import pytest

from trellis.algebra import expression as e
from trellis.algebra.place import Place
from trellis.reasons.findings import Compared, _nearest, compared_in

TYPE = e.Column(("type",))


def at(name: str) -> e.At:
    return e.At(e.Column((name,)), Place())


@pytest.mark.parametrize(
    ("text", "held", "meant"),
    [
        ("Purchase", ["cart", "purchase"], "purchase"),
        ("in store", ["in_store", "In Store "], "In Store "),
        ("purchse", ["cart", "purchase"], "purchase"),
        ("Bestellung", ["cart", "purchase"], None),
        ("x", [], None),
    ],
)
def test_the_value_that_was_meant(text: str, held: list[str], meant: str | None) -> None:
    assert _nearest(text, dict.fromkeys(held, 1)) == meant


def test_comparisons_with_constants() -> None:
    listed = e.Operator("IN", (at("type"), e.Literal("'a'"), e.Literal("'b'")))
    turned = e.Operator("<", (e.Literal("10"), at("price")))
    of_match = e.Operator("=", (e.At(TYPE, Place(frozenset({"A"}))), e.Literal("'a'")))
    with_column = e.Operator("=", (at("type"), at("other")))
    condition = e.Operator("AND", (listed, turned, of_match, with_column))
    assert compared_in(condition) == [
        Compared(TYPE, "=", ("'a'", "'b'"), True),
        Compared(e.Column(("price",)), ">", ("10",), False),
    ]


def test_a_date_is_no_number() -> None:
    assert compared_in(e.Operator("=", (at("day"), e.Literal("DATE '2020-01-01'")))) == []
