"""The public functions: parse, plan, run. Each is wiring; the work is in the packages."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from trellis.algebra.plan import Plan
from trellis.algebra.query import Query, VariableKind
from trellis.algebra.segments import SegmentScan
from trellis.algebra.statement import Statement, TemporaryView
from trellis.errors import BindingError, TrellisError, TrellisWarning, UnsupportedError
from trellis.execution.segments.trial import try_tree
from trellis.execution.task import MatchTask
from trellis.execution.warmup import start_warmup
from trellis.java import require_java
from trellis.languages.builder import Keys, QueryBuilder, build
from trellis.languages.statement import find_name, parse_statement
from trellis.planning.describe.plan import describe_plan
from trellis.planning.describe.segments import describe_trial
from trellis.planning.driver import plan_query
from trellis.planning.hints import Hints
from trellis.planning.segments.choose import choose_tree
from trellis.segment_functions import registered
from trellis.spark.counts import Counts, run_counted
from trellis.spark.run import run_plan
from trellis.spark.sample import sample_rows
from trellis.spark.session import Session, refused
from trellis.spark.source import source_of

__all__ = ["RowPattern", "explain", "pattern", "sql"]

Args = Mapping[str, object]


def sql(
    text: str,
    /,
    *,
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    **frames: DataFrame,
) -> DataFrame:
    """Run a SQL statement that may contain MATCH_RECOGNIZE.

    Planned at once, run when an action asks for rows.

    Parameters
    ----------
    text : str
        The statement. `{name}` stands for the DataFrame passed as `name=`, `:name` for a parameter.
    spark : SparkSession, optional
        By default the session of the first DataFrame, else the active one, else a new one.
    args : mapping, optional
        The values of the parameters, as in `spark.sql`.
    hints : mapping, optional
        Options of planning and running; see `trellis.planning.hints.Hints`.
    **frames : DataFrame
        The DataFrames behind the placeholders.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import trellis as tr
    >>> ticks = spark.createDataFrame([(1, 9.0), (2, 7.0), (3, 8.0)], "ts int, price double")
    >>> tr.sql('''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY ts
    ...         MEASURES first(A.ts) AS start, last(UP.ts) AS end
    ...         PATTERN (A DOWN+ UP+)
    ...         DEFINE DOWN AS price < prev(price), UP AS price > prev(price)
    ...     )''', ticks=ticks).collect()
    [Row(start=1, end=3)]
    """
    session = Session(_session(spark, frames, args), dict(args or {}), dict(frames))
    with _errors_show(text):
        statement = parse_statement(text)
        matched, _ = _match_clauses(statement, session, Hints.of(hints))
        result = matched.run(statement.final)
        return result if statement.view is None else _create_view(statement.view, result)


def explain(
    text: str,
    /,
    *,
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    analyze: bool = False,
    **frames: DataFrame,
) -> str:
    """Say how a statement would run, without running it.

    For each MATCH_RECOGNIZE: the logical plan, how each condition was split (computed by Spark, as a bit, by the
    kernel, or slow), the rules that fired, and the physical plan. Parameters are those of `sql`.

    Parameters
    ----------
    analyze : bool
        Run the statement too (its rows are thrown away), and show the real counts.

    Examples
    --------
    >>> import trellis as tr
    >>> ticks = spark.createDataFrame([(1, 9.0), (2, 7.0)], "ts int, price double")
    >>> print(tr.explain("SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY ts PATTERN (A+) DEFINE A AS price > 8)", t=ticks))
    ... # doctest: +ELLIPSIS
    == Query ==
    ORDER BY ts ASC NULLS FIRST
    ...
    """
    session = Session(_session(spark, frames, args), dict(args or {}), dict(frames))
    with _errors_show(text):
        statement = parse_statement(text)
        if analyze and statement.has_effect:
            raise UnsupportedError(
                "explain(analyze=True) runs a query, not a statement that changes something.",
                cure="Explain its SELECT alone, or leave analyze out.",
            )
        matched, clauses = _match_clauses(statement, session, Hints.of(hints), counted=analyze)
        # Spark runs commands at once, so only a query may be handed to it here.
        result = None if statement.has_effect else matched.run(statement.final)
    if analyze and result is not None:
        run_counted(result, [planned.counts for planned in clauses if planned.counts is not None])
    if not clauses:
        return "There is no MATCH_RECOGNIZE in this statement: Spark runs it as it is."
    return "\n\n\n".join(planned.explain() for planned in clauses)


@dataclass(frozen=True, slots=True)
class RowPattern(QueryBuilder):
    """A pattern query that can be used on any DataFrame. Immutable: each step returns a new one."""

    def match(
        self, frame: DataFrame, partition_by: Keys = None, order_by: Keys = None, hints: Args | None = None
    ) -> DataFrame:
        """Find the pattern in a DataFrame; made for `df.transform`.

        Examples
        --------
        >>> import trellis as tr
        >>> ticks = spark.createDataFrame([(1, 9.0), (2, 7.0), (3, 8.0)], "ts int, price double")
        >>> v_shape = (
        ...     tr.pattern("A DOWN+ UP+")
        ...     .define(DOWN="price < prev(price)", UP="price > prev(price)")
        ...     .measures(low="min(DOWN.price)")
        ... )
        >>> ticks.transform(v_shape.match, order_by="ts").collect()
        [Row(low=7.0)]
        """
        query = self.query(partition_by, order_by)
        with _errors_show(self.text(partition_by, order_by)), _warm(query):
            return _planned(query, frame, Session(frame.sparkSession), Hints.of(hints)).run()

    def explain(
        self,
        frame: DataFrame,
        partition_by: Keys = None,
        order_by: Keys = None,
        hints: Args | None = None,
        analyze: bool = False,
    ) -> str:
        """Say how the pattern would be found in a DataFrame; as `trellis.explain`."""
        query = self.query(partition_by, order_by)
        with _errors_show(self.text(partition_by, order_by)), _warm(query):
            planned = _planned(query, frame, Session(frame.sparkSession), Hints.of(hints), counted=analyze)
            if planned.counts is not None:
                run_counted(planned.run(), [planned.counts])
            return planned.explain()


def pattern(text: str) -> RowPattern:
    """Start a pattern query in Python.

    Examples
    --------
    >>> import trellis as tr
    >>> p = tr.pattern("A B+").define(B="price > prev(price)")
    >>> str(p.query(order_by="ts").pattern)
    'A B+'
    """
    build(text)
    return RowPattern(text)


@dataclass(frozen=True, slots=True)
class _Planned:
    """A query with its plan, ready to run or to be explained."""

    query: Query
    plan: Plan
    frame: DataFrame
    session: Session
    counts: Counts | None

    def run(self) -> DataFrame:
        task = MatchTask(self.plan.scan)
        if isinstance(self.plan.scan, SegmentScan):
            task = MatchTask(self.plan.scan, registered(), choose_tree)
        return run_plan(self.plan, self.frame, self.session, task, self.counts)

    def explain(self) -> str:
        tree: list[str] = []
        analyze = self.counts is not None
        if isinstance(self.plan.scan, SegmentScan):
            table = sample_rows(self.plan, self.frame, self.session)
            tree = describe_trial(try_tree(self.plan.scan, table, registered(), choose_tree, run=analyze))
        text = describe_plan(self.query, self.plan, tree)
        return f"{text}\n\n== Counts ==\n{self.counts}" if analyze else text


def _planned(
    query: Query,
    frame: DataFrame,
    session: Session,
    hints: Hints,
    *,
    qualifier: tuple[str, ...] = (),
    counted: bool = False,
) -> _Planned:
    functions = {name: function.arguments for name, function in registered().items()}
    plan = plan_query(query, source_of(frame, session, functions, qualifier), hints)
    for warning in plan.warnings:
        _warn(warning)
    if query.kind is VariableKind.ROW and isinstance(plan.scan, SegmentScan):
        # It was rewritten, and nobody knew before.
        start_warmup(VariableKind.SEGMENT).join()
    return _Planned(query, plan, frame, session, Counts() if counted else None)


def _warn(message: str) -> None:
    """Warn where the user's code calls Trellis, perhaps through `df.transform`: Python shows a place only once."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("trellis", "pyspark"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, TrellisWarning, stacklevel=level)


def _match_clauses(
    statement: Statement, session: Session, hints: Hints, *, counted: bool = False
) -> tuple[Session, list[_Planned]]:
    """Plan the clauses of a statement one after the other; the session has the matches behind their placeholders."""
    clauses: list[_Planned] = []
    _check_frames(statement, session.frames)
    frames = dict(session.frames)
    with _warm(*(clause.query for clause in statement.clauses)):
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
            clauses.append(_planned(clause.query, frame, scope, hints, qualifier=clause.qualifier, counted=counted))
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


def _create_view(view: TemporaryView, rows: DataFrame) -> DataFrame:
    """Create a view; as for every command of Spark, the result is empty."""
    named = rows.toDF(*view.columns) if view.columns else rows
    if view.is_global:
        (named.createOrReplaceGlobalTempView if view.replaces else named.createGlobalTempView)(view.name)
    else:
        (named.createOrReplaceTempView if view.replaces else named.createTempView)(view.name)
    return rows.sparkSession.range(0).select()


@contextmanager
def _errors_show(text: str) -> Iterator[None]:
    """Errors show the text that they are about; what Spark refuses is an error of ours, too."""
    try:
        yield
    except TrellisError as error:
        raise error.with_text(text) from error.__cause__
    except PySparkException as problem:
        raise refused(problem).with_text(text) from problem


@contextmanager
def _warm(*queries: Query) -> Iterator[None]:
    """Kernels are compiled or loaded while the query is planned, so that workers only load."""
    threads = [start_warmup(kind) for kind in sorted({query.kind for query in queries}, key=str)]
    yield
    for thread in threads:
        thread.join()


def _session(spark: SparkSession | None, frames: Mapping[str, DataFrame], args: Args | None) -> SparkSession:
    if args is not None and not isinstance(args, Mapping):
        raise BindingError("Parameters have names.", cure="Write :name, and pass args={'name': value}.")
    for name, frame in frames.items():
        if not hasattr(frame, "sparkSession"):
            raise BindingError(f"{name} is not a DataFrame of Spark.", cure="Use spark.createDataFrame(...) first.")
        spark = spark or frame.sparkSession
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        require_java()
        spark = SparkSession.builder.appName("trellis").getOrCreate()
    return spark
