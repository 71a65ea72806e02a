"""Event patterns: in the language SASE+, and in Python."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from trellis.api.event_types import known_types
from trellis.api.session import Args, session_of
from trellis.api.statements import explain
from trellis.api.why import why
from trellis.errors import UnsupportedError
from trellis.languages.event_builder import EventBuilder, build_events
from trellis.languages.sase import parse_sase_text
from trellis.planned import errors_about, plan_on, warm
from trellis.planning.hints import Hints
from trellis.reasons.report import Why
from trellis.spark.decompress import decompress_matches
from trellis.spark.inputs import Rows, frame_of
from trellis.spark.keys import Key, Names, name_of, names_of
from trellis.spark.session import Session
from trellis.spark.worker_python import require_worker_python
from trellis.stage_counts import STEP_BUDGET, count_stages

__all__ = ["EventPattern", "decompress", "event_pattern", "progress", "sase"]


def sase(
    text: str,
    /,
    *,
    events: Rows,
    type: Key = "type",
    time: Names = "time",
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    types: Collection[str] | None = None,
    compressed: bool = False,
) -> DataFrame:
    """Find an event pattern in a DataFrame of events.

    Planned at once, run when an action asks for rows.

    Parameters
    ----------
    text : str
        The pattern, in the language SASE+.
    events : DataFrame
        The events: a type, a time, and attributes.
    type : str
        The column that holds the type of an event, or a field of one: "payload.kind".
    time : str or list of str
        The column that holds its time. Further columns put events of one time in order.
    spark : SparkSession, optional
        By default that of `events`.
    args : mapping, optional
        The values of parameters (`:name`).
    hints : mapping, optional
        Options of planning and running; see `trellis.planning.hints.Hints`.
    types : collection of str, optional
        All types of events that there are: a pattern that names another one is refused. Without it, such a pattern just
        has no matches, since nobody reads the events before rows are asked for.
    compressed : bool
        Give the graph of all matches that end at one event, instead of a row for each; `decompress` lists them.

    Returns
    -------
    DataFrame
        A row for each match, which is an event again: it has a type and a time.

    Examples
    --------
    >>> import trellis as tr
    >>> events = spark.createDataFrame(
    ...     [("Order", 1, 7), ("Order", 2, 8), ("Payment", 4, 8)], "type string, time int, id int")
    >>> tr.sase('''
    ...     PATTERN SEQ(Order o, ~(Payment p))
    ...     WHERE skip_till_next_match { [id] }
    ...     WITHIN 10
    ...     RETURN o.id AS unpaid''', events=events).collect()
    [Row(type='Match', time=1, unpaid=7)]
    """
    known = known_types(types)
    query = parse_sase_text(text, name_of(type), names_of(time), types=known, compressed=compressed)
    spark, frames = session_of(spark, {"events": events}, args)
    events, session = frames["events"], Session(spark, dict(args or {}))
    with errors_about(text), warm(query):
        planned = plan_on(query, events, session, Hints.of(hints))
        require_worker_python(session.spark)
        return planned.run()


def decompress(matches: Rows) -> DataFrame:
    """List the matches that `sase(..., compressed=True)` found.

    They are listed while rows are asked for: `decompress(found).limit(10)` lists hardly more than ten.

    Parameters
    ----------
    matches : DataFrame
        Compressed matches; rows may have been left out, and columns added.

    Returns
    -------
    DataFrame
        A row for each match: the columns of the input without `matches`, `nodes` and `edges`, then a struct for each
        single event and an array of structs for each repeated component.

    Examples
    --------
    >>> import trellis as tr
    >>> events = spark.createDataFrame([("A", 1), ("B", 2), ("B", 3)], "type string, time int")
    >>> found = tr.sase("PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match { }", events=events, compressed=True)
    >>> found.select("time", "matches").orderBy("time").collect()
    [Row(time=2, matches=Decimal('1')), Row(time=3, matches=Decimal('2'))]
    >>> sorted([event.time for event in row.b] for row in tr.decompress(found).collect())
    [[2], [2, 3], [3]]
    """
    matches = frame_of("the argument of decompress", matches)
    require_worker_python(matches.sparkSession)
    return decompress_matches(matches)


def progress(
    text: str,
    /,
    *,
    events: Rows,
    type: Key = "type",
    time: Names = "time",
    max_events: int = 1_000_000,
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
) -> DataFrame:
    """Count how far the runs of an event pattern came, to see which part of it fails.

    Runs at once: one search for each component. `trellis.plot` draws the result.

    Parameters
    ----------
    text : str
        The pattern, as for `sase`. RETURN and OUTPUT do not matter.
    events, type, time, spark, args
        As for `sase`.
    max_events : int
        Search in so many events at most. If there are more, it is done in some whole partitions of them (by what
        stands in `[...]`), or where one is too large for that, in the earliest events.
    hints : mapping, optional
        As for `sase`; the hint `step_budget` is smaller unless it is given.

    Returns
    -------
    DataFrame
        A row for each `component`, and after a repeated one for the conditions on the whole of it (`end of b[]`); those
        that must be absent come last. `conditions` are those that are tested there. `events` are how many events some
        run took into it, and `runs` how many runs came so far: of what must be absent, how many events end a match that
        is left, and how many these are. They are NULL where the search takes more steps than the step budget allows, or
        a number has more than 38 digits. `searched` and `total` are how many events were looked at, and there are.

    Examples
    --------
    >>> import trellis as tr
    >>> events = spark.createDataFrame(
    ...     [("Order", 1, 7), ("Order", 2, 8), ("Payment", 30, 8)], "type string, time int, id int")
    >>> for row in tr.progress("PATTERN SEQ(Order o, Payment p) WHERE { [id] } WITHIN 10", events=events).collect():
    ...     print(row.component, row.events)
    Order o 2
    Payment p 0
    """
    query = parse_sase_text(text, name_of(type), names_of(time))
    spark, frames = session_of(spark, {"events": events}, args)
    events, session = frames["events"], Session(spark, dict(args or {}))
    if events.isStreaming:
        raise UnsupportedError(
            "events is a stream, which has no end to count up to.", cure="Count in a table of its events."
        )
    with errors_about(text), warm(query):
        require_worker_python(session.spark)
        return count_stages(query, events, session, Hints.of({"step_budget": STEP_BUDGET, **(hints or {})}), max_events)


@dataclass(frozen=True, slots=True, repr=False)
class EventPattern(EventBuilder):
    """An event pattern that can be used on any DataFrame of events. Immutable: each step returns a new one."""

    def match(
        self,
        frame: Rows,
        *,
        type: Key = "type",
        time: Names = "time",
        args: Args | None = None,
        hints: Args | None = None,
        types: Collection[str] | None = None,
        compressed: bool = False,
    ) -> DataFrame:
        """Find the pattern in a DataFrame of events, as `trellis.sase`; made for `df.transform`.

        Examples
        --------
        >>> import trellis as tr
        >>> events = spark.createDataFrame(
        ...     [("Order", 1, 7), ("Order", 2, 8), ("Payment", 4, 8)], "type string, time int, id int")
        >>> unpaid = tr.event_pattern("Order o", "~(Payment p)").same("id").within(10).returning(unpaid="o.id")
        >>> events.transform(unpaid.match).collect()
        [Row(type='Match', time=1, unpaid=7)]
        """
        self.query(name_of(type), names_of(time))  # here errors show the piece that they are about
        return sase(
            self.text(), events=frame, type=type, time=time, args=args, hints=hints, types=types, compressed=compressed
        )

    def progress(
        self,
        frame: Rows,
        *,
        type: Key = "type",
        time: Names = "time",
        max_events: int = 1_000_000,
        args: Args | None = None,
        hints: Args | None = None,
    ) -> DataFrame:
        """Count how far the runs of the pattern come in a DataFrame; as `trellis.progress`."""
        self.query(name_of(type), names_of(time))
        return progress(self.text(), events=frame, type=type, time=time, max_events=max_events, args=args, hints=hints)

    def why(
        self,
        frame: Rows,
        *,
        type: Key = "type",
        time: Names = "time",
        args: Args | None = None,
        hints: Args | None = None,
        sample: int | None = None,
        types: Collection[str] | None = None,
    ) -> Why:
        """Say why the pattern is not found in a DataFrame; as `trellis.why`.

        Examples
        --------
        >>> import trellis as tr
        >>> events = spark.createDataFrame([("Order", 1, 7), ("Payment", 30, 7)], "type string, time int, id int")
        >>> paid = tr.event_pattern("Order o", "Payment p").same("id").within(10)
        >>> print(paid.why(events).findings[1])
        Without WITHIN 10, it would take 1 event.
        """
        self.query(name_of(type), names_of(time))
        return why(self.text(), events=frame, type=type, time=time, args=args, hints=hints, sample=sample, types=types)

    def explain(
        self,
        frame: Rows,
        *,
        type: Key = "type",
        time: Names = "time",
        args: Args | None = None,
        hints: Args | None = None,
        analyze: bool = False,
        types: Collection[str] | None = None,
        compressed: bool = False,
    ) -> str:
        """Say how the pattern would be found in a DataFrame; as `trellis.explain`."""
        self.query(name_of(type), names_of(time))
        return explain(
            self.text(),
            events=frame,
            type=type,
            time=time,
            args=args,
            hints=hints,
            analyze=analyze,
            types=types,
            compressed=compressed,
        )


def event_pattern(*components: str) -> EventPattern:
    """Start an event pattern in Python.

    Parameters
    ----------
    *components : str
        What happens, in this order: `Order o`, `Shipment+ b[]`, `~(Payment p)`, `(Shelf | Exit) s`.

    Examples
    --------
    >>> import trellis as tr
    >>> p = tr.event_pattern("Order o", "Payment p").same("id").within("3 days")
    >>> print(p.query())
    PATTERN SEQ(Order o, Payment p)
    WHERE skip_till_next_match { [id] }
    WITHIN INTERVAL 3 DAYS
    """
    build_events(*components)
    return EventPattern(components)
