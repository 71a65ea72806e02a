"""A plan on a DataFrame: prepare, match, finish. Nothing runs before an action."""

from __future__ import annotations

from pyspark.sql import DataFrame

from trellis.algebra.plan import Plan
from trellis.execution.task import MatchTask
from trellis.spark.counts import Counts
from trellis.spark.finish import finish
from trellis.spark.match import match_rows
from trellis.spark.prepare import prepare
from trellis.spark.session import Session
from trellis.spark.stream import match_stream

__all__ = ["run_plan"]


def run_plan(
    plan: Plan, frame: DataFrame, session: Session, task: MatchTask, counts: Counts | None = None
) -> DataFrame:
    """The result of a plan over its input; `counts` watches what goes in and out of the search."""
    if plan.stream is not None:
        return finish(plan, match_stream(plan, frame, session, task), session)
    matched = match_rows(task, prepare(plan, frame, session, counts), counts)
    return finish(plan, matched, session)
