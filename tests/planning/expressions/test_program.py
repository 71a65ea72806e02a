"""Errors of the programs that kernels run say where they are."""

from __future__ import annotations

import pytest

import local
from trellis.errors import BindingError


@pytest.mark.parametrize("condition", ["x + prev(x) IN (1, 'a')", "x + prev(x) BETWEEN 1 AND 'a'"])
def test_types_that_do_not_go_together(condition: str) -> None:
    clause = f"ORDER BY t MEASURES A.t AS a PATTERN (A) DEFINE A AS {condition}"
    with pytest.raises(BindingError, match="The types integer and string do not go together") as raised:
        local.plan_clause(clause, [("t", "int"), ("x", "int")])
    assert raised.value.span is not None
    assert clause[raised.value.span.start : raised.value.span.end] == condition
