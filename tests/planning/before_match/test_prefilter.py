"""Which prefilter is chosen: by hand-made statistics, without Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trellis.algebra.expression import At, Column, Expression, Literal, Operator
from trellis.algebra.place import Place
from trellis.algebra.prefilter import Buckets, Candidate, Form, Scale
from trellis.algebra.statistics import RowStatistics
from trellis.analysis.paths import Path
from trellis.planning.before_match.costs import default_prefilter_costs
from trellis.planning.before_match.demands import Demand
from trellis.planning.before_match.prefilter import Forced, forced_prefilter, joins_of, weigh_prefilters

KEYS = (Column(("g",)),)
BUCKETS = Buckets(Column(("t",)), Scale.NUMBER, 10)


def _demand(*paths: str, keys: bool = False) -> Demand:
    conditions = {
        name: Operator("=", (Column(("k",)), Literal(f"'{name}'"))) for path in paths for name in path.split()
    }
    found = tuple(Path(tuple(path.split()), starts=True, ends=True) for path in paths)
    return Demand(KEYS if keys else (), BUCKETS, found, conditions)


def _choose(
    demand: Demand, shares: dict[str, float], rows: float, seen: float = 1.0, tests: float = 1.0, **others: Any
) -> list[Candidate]:
    statistics = RowStatistics(rows, span=rows, shares=shares, **others)
    return weigh_prefilters(demand, statistics, default_prefilter_costs(), tests, seen, lambda _: 2.0)


def test_rare_variables_are_looked_for() -> None:
    found = _choose(_demand("A B C"), {"A": 0.2, "B": 0.0001, "C": 0.2}, 1e7)
    best = found[0].prefilter
    assert best is not None
    assert "B" in {best.symbols[number].variable for number in best.components[0].symbols}
    assert [candidate.cost for candidate in found] == sorted(candidate.cost for candidate in found)
    # One to three of three variables, and none.
    assert len(found) == 8
    assert found[0].rows < 1e5


@pytest.mark.parametrize(("share", "rows"), [(0.5, 1e7), (0.0001, 1e4)])
def test_nothing_is_done_in_vain(share: float, rows: float) -> None:
    """Where every bucket has all variables, and where the whole input is read in no time."""
    assert _choose(_demand("A B"), {"A": share, "B": share}, rows)[0].prefilter is None


def test_row_elimination_may_be_enough() -> None:
    shares = {"A": 0.01, "B": 0.01}
    assert _choose(_demand("A B"), shares, 5e6)[0].prefilter is not None
    eliminated = _choose(_demand("A B"), shares, 5e6, seen=0.02)
    assert eliminated[0].prefilter is None
    assert eliminated[0].rows == 1e5


def test_pairs_of_rows_are_looked_at_only_if_joins_could_win() -> None:
    asked = []

    class Together(dict[tuple[Expression, ...], float]):
        def get(self, key: tuple[Expression, ...], default: float | None = None) -> float:  # type: ignore[override]
            asked.append(key)
            return 1e-6

    near = Operator("<", (At(Column(("v",)), Place()), At(Column(("v",)), Place(frozenset("A")))))
    single = replace(_demand("A B"), dependent={"B": (near,)}, single=frozenset("AB"))
    together = Together(dict.fromkeys((conditions for _, conditions in joins_of(single)), 1e-6))
    # With a search that costs much, it pays to look closer.
    for tests, wanted in ((0.5, False), (50.0, True)):
        asked.clear()
        found = _choose(single, {"A": 0.03, "B": 0.03}, 1e7, tests=tests, together=together)
        joins = [one for one in found if one.prefilter is not None and one.prefilter.form is Form.JOINS]
        assert joins
        assert all(one.at_least is not wanted for one in joins)
        assert bool(asked) is wanted


def test_paths_have_a_hundred_combinations_at_most() -> None:
    paths = ["A B C D", "E F G H", "A F C H", "I J K L"]
    found = _choose(_demand(*paths), dict.fromkeys("ABCDEFGHIJKL", 0.001), 1e7)
    assert 2 < len(found) <= 101


@pytest.mark.parametrize(("rows", "few"), [(1e7, True), (1e9, False)])
def test_many_buckets_are_not_sent_to_every_worker(rows: float, few: bool) -> None:
    found = _choose(_demand("A", keys=True), {"A": 0.05}, rows, partitions=1e6)
    assert {one.prefilter.few for one in found if one.prefilter is not None} == {few}


def test_symbols_that_were_asked_for() -> None:
    demand = _demand("A B", "C D")
    asked = forced_prefilter(demand, Forced(Form.MASKS, (("A",), ("C", "D"))))
    assert str(asked) == "masks of (A) or (C, D)"
    assert forced_prefilter(demand, Forced(Form.MASKS, (("A",), ("C",), ("D",)))) is None
    assert forced_prefilter(demand, Forced(Form.MASKS, (("A",),))) is None
    assert str(forced_prefilter(demand, Forced())) == "masks of (A, B) or (C, D)"


@pytest.mark.parametrize(("variables", "looked_at"), [(5, 5), (62, 62), (63, 62)])
def test_every_symbol_has_a_bit(variables: int, looked_at: int) -> None:
    demand = _demand(" ".join(f"V{number}" for number in range(variables)))
    forced = forced_prefilter(demand, Forced())
    assert forced is not None
    assert len(forced.symbols) == looked_at
    shares = dict.fromkeys(demand.conditions, 0.01)
    chosen = _choose(demand, shares, 1e7)
    assert max(len(one.prefilter.symbols) for one in chosen if one.prefilter) <= 62
