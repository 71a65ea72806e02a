"""How far the runs of an event pattern came: each stage of it counted, by searching for it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from trellis.algebra.query import Query, Selection
from trellis.analysis.events import with_fields
from trellis.analysis.stages import Stage, stages_of
from trellis.errors import BindingError, DataError, ResourceError, raising_worker_errors
from trellis.planned import plan_on
from trellis.planning.hints import Hints
from trellis.spark.excerpt import Excerpt, excerpt_of
from trellis.spark.session import Session
from trellis.spark.source import source_of

__all__ = ["STEP_BUDGET", "Counted", "count_each", "count_query", "count_stages"]

STEP_BUDGET = 200_000_000
"""Of a search in one partition, unless a hint says otherwise: seconds, not minutes."""

_SCHEMA = "component string, conditions string, events bigint, runs decimal(38, 0), searched bigint, total bigint"

_TOO_MANY = ("given up after", "more than 38 digits")
"""What errors say if there are too many runs: to follow them all, or to write down their number."""

Count: TypeAlias = tuple[int | None, Decimal | None]
"""How many events, and how many runs; None is more than could be counted."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A stage with its count."""

    stage: Stage
    events: int | None
    runs: Decimal | None


def count_stages(query: Query, events: DataFrame, session: Session, hints: Hints, max_events: int) -> DataFrame:
    """A row for each stage of a pattern, with how many events runs took into it, and how many runs these were."""
    counted, excerpt = count_each(query, events, session, hints, max_events)
    rows = [
        (one.stage.component, " AND ".join(one.stage.conditions), one.events, one.runs, excerpt.rows, excerpt.total)
        for one in counted
    ]
    return session.spark.createDataFrame(rows, _SCHEMA)


def count_each(
    query: Query, events: DataFrame, session: Session, hints: Hints, max_events: int
) -> tuple[list[Counted], Excerpt]:
    """The stages of a pattern with their counts, and the events in which these were searched for."""
    if max_events < 1:
        raise BindingError(
            f"max_events must be a positive whole number, not {max_events!r}.", cure="Pass max_events=1_000_000."
        )
    plan_on(query, events, session, hints)  # what is wrong with the query is wrong with the whole of it
    source = source_of(events, session, {})
    query = with_fields(query, source.schema)
    assert query.events is not None
    partitioned = query.selection is not Selection.STRICT_CONTIGUITY
    keys = [str(name) for name in query.events.same] if partitioned else []
    excerpt = excerpt_of(events, keys, [str(key.expression) for key in query.order_by], max_events)
    found = []
    count: Count = (None, None)
    for stage in stages_of(query, source):
        if count[0] != 0:  # where no run came, none goes on
            count = count_query(stage.query, excerpt.frame, session, hints)
        found.append(Counted(stage, *count))
    return found, excerpt


def count_query(query: Query, events: DataFrame, session: Session, hints: Hints) -> Count:
    """The rows of the query of a stage: one for each event, with its runs."""
    reached = plan_on(query, events, session, hints).run()
    count = F.count("*")
    runs = F.when(count == 0, F.lit(0)).otherwise(F.try_sum("runs")).cast("decimal(38, 0)")
    try:
        with raising_worker_errors():
            row = reached.agg(count, runs).collect()[0]
            return int(row[0]), row[1]
    except (DataError, ResourceError) as error:
        if not any(told in error.problem for told in _TOO_MANY):  # another fault, such as a missing package
            raise
        return None, None
