"""Check a query, run it, explain it: what the page asks for, each as a few plain dictionaries."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pyspark.sql import DataFrame

from trellis.algebra.query import Query
from trellis.errors import BindingError, TrellisError, raising_worker_errors
from trellis.planned import Planned, errors_about, explain_all, plan_on, warm
from trellis.planning.hints import Hints
from trellis.spark.session import Session
from trellis.spark.worker_python import require_worker_python
from trellis.studio.desk import Desk, Scope
from trellis.studio.drawing import Sketch, reason, sketch_of, spec_of
from trellis.studio.examples import EXAMPLES
from trellis.studio.questions import Question, Reading, read, told
from trellis.studio.rows import rows_of

__all__ = ["Tell", "check", "explain", "run", "warm_up"]

Tell: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Hands an event of a run to the page."""


def check(desk: Desk, question: Question) -> dict[str, Any]:
    """What is known about a query without running anything: it is read and bound to the types of its tables.

    Raises
    ------
    TrellisError
        It is wrong.
    """
    reading = read(question, desk.columns)
    if desk.is_open:
        with _prepared(desk, reading, desk.whole, Hints.of({**desk.hints, "statistics": "off"}), checked=True) as one:
            _ = one.result.schema
    return told(reading)


def run(desk: Desk, question: Question, tell: Tell, *, everything: bool) -> None:
    """Run a query on a sample or on all rows, and tell of its parts as they come: what it reads, rows, picture.

    Raises
    ------
    TrellisError
        It is wrong, or failed.
    """
    began = time.monotonic()
    reading = read(question, desk.columns)
    with errors_about(question.text):
        scope = _scope(desk, reading, tell, everything=everything)
        with _prepared(desk, reading, scope, Hints.of(desk.hints), drawn=True) as one, raising_worker_errors():
            require_worker_python(scope.spark)
            tell({"event": "matching", "warnings": list(one.warnings)})
            rows = rows_of(one.result)
            tell({"event": "rows", **rows, "seconds": time.monotonic() - began})
            tell({"event": "picture", **_picture(one, reading, scope), "seconds": time.monotonic() - began})


def explain(desk: Desk, question: Question, tell: Tell, *, everything: bool) -> None:
    """Explain a query with the counts of a run of it, whose rows are thrown away."""
    reading = read(question, desk.columns)
    with errors_about(question.text):
        scope = _scope(desk, reading, tell, everything=everything)
        with _prepared(desk, reading, scope, Hints.of(desk.hints), counted=True) as one:
            text = "There is no pattern in this query: Spark runs it as it is."
            if one.clauses:
                text = explain_all(one.clauses, one.result)
            tell({"event": "explained", "text": text})


def _scope(desk: Desk, reading: Reading, tell: Tell, *, everything: bool) -> Scope:
    tell({"event": "sampling" if not everything else "reading"})
    scope = desk.all_of(reading) if everything else desk.sample_for(reading)
    parts = [{"table": part.table, "rows": part.rows, "total": part.total, "how": part.how} for part in scope.parts]
    tell({"event": "begun", "parts": parts, "whole": scope.is_whole})
    return scope


# ---- from a text to a DataFrame ----


@dataclass(slots=True)
class _Prepared:
    """A query that is planned; `matches` are those of its last pattern, with what the picture needs of them."""

    clauses: list[Planned] = field(default_factory=list)
    rows: DataFrame | None = None
    matches: DataFrame | None = None
    sketch: Sketch | str = "There is no pattern in this query."

    @property
    def result(self) -> DataFrame:
        """What the whole query gives."""
        assert self.rows is not None
        return self.rows

    @property
    def warnings(self) -> Iterator[str]:
        for planned in self.clauses:
            yield from planned.plan.warnings


@contextmanager
def _prepared(
    desk: Desk,
    reading: Reading,
    scope: Scope,
    hints: Hints,
    *,
    checked: bool = False,
    drawn: bool = False,
    counted: bool = False,
) -> Iterator[_Prepared]:
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
) -> _Prepared:
    assert reading.query is not None
    session = Session(scope.spark, dict(desk.args))
    events = scope.frames[reading.events]
    planned = plan_on(reading.query, events, session, hints, counted=counted, quietly=checked)
    if not drawn:
        return _Prepared([planned], planned.run())
    whole = planned
    if reading.query.measures:  # the picture shows the events themselves, and RETURN makes others of them
        whole = plan_on(replace(reading.query, measures=()), events, session, hints, quietly=True)
    matches = whole.run().persist()
    return _Prepared([planned], planned.run() if whole is not planned else matches, matches)


def _statement(
    desk: Desk, reading: Reading, scope: Scope, hints: Hints, *, checked: bool, drawn: bool, counted: bool
) -> _Prepared:
    """As `trellis.sql` does it, but the last pattern measures what the picture needs, and its matches are kept."""
    statement = reading.statement
    assert statement is not None
    frames = {name: scope.frames[_table(scope, name)] for name in statement.placeholders}
    session = Session(scope.spark, dict(desk.args), frames)
    one = _Prepared()
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
            one.sketch, found = _kept(planned, plan, reading.question.y, one)
        one.clauses.append(planned)
        frames[clause.name] = found
    one.rows = replace(session, frames=frames).run(statement.final)
    return one


def _kept(
    planned: Planned, plan: Callable[[Query, bool], Planned], y: str, one: _Prepared
) -> tuple[Sketch | str, DataFrame]:
    """How to draw the matches, and the matches without what only the picture needs."""
    sketch = sketch_of(planned.query, planned.frame.schema, y)
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


def _table(scope: Scope, name: str) -> str:
    if name not in scope.frames:
        raise BindingError(f"There is no table {name}.", cure=f"There are {', '.join(scope.frames)}.")
    return name


# ---- the picture ----


def _picture(one: _Prepared, reading: Reading, scope: Scope) -> dict[str, Any]:
    """The specification of the picture, and what else could be drawn; or why there is none."""
    try:
        if reading.query is not None:
            return {"spec": _of_events(one, reading, scope), "y": "", "others": []}
        if isinstance(one.sketch, str):
            return {"none": one.sketch}
        assert one.matches is not None
        spec = one.sketch.draw(one.matches, one.clauses[-1].frame)
        return {"spec": spec, "y": one.sketch.y, "others": list(one.sketch.others)}
    except TrellisError as error:
        return {"none": reason(error)}


def _of_events(one: _Prepared, reading: Reading, scope: Scope) -> dict[str, Any]:
    assert reading.query is not None and reading.query.events is not None
    clauses = reading.query.events
    by = [re.sub("`", "", str(name.parts[-1].text)) for name in clauses.same]
    kind, at = (part.parts[-1].text for part in (clauses.type, clauses.time))
    return spec_of(one.matches, scope.frames[reading.events], x=at, type=kind, by=by)


def warm_up(desk: Desk) -> None:
    """Run a small query of each language, so that the first one of a user finds Spark and its workers awake."""
    shipped = {table.name for table in desk.tables.values() if table.shipped}
    for name, _, _, text in EXAMPLES:
        if name in shipped:
            with suppress(TrellisError):
                run(desk, Question(text), lambda event: None, everything=False)
