"""A few rows of an input, prepared as a search reads them, for `explain`."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from trellis.algebra.plan import Plan
from trellis.spark.pairs import sort_column
from trellis.spark.session import Session

__all__ = ["sample_rows"]

_ROWS = 50_000


def sample_rows(plan: Plan, frame: DataFrame, session: Session) -> pa.Table:
    """Some rows of the input in order, not cut into slices, and with all that prefilters would drop."""
    projected = session.project(frame, plan.projected).limit(_ROWS)
    order = [sort_column(*key) for key in plan.sorted_by if key[0] in projected.columns]
    shipped = [name for name in plan.shipped if name in projected.columns]
    return (projected.orderBy(*order) if order else projected).select(*shipped).toArrow()
