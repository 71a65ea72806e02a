"""Golden texts of `explain`: a query, then what is said of it. `--update-golden` is not needed: edit the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import local
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.describe.plan import describe_plan

FIXTURE = Path(__file__).parents[2] / "fixtures" / "explain.txt"
SCHEMA = [("sym", "string"), ("ts", "int"), ("price", "double"), ("qty", "int"), ("name", "string")]


def cases() -> list[tuple[str, str]]:
    """The fixture: blocks `--- query`, `--- explain`."""
    blocks = FIXTURE.read_text(encoding="utf-8").split("--- query\n")[1:]
    return [tuple(block.strip("\n").split("\n--- explain\n", 1)) for block in blocks]  # type: ignore[misc]


@pytest.mark.parametrize(("query", "expected"), cases(), ids=lambda text: text.splitlines()[0][:40])
def test_explain(query: str, expected: str) -> None:
    assert describe_plan(parse_clause_text(query), local.plan_clause(query, SCHEMA)) == expected
