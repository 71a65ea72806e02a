"""What tests on Spark share."""

from __future__ import annotations

import pytest

from spark.plans import PLANS, Hints


@pytest.fixture(params=PLANS)
def plans(request: pytest.FixtureRequest) -> list[Hints]:
    """The plans by which a query runs: one, and in a second run of the test, for `make thorough`, all."""
    return request.param  # type: ignore[no-any-return]
