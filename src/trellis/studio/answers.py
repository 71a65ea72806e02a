"""Check a query, run it, explain it: what the page asks for, each as a few plain dictionaries."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeAlias

import trellis as tr
from trellis.algebra.expression import Name
from trellis.errors import BindingError, TrellisError, raising_worker_errors
from trellis.planned import errors_about, explain_all
from trellis.planning.hints import Hints
from trellis.plots import plot
from trellis.spark.worker_python import require_worker_python
from trellis.studio.desk import Desk, Scope
from trellis.studio.drawing import reason
from trellis.studio.examples import EXAMPLES
from trellis.studio.preparing import Prepared, prepared, table_of
from trellis.studio.questions import Question, Reading, read, told
from trellis.studio.rows import rows_of

__all__ = ["Tell", "check", "explain", "run", "warm_up", "why"]

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
        with prepared(desk, reading, desk.whole, Hints.of({**desk.hints, "statistics": "off"}), checked=True) as one:
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
        with prepared(desk, reading, scope, Hints.of(desk.hints), drawn=True) as one, raising_worker_errors():
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
        with prepared(desk, reading, scope, Hints.of(desk.hints), counted=True) as one:
            text = "There is no pattern in this query: Spark runs it as it is."
            if one.clauses:
                text = explain_all(one.clauses, one.result)
            tell({"event": "explained", "text": text})


def why(desk: Desk, question: Question, tell: Tell, *, everything: bool) -> None:
    """Say why a query finds nothing, or what fails beside what it finds."""
    reading = read(question, desk.columns)
    with errors_about(question.text):
        scope = _scope(desk, reading, tell, everything=everything)
        if reading.query is not None and reading.query.events is not None:
            kind, times = _event_columns(reading)
            frames: dict[str, Any] = {"events": scope.frames[reading.events]}
            report = tr.why(question.text, args=desk.args, hints=desk.hints, type=kind, time=times, **frames)
        elif not reading.queries:
            raise BindingError("There is no pattern in this query, so nothing could be missed.")
        else:
            assert reading.statement is not None
            frames = {name: scope.frames[table_of(scope, name)] for name in reading.statement.placeholders}
            report = tr.why(question.text, spark=scope.spark, args=desk.args, hints=desk.hints, **frames)
        tell({"event": "why", "report": {**report.to_dict(), "words": asdict(report.words)}})


def _event_columns(reading: Reading) -> tuple[str, list[str]]:
    """The columns of the type and of the time of events, and those that break ties."""
    assert reading.query is not None and reading.query.events is not None
    times = [key.expression for key in reading.query.order_by]
    return reading.query.events.type.parts[-1].text, [one.parts[-1].text for one in times if isinstance(one, Name)]


def _scope(desk: Desk, reading: Reading, tell: Tell, *, everything: bool) -> Scope:
    tell({"event": "sampling" if not everything else "reading"})
    scope = desk.all_of(reading) if everything else desk.sample_for(reading)
    parts = [{"table": part.table, "rows": part.rows, "total": part.total, "how": part.how} for part in scope.parts]
    tell({"event": "begun", "parts": parts, "whole": scope.is_whole})
    return scope


# ---- the picture ----


def _picture(one: Prepared, reading: Reading, scope: Scope) -> dict[str, Any]:
    """The specification of the picture, and what else could be drawn; or why there is none."""
    try:
        if reading.query is not None:
            return {"spec": _of_events(one, reading, scope), "y": "", "others": []}
        if isinstance(one.sketch, str):
            return {"none": one.sketch}
        assert one.matches is not None
        series = scope.rows_to_draw(one.source, one.clauses[-1].frame, one.sketch.columns)
        spec = one.sketch.draw(one.matches, series)
        return {"spec": spec, "y": one.sketch.y, "others": list(one.sketch.others), "zooms": True}
    except TrellisError as error:
        return {"none": reason(error)}


def _of_events(one: Prepared, reading: Reading, scope: Scope) -> dict[str, Any]:
    assert reading.query is not None and reading.query.events is not None and one.matches is not None
    clauses = reading.query.events
    by = [name.parts[-1].text for name in clauses.same]
    kind, times = _event_columns(reading)
    events = scope.rows_to_draw(reading.events, scope.frames[reading.events], [*by, times[0], kind])
    spec: dict[str, Any] = plot(one.matches, events, x=times[0], type=kind, by=by).spec
    return spec


def warm_up(desk: Desk) -> None:
    """Run a small query of each language, so that the first one of a user finds Spark and its workers awake."""
    shipped = {table.name for table in desk.tables.values() if table.shipped}
    for name, _, _, text in EXAMPLES:
        if name in shipped:
            with suppress(TrellisError):
                run(desk, Question(text), lambda event: None, everything=False)
