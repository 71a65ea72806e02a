"""Statements around MATCH_RECOGNIZE: their clauses one after the other, and what they create."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from trellis.algebra.statement import Statement, TemporaryView
from trellis.errors import BindingError
from trellis.languages.statement import find_name
from trellis.planned import Planned, plan_on, warm
from trellis.planning.hints import Hints
from trellis.spark.session import Session

__all__ = ["create_view", "match_clauses"]


def match_clauses(
    statement: Statement, session: Session, hints: Hints, *, counted: bool = False
) -> tuple[Session, list[Planned]]:
    """Plan the clauses of a statement one after the other; the session has the matches behind their placeholders."""
    clauses: list[Planned] = []
    _check_frames(statement, session.frames)
    frames = dict(session.frames)
    with warm(*(clause.query for clause in statement.clauses)):
        for clause in statement.clauses:
            scope = replace(session, frames=frames, ctes=clause.ctes)
            placeholder = re.match(r"\{(\w+)\}", clause.input)
            if placeholder and placeholder[1] not in frames:
                raise BindingError(
                    f"There is no DataFrame for {placeholder[0]}.",
                    cure=f"Pass it: trellis.sql(text, {placeholder[1]}=df).",
                    span=clause.span,
                )
            frame = scope.run(f"{clause.ctes} SELECT * FROM {clause.input}")
            clauses.append(plan_on(clause.query, frame, scope, hints, qualifier=clause.qualifier, counted=counted))
            frames[clause.name] = clauses[-1].run()
    return replace(session, frames=frames), clauses


def _check_frames(statement: Statement, frames: Mapping[str, DataFrame]) -> None:
    """A DataFrame that the text does not use is a mistake: the text says another name, or means it without braces."""
    for name in frames:
        if name in statement.placeholders:
            continue
        missing = [other for other in statement.placeholders if other not in frames]
        span = find_name(statement.text, name)
        raise BindingError(
            f"{name} is a table of the session here, not the DataFrame that was passed."
            if span is not None
            else f"The DataFrame {name} is not used.",
            cure=f"Pass it as {missing[0]}." if missing else f"Write {{{name}}} where it is meant.",
            span=span,
        )


def create_view(view: TemporaryView, rows: DataFrame) -> DataFrame:
    """Create a view; as for every command of Spark, the result is empty."""
    named = rows.toDF(*view.columns) if view.columns else rows
    if view.is_global:
        (named.createOrReplaceGlobalTempView if view.replaces else named.createGlobalTempView)(view.name)
    else:
        (named.createOrReplaceTempView if view.replaces else named.createTempView)(view.name)
    return rows.sparkSession.range(0).select()
