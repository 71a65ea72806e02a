"""From a text that was read to a DataFrame, and to matches of which a picture can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame

from trellis.algebra.query import Query
from trellis.errors import BindingError, TrellisError
from trellis.planned import Planned, errors_about, plan_on, warm
from trellis.planning.hints import Hints
from trellis.spark.session import Session
from trellis.studio.desk import Desk, Scope
from trellis.studio.drawing import Sketch, reason, sketch_of
from trellis.studio.questions import Question, Reading

__all__ = ["Prepared", "prepared", "table_of"]


@dataclass(slots=True)
class Prepared:
    """A query that is planned; `matches` are those of its last pattern, with what the picture needs of them.

    `source` is the table whose rows they are, if it is one.
    """

    clauses: list[Planned] = field(default_factory=list)
    rows: DataFrame | None = None
    matches: DataFrame | None = None
    source: str = ""
    sketch: Sketch | str = "There is no pattern in this query."

    @property
    def result(self) -> DataFrame:
        """What the whole query gives."""
        assert self.rows is not None
        return self.rows

    @property
    def warnings(self) -> Iterator[str]:
        """What planning warns of."""
        for planned in self.clauses:
            yield from planned.plan.warnings


@contextmanager
def prepared(
    desk: Desk,
    reading: Reading,
    scope: Scope,
    hints: Hints,
    *,
    checked: bool = False,
    drawn: bool = False,
    counted: bool = False,
) -> Iterator[Prepared]:
    """Plan a query; what Spark keeps of its matches, so that they are found once, is let go in the end."""
    with errors_about(reading.question.text):
        kernels = () if checked else reading.queries
        with warm(*kernels):
            planned = _events if reading.query is not None else _statement
            one = planned(desk, reading, scope, hints, checked=checked, drawn=drawn, counted=counted)
    try:
        yield one
    finally:
        if one.matches is not None:
            one.matches.unpersist()


def _events(
    desk: Desk, reading: Reading, scope: Scope, hints: Hints, *, checked: bool, drawn: bool, counted: bool
) -> Prepared:
    assert reading.query is not None
    session = Session(scope.spark, dict(desk.args))
    events = scope.frames[reading.events]
    planned = plan_on(reading.query, events, session, hints, counted=counted, quietly=checked)
    if not drawn:
        return Prepared([planned], planned.run())
    whole = planned
    if reading.query.measures:  # the picture shows the events themselves, and RETURN makes others of them
        whole = plan_on(replace(reading.query, measures=()), events, session, hints, quietly=True)
    matches = whole.run().persist()
    return Prepared([planned], planned.run() if whole is not planned else matches, matches)


def _statement(
    desk: Desk, reading: Reading, scope: Scope, hints: Hints, *, checked: bool, drawn: bool, counted: bool
) -> Prepared:
    """As `trellis.sql` does it, but the last pattern measures what the picture needs, and its matches are kept."""
    statement = reading.statement
    assert statement is not None
    frames = {name: scope.frames[table_of(scope, name)] for name in statement.placeholders}
    session = Session(scope.spark, dict(desk.args), frames)
    one = Prepared()
    for clause in statement.clauses:
        here = replace(session, frames=frames, ctes=clause.ctes)
        rows = here.run(f"{clause.ctes} SELECT * FROM {clause.input}")

        def plan(
            query: Query, quietly: bool, rows: DataFrame = rows, here: Session = here, clause: Any = clause
        ) -> Planned:
            return plan_on(
                query, rows, here, hints, qualifier=clause.qualifier, counted=counted, quietly=quietly or checked
            )

        planned = plan(clause.query, False)
        found = planned.run()
        if drawn and clause is statement.clauses[-1]:
            one.sketch, found = _kept(planned, plan, reading.question, one)
            named = clause.input.strip("{}`")
            # A name in WITH hides the table.
            one.source = named if named in scope.frames and not clause.ctes else ""
        one.clauses.append(planned)
        frames[clause.name] = found
    one.rows = replace(session, frames=frames).run(statement.final)
    return one


def _kept(
    planned: Planned, plan: Callable[[Query, bool], Planned], question: Question, one: Prepared
) -> tuple[Sketch | str, DataFrame]:
    """How to draw the matches, and the matches without what only the picture needs."""
    sketch = sketch_of(planned.query, planned.frame.schema, question.y, question.zoom)
    if isinstance(sketch, Sketch):
        try:
            measured = plan(sketch.query, True).run()
        except TrellisError as error:
            sketch = f"The matches cannot be drawn: {reason(error)}"
        else:
            one.matches = measured.persist()
            return sketch, one.matches.drop(*sketch.hidden)
    one.matches = planned.run().persist()
    return sketch, one.matches


def table_of(scope: Scope, name: str) -> str:
    """The name of a table that there is; a placeholder may name another."""
    if name not in scope.frames:
        raise BindingError(f"There is no table {name}.", cure=f"There are {', '.join(scope.frames)}.")
    return name
