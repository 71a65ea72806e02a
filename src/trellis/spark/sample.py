"""A few rows of an input, prepared as a search reads them: for `explain`, and to plan workloads by."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame

from trellis.algebra.plan import Plan
from trellis.algebra.prefilter import Buckets
from trellis.spark.pairs import sort_column
from trellis.spark.prefilter import units_of
from trellis.spark.prepare import project_input
from trellis.spark.session import Session

__all__ = ["draw_rows", "sample_rows"]

_ROWS = 50_000
_STRETCHES = 8
_FEWEST = 1_000
_SEED = 0
_TIME = "__time"


def sample_rows(plan: Plan, frame: DataFrame, session: Session) -> pa.Table:
    """Some rows of the input in order, not cut into slices, and with all that prefilters would drop."""
    return _in_order(plan, session.project(frame, plan.projected).limit(_ROWS))


def draw_rows(plan: Plan, frame: DataFrame, session: Session, buckets: Buckets | None) -> tuple[pa.Table, float]:
    """Rows in order, without those that nobody looks at; and of how many events there are in a stretch, what share.

    Of many rows, some stretches of time are taken, with all events in them; where time cannot be counted (in
    `buckets`), or hardly anything falls into these stretches, rows from all over.
    """
    if buckets is not None:
        plan = replace(plan, projected=(*plan.projected, (_TIME, buckets.key)))
    projected = project_input(plan, frame, session)
    table = _in_order(plan, projected.limit(_ROWS + 1))
    if table.num_rows <= _ROWS:
        return table, 1.0
    if buckets is None:
        return _thinned(plan, projected, projected.count())
    units = units_of(buckets.scale, _TIME)
    count, first, last = projected.selectExpr("count(1)", f"min({units})", f"max({units})").collect()[0]
    period = max(1, (last - first) // _STRETCHES + 1) if first is not None else 1
    width = max(1, int(period * _ROWS / count))
    inside = projected.where(f"pmod(({units}) - {first or 0}L, {period}L) < {width}L")
    # What stands at one time may be more than the share of it.
    table = _in_order(plan, inside.limit(2 * _ROWS))
    return (table, 1.0) if table.num_rows >= _FEWEST else _thinned(plan, projected, count)


def _thinned(plan: Plan, projected: DataFrame, count: int) -> tuple[pa.Table, float]:
    share = min(1.0, _ROWS / count)
    return _in_order(plan, projected.sample(share, _SEED)), share


def _in_order(plan: Plan, projected: DataFrame) -> pa.Table:
    """The columns that a search reads, of rows in the order in which it reads them."""
    order = [sort_column(*key) for key in plan.sorted_by if key[0] in projected.columns]
    shipped = [name for name in plan.shipped if name in projected.columns]
    return (projected.orderBy(*order) if order else projected).select(*shipped).toArrow()
