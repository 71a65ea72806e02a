"""What conditions of a segment pattern may read of other variables is settled before anything runs."""

from __future__ import annotations

import pytest

import local
from trellis.errors import UnsupportedError

SCHEMA = [("k", "int"), ("t", "int"), ("v", "double"), ("u", "int")]
TEXT = """PARTITION BY k ORDER BY t PATTERN ((C (B?)+ Z{{2,3}})+)
    DEFINE C AS v > 1, B AS last(B.v) <= {}, SEGMENT Z AS last(Z.v) > {}"""


def test_parts_that_read_each_other_are_refused_when_planned() -> None:
    with pytest.raises(UnsupportedError, match="Two quantified or negated parts read each other's variables"):
        local.plan_clause(TEXT.format("last(Z.v)", "first(B.u)"), SCHEMA)


@pytest.mark.parametrize("reads", [("last(Z.v)", "first(C.u)"), ("last(C.v)", "first(B.u)")])
def test_one_of_them_may_read_the_other(reads: tuple[str, str]) -> None:
    local.plan_clause(TEXT.format(*reads), SCHEMA)
