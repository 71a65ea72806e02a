"""Planning a search that skips takes a second or so at most, whatever the conditions are."""

from __future__ import annotations

from unittest import mock

import local
from trellis.algebra.automaton import AutomatonScan
from trellis.languages.statement import parse_statement
from trellis.planning.rows import skip_search


def test_conditions_are_compared_as_long_as_that_pays() -> None:
    """All pairs of 40 elements with 8 alternatives each took half a minute."""
    names = [f"A{number}" for number in range(40)]
    either = (
        " OR ".join(
            f"({name}.x >= {10 * number + step} AND {name}.x < {10 * number + step + 1} AND {name}.y > {step})"
            for step in range(8)
        )
        for number, name in enumerate(names)
    )
    where = " AND ".join(f"({conditions})" for conditions in either)
    query = parse_statement(f"SELECT A0.x FROM t SEQUENCE BY x AS ({', '.join(names)}) WHERE {where}").clauses[0].query
    with mock.patch.object(skip_search, "_passed", wraps=skip_search._passed) as compared:
        scan = local.plan_clause(query, [("x", "int"), ("y", "int")]).scan
    assert isinstance(scan, AutomatonScan) and scan.skips is not None
    assert 0 < compared.call_count < 200
    # What was asked before is known: no match begins with A0 where A1 was.
    assert scan.skips.shift[:4] == (0, 1, 1, 2)
