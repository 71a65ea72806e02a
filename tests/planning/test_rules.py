"""Every rule has a fixture: queries, and what the rule changes of their plans.

A case is a query, perhaps hints (JSON), and the lines of `explain` that go (-) and come (+) when the rule is switched
on. Where the query cannot be planned without the rule, the error stands for the plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest

import local
from trellis.algebra.query import Query
from trellis.errors import TrellisError
from trellis.languages.match_recognize import parse_clause_text
from trellis.languages.sase import is_sase, parse_sase_text
from trellis.languages.statement import parse_statement
from trellis.planning.describe.plan import describe_plan
from trellis.planning.hints import Hints
from trellis.planning.rule import Change, Firing, Rule
from trellis.planning.rules import RULES

FIXTURES = Path(__file__).parents[1] / "fixtures" / "rules"
SCHEMA = [("sym", "string"), ("ts", "int"), ("price", "double"), ("qty", "int"), ("name", "string")]


def cases() -> Iterator[tuple[str, str, str, str]]:
    for rule in RULES:
        blocks = (FIXTURES / f"{rule.name}.txt").read_text(encoding="utf-8").split("--- query\n")[1:]
        for block in blocks:
            asked, change = block.strip("\n").split("\n--- change\n", 1)
            query, _, hints = asked.partition("\n--- hints\n")
            yield rule.name, query, hints or "{}", change


def parse(query: str) -> Query:
    if is_sase(query):
        return parse_sase_text(query, "name", ("ts",))
    return parse_statement(query).clauses[0].query if query.startswith("SELECT") else parse_clause_text(query)


def explain(query: str, hints: dict[str, object]) -> list[str]:
    try:
        parsed = parse(query)
        return describe_plan(parsed, local.plan_clause(parsed, SCHEMA, **hints)).splitlines()
    except TrellisError as error:
        return [error.problem]


def changes(rule: str, query: str, hints: str) -> list[str]:
    """The lines of `explain` that the rule changes, those of the query itself aside."""
    given = json.loads(hints)
    without = explain(query, {**given, "off": [rule]})
    lines = list(unified_diff(without, explain(query, given), n=0, lineterm=""))[2:]
    return [line for line in lines if not line.startswith("@@")]


@pytest.mark.parametrize(("rule", "query", "hints", "change"), list(cases()))
def test_rule(rule: str, query: str, hints: str, change: str) -> None:
    found = changes(rule, query, hints)
    assert found, "the rule does not fire"
    assert "\n".join(found) == change


def test_every_rule_has_a_fixture_and_a_name_of_its_own() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert {file.stem for file in FIXTURES.glob("*.txt")} == set(names)
    assert all(rule.about for rule in RULES)


def test_rules_that_are_off_are_not_asked() -> None:
    def refuse(number: int) -> Change[int] | None:
        raise AssertionError(number)

    assert Firing(frozenset({"r"})).apply(Rule("r", "", refuse), 1) is None


def test_what_fired_is_timed_and_told() -> None:
    firing = Firing()
    add: Rule[[int], int] = Rule("add", "", lambda number: Change(number + 1, "one more") if number < 2 else None)
    assert firing.apply(add, 1) == 2
    assert firing.apply(add, 2) is None
    (fired,) = firing.fired
    assert str(fired) == "add: one more" and fired.seconds >= 0


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_every_rule_can_be_switched_off(rule: str) -> None:
    assert not Hints.of({"off": rule}).on(rule)
