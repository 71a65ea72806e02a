"""Workloads in which sharing goes wrong easily, and what they find: for the oracle and for engines.

OpenCEP's shared plans fail the first six. What two patterns share is the same sub-pattern, with structure, conditions
and window, or it is not shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from naive_sase import Event
from naive_sase_notation import attr, lit, op
from naive_workloads import Pattern
from naive_workloads_notation import each, pattern


@dataclass(frozen=True)
class Trap:
    """Patterns, rows, and for each pattern the `id`s of the rows of its matches, in the order of their numbers."""

    title: str
    patterns: tuple[Pattern, ...]
    rows: tuple[Event, ...]
    matches: dict[str, list[str]]

    def __str__(self) -> str:
        return self.title


def trap(title: str, rows: str | Sequence[Event], *expected: tuple[Pattern, str]) -> Trap:
    """A trap; matches are written as "0 2, 1 2", and the patterns are named p, q, r, ..."""
    named = [replace(sought, name=name) for name, (sought, _) in zip("pqrstu", expected, strict=False)]
    matches = {
        sought.name: [match.strip() for match in text.split(",") if match.strip()]
        for sought, (_, text) in zip(named, expected, strict=True)
    }
    return Trap(title, tuple(named), tuple(_rows(rows) if isinstance(rows, str) else rows), matches)


def _rows(text: str) -> list[Event]:
    """Rows from "A B:x=1,y=2 C@7": a type, values if any, and the time if it is not the number of the row."""
    rows = []
    for number, word in enumerate(text.split()):
        head, _, time = word.partition("@")
        name, _, values = head.partition(":")
        row: dict[str, Any] = {"id": number, "type": name, "time": int(time) if time else number}
        row |= dict.fromkeys("xyk")
        row |= {column: int(value) for column, _, value in (part.partition("=") for part in values.split(",") if part)}
        rows.append(row)
    return rows


_RISES = {column: op(attr("a", column), "<", attr("b", column)) for column in "xy"}

TRAPS = [
    trap(
        "a sequence and its reverse",
        "A B A",
        (pattern("SEQ(A a, B b)"), "0 1"),
        (pattern("SEQ(B b, A a)"), "1 2"),
        (pattern("SEQ(B a, A b)"), "1 2"),
        (pattern("AND(A a, B b)"), "0 1, 1 2"),
    ),
    trap(
        "conditions alike but for the column",
        "A:x=1,y=2 B:x=2,y=1 B:x=0,y=3",
        (pattern("SEQ(A a, B b)", _RISES["x"]), "0 1"),
        (pattern("SEQ(A a, B b)", _RISES["y"]), "0 2"),
        (pattern("SEQ(A a, B b)", _RISES["x"], _RISES["y"]), ""),
        (pattern("SEQ(A a, B b)"), "0 1, 0 2"),
    ),
    trap(
        "equal patterns with two names",
        "A B",
        (pattern("SEQ(A a, B b)"), "0 1"),
        (pattern("SEQ(A a, B b)"), "0 1"),
        (pattern("SEQ(A first, B second)"), "0 1"),
    ),
    trap(
        "sets with the last event before what follows",
        "A A A C",
        (pattern("SEQ(A+ a[], C c)"), "0 1 2 3, 0 1 3, 0 2 3, 0 3, 1 2 3, 1 3, 2 3"),
        (pattern("SEQ(A a, C c)"), "0 3, 1 3, 2 3"),
        (pattern("SEQ(A+ a[])"), "0, 0 1, 1, 0 1 2, 0 2, 1 2, 2"),
    ),
    trap(
        "one event in two places",
        "A A",
        (pattern("SEQ(A a, A+ b[])"), "0 1"),
        (pattern("SEQ(A+ a[], A b)"), "0 1"),
        (pattern("AND(A a, A+ b[])"), "0 1, 0 1"),
        (pattern("AND(A+ a[], A+ b[])"), "0 1, 0 1"),
        (pattern("SEQ(A a, A b)"), "0 1"),
        (pattern("SEQ(A+ a[])"), "0, 0 1, 1"),
    ),
    trap(
        "equal times have one order",
        "B@5 A@5 B@5 A@5",
        (pattern("SEQ(A a, B b)", within=0), "1 2"),
        (pattern("SEQ(B b, A a)", within=0), "0 1, 0 3, 2 3"),
        (pattern("AND(A a, B b)", within=0), "0 1, 1 2, 0 3, 2 3"),
        (pattern("SEQ(A a, ~(B b), A c)", within=0), ""),
        (pattern("SEQ(A a, A c, ~(B b))", within=0), "1 3"),
    ),
    trap(
        "windows that differ",
        "A@0 B@2 X@2 B@5 B@6",
        (pattern("SEQ(A a, B b)", within=2), "0 1"),
        (pattern("SEQ(A a, B b)", within=5), "0 1, 0 3"),
        (pattern("SEQ(A a, B b)", within="2 events"), "0 1"),
        (pattern("SEQ(A a, B b)", within="5 events"), "0 1, 0 3, 0 4"),
        (pattern("SEQ(A a, B b)"), "0 1, 0 3, 0 4"),
    ),
    trap(
        "a part with the window of the whole",
        "A@0 B@3 C@4 C@5",
        (pattern("SEQ(A a, B b)", within=2), ""),
        (pattern("SEQ(A a, B b, C c)", within=4), "0 1 2"),
        (pattern("SEQ(B b, C c)", within=1), "1 2"),
        (pattern("SEQ(A a, C c)", within=5), "0 2, 0 3"),
    ),
    trap(
        "which of two events of a type is meant",
        "A:x=1 A:x=2 A:x=1",
        (pattern("SEQ(A a, A b)", op(attr("a", "x"), "=", lit(1))), "0 1, 0 2"),
        (pattern("SEQ(A a, A b)", op(attr("b", "x"), "=", lit(1))), "0 2, 1 2"),
        (pattern("SEQ(A a, A b)", _RISES["x"]), "0 1"),
        (pattern("SEQ(A b, A a)", _RISES["x"]), "1 2"),
        (pattern("AND(A a, A b)", _RISES["x"]), "0 1, 1 2"),
    ),
    trap(
        "operators and constants that differ",
        "A:x=1 B:x=1 B:x=2",
        (pattern("SEQ(A a, B b)", op(attr("b", "x"), ">", lit(1))), "0 2"),
        (pattern("SEQ(A a, B b)", op(attr("b", "x"), ">=", lit(1))), "0 1, 0 2"),
        (pattern("SEQ(A a, B b)", op(attr("b", "x"), "=", attr("a", "x"))), "0 1"),
        (pattern("SEQ(A a, B b)", op(attr("b", "x"), ">", lit(2))), ""),
    ),
    trap(
        "an order that only one pattern has",
        "C A B A C",
        (pattern("SEQ(A a, AND(B b, C c))"), "1 2 4"),
        (pattern("AND(SEQ(A a, B b), C c)"), "0 1 2, 1 2 4"),
        (pattern("AND(SEQ(A a, C c), B b)"), "1 2 4, 2 3 4"),
        (pattern("AND(A a, B b, C c)"), "0 1 2, 0 2 3, 1 2 4, 2 3 4"),
    ),
    trap(
        "one event, several, or none",
        "A B C B C",
        (pattern("SEQ(A a, B b, C c)"), "0 1 2, 0 1 4, 0 3 4"),
        (pattern("SEQ(A a, B+ b[], C c)"), "0 1 2, 0 1 3 4, 0 1 4, 0 3 4"),
        (pattern("SEQ(A a, ~(B b), C c)"), ""),
        (pattern("SEQ(A a, C c)"), "0 2, 0 4"),
        (pattern("SEQ(C a, ~(A b), C c)"), "2 4"),
    ),
    trap(
        "absence with other conditions and in other places",
        "A:x=1 D:x=0 B:x=2 C:x=3",
        (pattern("SEQ(A a, ~(D d), B b, C c)"), ""),
        (pattern("SEQ(A a, B b, ~(D d), C c)"), "0 2 3"),
        (pattern("SEQ(A a, ~(D d), B b, C c)", op(attr("d", "x"), ">", attr("a", "x"))), "0 2 3"),
        (pattern("SEQ(A a, ~(D d), B b, C c)", op(attr("d", "x"), "<", attr("c", "x"))), ""),
        (pattern("AND(A a, B b, ~(D d))", within=2), ""),
        (pattern("SEQ(AND(A a, B b), ~(D d))", within=2), "0 2"),
    ),
    trap(
        "columns in which all agree",
        "A:x=1,y=1 X B:x=1,y=2 B:y=1 B:x=1,y=1",
        (pattern("SEQ(A a, B b)", same="x"), "0 2, 0 4"),
        (pattern("SEQ(A a, B b)", same="y"), "0 3, 0 4"),
        (pattern("SEQ(A a, B b)", same="x y"), "0 4"),
        (pattern("SEQ(A a, B b)", same="x", within="2 events"), "0 2"),
        (pattern("SEQ(A a, B b)", op(attr("a", "x"), "=", attr("b", "x")), within="3 events"), "0 2"),
        (pattern("SEQ(A a, B b)", within="2 events"), ""),
    ),
    trap(
        "conditions on members of a set",
        "B:x=3 A:x=2 B:x=1 B:x=4",
        (pattern("AND(A a, B+ b[])", op(each("b", "x"), ">", attr("a", "x"))), "0 1, 0 1 3, 1 3"),
        (pattern("AND(A a, B+ b[])", op(attr("b", "x", 1), ">", attr("a", "x"))), "0 1, 0 1 2, 0 1 2 3, 0 1 3, 1 3"),
        (
            pattern("AND(A a, B+ b[])", op(attr("b", "x", "LEN"), ">", attr("a", "x"))),
            "0 1, 0 1 2 3, 0 1 3, 1 2 3, 1 3",
        ),
        (pattern("AND(A a, B b)", op(attr("b", "x"), ">", attr("a", "x"))), "0 1, 1 3"),
    ),
    trap(
        "a clause that is also a pattern",
        "A B C",
        (pattern("SEQ(A a, OR(B b, C c))"), "0 1, 0 2"),
        (pattern("SEQ(A a, B b)"), "0 1"),
        (pattern("OR(SEQ(A a, B b), AND(A a, B b))"), "0 1"),
        (pattern("OR(SEQ(A a, B b), AND(A c, B d))"), "0 1, 0 1"),
    ),
]
