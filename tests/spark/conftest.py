"""What tests on Spark share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from spark.plans import PLANS, Hints

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture(params=PLANS)
def plans(request: pytest.FixtureRequest) -> list[Hints]:
    """The plans by which a query runs: one, and in a second run of the test, for `make thorough`, all."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def rocks(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with a state store that has timers."""
    before = spark.conf.get(_PROVIDER)
    spark.conf.set(_PROVIDER, _ROCKS)
    yield spark
    spark.conf.set(_PROVIDER, before)
