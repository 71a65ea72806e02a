"""Cases for `parametrize` of which the first run always; the others wait for `make thorough`.

For tests that run a case through several plans in Spark: one case shows that the plans agree, the others look for the
case where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["some"]


def some(cases: Iterable[Any], always: int = 1) -> list[Any]:
    """The cases, all but the first few marked as thorough."""
    return [case if number < always else _later(case) for number, case in enumerate(cases)]


def _later(case: Any) -> Any:
    if hasattr(case, "marks"):
        return pytest.param(*case.values, marks=(*case.marks, pytest.mark.thorough), id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
