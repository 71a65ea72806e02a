"""Many event patterns at once."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import DataFrame

from trellis.api.event_types import known_types
from trellis.api.session import Args, session_of
from trellis.errors import ArgumentError, BindingError, UnsupportedError, WorkloadError
from trellis.execution.warmup import Kernels
from trellis.languages.workloads import parse_workload, read_workload
from trellis.planned import errors_about, warm_kernels
from trellis.planned_workload import PlanMemory, WorkloadOnFrame, plan_on_frame
from trellis.planning.hints import Hints
from trellis.planning.workloads.plan import SearchOptions
from trellis.plots.plan_graph import PlanGraph, PlanNode
from trellis.spark.inputs import Rows
from trellis.spark.keys import Key, Names, name_of, names_of
from trellis.spark.session import Session
from trellis.spark.worker_python import require_worker_python

__all__ = ["Patterns", "Workload", "match_all", "workload"]

Texts: TypeAlias = Mapping[str, str] | Sequence[str] | str
"""Patterns with names, patterns that get names, or the text of all."""

Patterns: TypeAlias = "Texts | os.PathLike[str] | Workload"
"""The same, the path of a file that holds the text, or a workload."""

_SECONDS = 5.0
_RESULT = ("pattern", "match_number", "start", "end", "events")


def match_all(
    patterns: Patterns,
    events: Rows,
    *,
    partition_by: Names | None = None,
    type: Key = "type",
    time: Names = "time",
    optimize: str = "annealing",
    time_limit: float = _SECONDS,
    seed: int = 0,
    sample: Rows | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    types: Collection[str] | None = None,
) -> DataFrame:
    """Find many event patterns in one pass over a DataFrame of events.

    What patterns have in common is searched once. Planned at once, run when an action asks for rows.

    Parameters
    ----------
    patterns : mapping, list, str or path
        The patterns, in the language SASE+ with AND(...) and OR(...): texts by name; a list of texts, which are called
        by the types of their results, or p1, p2, ...; one text, `name: PATTERN ...; name: PATTERN ...`; or the path of
        a file with such a text.
    events : DataFrame
        The events: a type, a time, and attributes.
    partition_by : str or list of str, optional
        Columns in which all events of a match agree, whatever the pattern.
    type, time
        The columns with the type and the time of an event, as in `sase`.
    optimize : str
        How the shared plan is searched for: `"annealing"` or `"tabu"`; or not at all: `"none"` finds each pattern by
        itself as it is written, `"sharing"` shares what is written alike, `"reordering"` finds each by its best plan,
        `"redundancy"` and `"merging"` are two ways to share that others have published.
    time_limit : float
        For how many seconds to search for a plan, at most. It ends earlier where nothing better turns up, as with few
        patterns.
    seed : int
        The search for a plan is random; another seed may find another plan, but the same matches.
    sample : DataFrame, optional
        Events like these, by which to plan; by default, some of these, if they can be read twice without much cost. A
        stream cannot: hand in what was recorded of it.
    args : mapping, optional
        The values of parameters (`:name`).
    hints : mapping, optional
        Options of planning and running; see `trellis.planning.hints.Hints`.
    types : collection of str, optional
        All types of events that there are: patterns that name another one are refused.

    Returns
    -------
    DataFrame
        A row for each match: the columns of `partition_by`, `pattern`, `match_number` (of this pattern, in this
        partition), `start` and `end` (the times of its first and its last event), and `events`, an array of structs
        with the columns of the input, in the order of time.

    Raises
    ------
    WorkloadError
        Some patterns are wrong: all of these are listed, and nothing is searched.

    Examples
    --------
    >>> import trellis as tr
    >>> events = spark.createDataFrame(
    ...     [("Buy", 1, 5), ("Sell", 2, 9), ("Sell", 4, 3), ("Buy", 7, 4)], "type string, time int, size int")
    >>> found = tr.match_all({
    ...     "turn": "PATTERN SEQ(Buy a, Sell b) WHERE { b.size > a.size } WITHIN 5",
    ...     "pair": "PATTERN AND(Buy a, Sell b) WITHIN 3",
    ... }, events)
    >>> for row in found.orderBy("pattern", "match_number").collect():
    ...     print(row.pattern, row.match_number, row.start, row.end, [event.type for event in row.events])
    pair 1 1 2 ['Buy', 'Sell']
    pair 2 1 4 ['Buy', 'Sell']
    pair 3 4 7 ['Sell', 'Buy']
    turn 1 1 2 ['Buy', 'Sell']
    """
    given = _Given(partition_by, type, time, optimize, time_limit, seed, sample, args, hints, types)
    if isinstance(patterns, Workload):
        return given.plan(patterns, events).run()
    found, wrong, total = read_workload(_text(patterns))
    readable = Workload({one.name: one.text for one in found})
    if not wrong:
        return given.plan(readable, events).run()
    # All that is wrong is said at once, also of what can be read and does not fit the events.
    try:
        if found:
            given.plan(readable, events)
    except WorkloadError as error:
        wrong += error.wrong
    raise WorkloadError(wrong, total)


@dataclass(frozen=True, slots=True)
class Workload:
    """Event patterns with names. Immutable: each step returns a new one.

    The plan for an input is remembered, so patterns that are added are fitted into it, and the others stay as they are.
    """

    patterns: Mapping[str, str]
    memory: PlanMemory = field(default_factory=PlanMemory, compare=False, repr=False)

    def __str__(self) -> str:
        return ";\n".join(f"{_name(name)}: {text.strip()}" for name, text in self.patterns.items())

    def __len__(self) -> int:
        return len(self.patterns)

    def add(self, patterns: Patterns | None = None, /, **named: str) -> Workload:
        """Add patterns; a name that is there already is refused.

        Examples
        --------
        >>> import trellis as tr
        >>> desk = tr.workload({"turn": "PATTERN SEQ(Buy a, Sell b) WITHIN 5"})
        >>> list(desk.add(back="PATTERN SEQ(Sell a, Buy b) WITHIN 5").patterns)
        ['turn', 'back']
        """
        more = {
            **({} if patterns is None else workload(patterns).patterns),
            **(workload(named).patterns if named else {}),
        }
        for name in more:
            if name in self.patterns:
                raise BindingError(f"There is a pattern {name} already.", cure="Remove it first, or use another name.")
        return Workload({**self.patterns, **more}, self.memory)

    def remove(self, *names: str) -> Workload:
        """Take patterns away, by their names."""
        for name in names:
            if name not in self.patterns:
                raise BindingError(f"There is no pattern {name}.", cure=f"There are {_some(self.patterns)}.")
        return Workload({name: text for name, text in self.patterns.items() if name not in names}, self.memory)

    def match(
        self,
        events: Rows,
        *,
        partition_by: Names | None = None,
        type: Key = "type",
        time: Names = "time",
        optimize: str = "annealing",
        time_limit: float = _SECONDS,
        seed: int = 0,
        sample: Rows | None = None,
        args: Args | None = None,
        hints: Args | None = None,
        types: Collection[str] | None = None,
    ) -> DataFrame:
        """Find all patterns in a DataFrame of events, as `trellis.match_all`; made for `df.transform`.

        Examples
        --------
        >>> import trellis as tr
        >>> events = spark.createDataFrame([("Buy", 1), ("Sell", 2), ("Buy", 3)], "type string, time int")
        >>> desk = tr.workload("turn: PATTERN SEQ(Buy a, Sell b) WITHIN 5; back: PATTERN SEQ(Sell a, Buy b) WITHIN 5")
        >>> sorted((row.pattern, row.start, row.end) for row in events.transform(desk.match).collect())
        [('back', 2, 3), ('turn', 1, 2)]
        """
        given = _Given(partition_by, type, time, optimize, time_limit, seed, sample, args, hints, types)
        return given.plan(self, events).run()

    def explain(
        self,
        events: Rows,
        *,
        partition_by: Names | None = None,
        type: Key = "type",
        time: Names = "time",
        optimize: str = "annealing",
        time_limit: float = _SECONDS,
        seed: int = 0,
        sample: Rows | None = None,
        args: Args | None = None,
        hints: Args | None = None,
        types: Collection[str] | None = None,
        analyze: bool = False,
    ) -> str:
        """Say how the patterns would be found: which share what, and how many instances each node is thought to have.

        Parameters are those of `match`. With `analyze`, the search runs, and the real numbers stand beside these.
        """
        given = _Given(partition_by, type, time, optimize, time_limit, seed, sample, args, hints, types)
        planned = given.plan(self, events)
        return planned.explain(_count(planned) if analyze else None)

    def plan(
        self,
        events: Rows,
        *,
        partition_by: Names | None = None,
        type: Key = "type",
        time: Names = "time",
        optimize: str = "annealing",
        time_limit: float = _SECONDS,
        seed: int = 0,
        sample: Rows | None = None,
        args: Args | None = None,
        hints: Args | None = None,
        types: Collection[str] | None = None,
        analyze: bool = False,
    ) -> PlanGraph:
        """Give the shared plan as a graph, which `trellis.plot_plan` draws. Parameters are those of `explain`."""
        given = _Given(partition_by, type, time, optimize, time_limit, seed, sample, args, hints, types)
        planned = given.plan(self, events)
        nodes, edges, absences = planned.graph(_count(planned) if analyze else None)
        return PlanGraph(tuple(PlanNode(*node) for node in nodes), edges, absences)


def workload(patterns: Patterns) -> Workload:
    """Make a workload of event patterns.

    Parameters
    ----------
    patterns : mapping, list, str or path
        The patterns, as for `match_all`.

    Examples
    --------
    >>> import trellis as tr
    >>> print(tr.workload(["PATTERN SEQ(Buy a, Sell b) WITHIN 5", "PATTERN AND(Buy a, Sell b) WITHIN 3"]))
    p1: PATTERN SEQ(Buy a, Sell b) WITHIN 5;
    p2: PATTERN AND(Buy a, Sell b) WITHIN 3
    """
    if isinstance(patterns, Workload):
        return patterns
    return Workload({one.name: one.text for one in parse_workload(_text(patterns))})


def _text(
    patterns: Mapping[str, str] | Sequence[str] | str | os.PathLike[str],
) -> Mapping[str, str] | Sequence[str] | str:
    """The patterns, read from their file if that is what is given."""
    return Path(patterns).expanduser().read_text("utf-8-sig") if isinstance(patterns, os.PathLike) else patterns


@dataclass(frozen=True, slots=True)
class _Given:
    """What a call says beside its patterns and its events."""

    partition_by: Names | None
    type: Key
    time: Names
    optimize: str
    time_limit: float
    seed: int
    sample: Rows | None
    args: Args | None
    hints: Args | None
    types: Collection[str] | None

    def plan(self, patterns: Workload, events: Rows) -> WorkloadOnFrame:
        """The patterns with their plan for the events."""
        known = known_types(self.types)
        parsed = parse_workload(patterns.patterns, name_of(self.type), names_of(self.time), types=known)
        frames = {"events": events} if self.sample is None else {"events": events, "sample": self.sample}
        spark, given = session_of(None, frames, self.args)
        session = Session(spark, dict(self.args or {}))
        hints = Hints.of(self.hints)
        queries = {one.name: one.query for one in parsed}
        with errors_about(str(patterns)), warm_kernels(Kernels.WORKLOADS):
            planned = plan_on_frame(
                dict(patterns.patterns),
                queries,
                given["events"],
                session,
                _names(self.partition_by),
                hints,
                self._options(hints),
                patterns.memory,
                given.get("sample"),
            )
            require_worker_python(session.spark)
        return planned

    def _options(self, hints: Hints) -> SearchOptions:
        limit = self.time_limit
        if not isinstance(limit, (int, float)) or isinstance(limit, bool) or not limit >= 0:
            raise BindingError(
                f"time_limit is a number of seconds, not {limit!r}.", cure="Pass 0 or more: time_limit=5."
            )
        if not isinstance(self.seed, int):
            raise BindingError(f"seed is a whole number, not {self.seed!r}.", cure="Pass seed=0, or another one.")
        return SearchOptions(
            self.optimize,
            hints.plans == "orders",
            hints.neighbours,
            seconds=float(limit),
            seed=self.seed,
            adapt=hints.adapt,
        )


def _count(planned: WorkloadOnFrame) -> tuple[int, ...]:
    if planned.frame.isStreaming:
        raise UnsupportedError("A stream never ends, so nothing can be counted.", cure="Leave out analyze.")
    return planned.count()


def _names(given: Names | None) -> tuple[str, ...]:
    found = names_of(() if given is None else given)
    names = (found,) if isinstance(found, str) else tuple(found)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(
                f"partition_by takes names of columns, not {name!r}.", cure='Write partition_by=["city", "sensor"].'
            )
        if name.lower() in _RESULT:
            raise BindingError(
                f"The result has a column {name} already.", cure="Rename it: events.withColumnRenamed(...)."
            )
    return names


def _name(name: str) -> str:
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"


def _some(names: Mapping[str, str]) -> str:
    shown = [*names][:5]
    return ", ".join(shown) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
