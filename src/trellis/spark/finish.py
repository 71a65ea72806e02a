"""The last part of a plan: aggregates that need the rows of each match grouped, then the columns of the result."""

from __future__ import annotations

from pyspark.sql import DataFrame

from trellis.algebra import expression as e
from trellis.algebra.plan import Plan
from trellis.spark.groups import group_rows
from trellis.spark.session import Session

__all__ = ["finish"]


def finish(plan: Plan, matched: DataFrame, session: Session) -> DataFrame:
    """The columns of the result.

    A plain column stands beside them: if one of them were an aggregate for Spark after all, Spark would then refuse it,
    where alone it would make one row of the whole result.
    """
    if plan.grouped:
        matched = group_rows(matched, plan.grouped, session)
    if any(isinstance(expression, e.Column) for _, expression in plan.finished):
        return session.project(matched, plan.finished)
    names = [name for group in plan.grouped for name, _ in group.aggregates] or [name for name, _ in plan.scan.outputs]
    plain = names[0] if names else matched.columns[0]
    return session.project(matched, (*plan.finished, ("__plain", e.Column((plain,))))).drop("__plain")
