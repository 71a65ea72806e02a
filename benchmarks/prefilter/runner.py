"""Running a query in its variants: timed, its rows counted, its result digested on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame

from benchmarks.options import is_quick
from benchmarks.prefilter.data import Choices, rows_of
from benchmarks.prefilter.queries import DEFINITIONS, PATTERNS, Query, instance
from benchmarks.prefilter.records import AGAIN, CHOSEN, NONE, Keep, Record
from benchmarks.sessions import noop, run_digested
from benchmarks.timing import say
from trellis.algebra.prefilter import BeforeMatch, Candidate, Prefilter
from trellis.languages.statement import parse_statement
from trellis.planning.hints import Hints
from trellis.spark.counts import Counts
from trellis.spark.session import Session
from trellis.statements import match_clauses

__all__ = ["OFF", "VARIANTS", "HintValues", "Planned", "Runner", "estimates", "plan"]

HintValues = Mapping[str, object]

OFF = ("prefilter", "eliminate_rows")
VARIANTS: Mapping[str, HintValues] = {
    CHOSEN: {},
    NONE: {"off": list(OFF)},
    AGAIN: {"off": list(OFF)},
    "no rule": {"off": [*OFF, "slices"]},
    "elimination only": {"off": ["prefilter"]},
    "prefilter only": {"off": ["eliminate_rows"]},
}
"""What each variant of a query forces. Slices stay on but where the name says otherwise."""

_SLOWER = 1.1  # A query that is slower with its chosen plan by more than this runs five times.
_SMALL = 1_000_000
"""On tables with fewer rows every variant runs once untimed before: compiling it would take a good part of the time."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A query that is planned and has not run."""

    frame: DataFrame
    before: BeforeMatch
    counts: Counts | None

    @property
    def prefilter(self) -> Prefilter | None:
        """The prefilter of the plan."""
        return self.before.prefilter

    @property
    def considered(self) -> tuple[Candidate, ...]:
        """All prefilters that were weighed, with their estimates."""
        return self.before.considered

    def estimate(self) -> float | None:
        """The rows that the plan's prefilter was thought to leave."""
        return next((one.rows for one in self.considered if one.prefilter == self.prefilter), None)

    def rows_in(self) -> int | None:
        """The rows that reached the matcher; only after a run that counts."""
        observed = self.counts.observed if self.counts else []
        return next((int(seen.get["n"]) for what, seen in observed if what == "rows in"), None)


def plan(text: str, frame: DataFrame, hints: HintValues | None = None, *, counted: bool = False) -> Planned:
    """Plan a query of `{d}`, as `trellis.sql` does."""
    statement = parse_statement(text)
    session = Session(frame.sparkSession, {}, {"d": frame})
    matched, clauses = match_clauses(statement, session, Hints.of(hints), counted=counted)
    return Planned(matched.run(statement.final), clauses[0].plan.before, clauses[0].counts)


def estimates(text: str, frame: DataFrame, hints: HintValues | None = None) -> list[Candidate]:
    """All prefilters that planning would weigh, with their estimates."""
    return list(plan(text, frame, hints).considered)


class Runner:
    """One table in one session, and the file that keeps its figures."""

    def __init__(self, path: Path, table: str, keep: Keep, choices: Choices, sample: DataFrame) -> None:
        self.frame = sample.sparkSession.read.parquet(str(path))
        self.table, self.keep, self.choices, self.sample = table, keep, choices, sample
        self.rows = rows_of(path)
        self._warm = False

    def warm_up(self) -> None:
        """Before the first figure: workers start, kernels load, Java compiles what is hot, files come from memory."""
        if self._warm:
            return
        self._warm = True
        say(f"{self.table}: warming up …")
        for pattern, definition in product(PATTERNS, DEFINITIONS) if not is_quick() else ():
            query = instance(self.choices, pattern, definition, -1)
            frames = (self.sample, self.frame) if pattern == PATTERNS[0] else (self.sample,)
            for frame, variant in product(frames, (NONE, CHOSEN)):
                try:
                    noop(plan(query.text, frame, VARIANTS[variant]).frame)
                except Exception as problem:
                    say(f"warm-up, {variant}: {_first_line(problem)}")

    def timed(
        self,
        section: str,
        query: Query,
        variant: str,
        hints: HintValues,
        want: int = 1,
        accept: Callable[[Planned], str] | None = None,
        rehearse: bool = True,
    ) -> float | None:
        """The median time of so many runs, run now or before; None if it fails, or if `accept` gives a reason not to.

        `accept` sees the plan before it runs.
        """

        def work(record: Callable[..., Record]) -> Record:
            if (
                rehearse
                and not is_quick()
                and self.rows < _SMALL
                and not self.keep.held((section, self.table, query.name, variant), query.text)
            ):
                noop(plan(query.text, self.frame, hints).frame)
            began = time.perf_counter()
            planned = plan(query.text, self.frame, hints)
            after = time.perf_counter()
            refused = accept(planned) if accept else ""
            if refused:
                return record(skipped=refused)
            # Time that `accept` takes is not the query's.
            resumed = time.perf_counter()
            matches, digest = run_digested(planned.frame)
            seconds = time.perf_counter() - resumed + after - began
            return record(
                seconds=seconds,
                planning=after - began,
                matches=matches,
                digest=digest,
                plan=_name(planned),
                estimate=planned.estimate(),
            )

        return self._measured(section, query, variant, work, want)

    def counted(
        self,
        section: str,
        query: Query,
        variant: str,
        hints: HintValues,
        accept: Callable[[Planned], str] | None = None,
        known: Mapping[str, float] | None = None,
    ) -> int | None:
        """How many rows reach the matcher, beside the estimate. A run of its own: counting all rows takes time.

        `known` has estimates by the name of the prefilter, for plans that were forced without any.
        """

        def work(record: Callable[..., Record]) -> Record:
            planned = plan(query.text, self.frame, hints, counted=True)
            refused = accept(planned) if accept else ""
            if refused:
                return record(skipped=refused)
            noop(planned.frame)
            name, estimate = _name(planned), planned.estimate()
            if estimate is None and name is not None:
                estimate = (known or {}).get(name)
            return record(plan=name, estimate=estimate, rows=planned.rows_in())

        self._measured(section, query, variant, work, 1)
        runs = self.keep.held((section, self.table, query.name, variant), query.text)
        return runs[-1].rows if runs else None

    def scanned(self, section: str, query: Query, want: int = 1) -> None:
        """A plain scan of the same columns that keeps the rows of any variable."""

        def work(record: Callable[..., Record]) -> Record:
            began = time.perf_counter()
            condition = " OR ".join(f"({condition})" for condition in query.conditions)
            filtered = self.frame.select(*query.columns).where(condition)
            after = time.perf_counter()
            noop(filtered)
            return record(seconds=time.perf_counter() - began, planning=after - began)

        self._measured(section, query, "scan", work, want)

    def group(self, section: str, query: Query, variants: Sequence[str] = (CHOSEN, NONE)) -> dict[str, float | None]:
        """Some variants, one after another, in an order that differs between queries: the second run has it easier.

        Where the chosen plan is slower than no prefilter, both run again, until each has five runs.
        """
        names = sorted(variants)
        Random(query.name).shuffle(names)
        took = {name: self.timed(section, query, name, VARIANTS[name]) for name in names}
        chosen, none = took[CHOSEN], took[NONE]
        if chosen is not None and none is not None and chosen > _SLOWER * none:
            for want, name in product((2, 3, 4, 5), (name for name in names if name in (CHOSEN, NONE))):
                took[name] = self.timed(section, query, name, VARIANTS[name], want)
        return took

    def _measured(
        self,
        section: str,
        query: Query,
        variant: str,
        work: Callable[[Callable[..., Record]], Record],
        want: int,
    ) -> float | None:
        key = (section, self.table, query.name, variant)
        facts: dict[str, object] = {
            "pattern": query.pattern,
            "definition": query.definition,
            "number": query.number,
            "minutes": query.minutes,
        }

        def record(**values: Any) -> Record:
            return Record(*key, text=query.text, facts=facts, **values)

        while len(self.keep.held(key, query.text)) < want:
            self.warm_up()
            try:
                self.keep.add(work(record))
            except Exception as problem:
                self.keep.add(record(error=_first_line(problem)))
                say(f"{section}: {query.name}, {variant}: {_first_line(problem)}")
                return None
            if self.keep.held(key, query.text)[-1].skipped:
                return None
        return self.keep.seconds(key)


def _name(planned: Planned) -> str | None:
    return None if planned.prefilter is None else str(planned.prefilter)


def _first_line(problem: Exception) -> str:
    lines = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {lines[0] if lines else ''}"[:300]
