"""Which sides of a comparison are filled up, and to what length."""

from __future__ import annotations

import pytest

from trellis.analysis.binding import Binder
from trellis.analysis.schema import Schema
from trellis.languages.expressions import parse_expression_text

COLUMNS = (("code", "string"), ("short", "string"), ("s", "string"))
SCHEMA = Schema(COLUMNS, padded=frozenset({"code", "short"}), lengths=(("code", 5), ("short", 3)))
SETS = {name: frozenset({name}) for name in "AB"}


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("A.code = B.short", "rpad(`short`, 5, ' ')"),
        ("A.short >= B.code", "rpad(`short`, 5, ' ')"),
        ("A.code = 'ab'", "'ab   '"),
        ("A.short = 'abcd'", "rpad(`short`, 4, ' ')"),
        ("A.code IN ('ab', 'abc')", "'ab   '"),
        ("A.code = B.code", None),
        ("A.code = B.s", None),
        ("A.s = 'ab'", None),
        ("A.code = upper(B.short)", None),
        ("A.code || 'x' = B.short", None),
    ],
)
def test_comparisons(written: str, filled: str | None) -> None:
    expression = parse_expression_text(written)
    plain = Binder(Schema(COLUMNS), SETS, frozenset(SETS), {}).value(expression, False)
    bound = Binder(SCHEMA, SETS, frozenset(SETS), {}).value(expression, False)
    assert (bound == plain) == (filled is None)
    assert filled is None or filled in str(bound)
