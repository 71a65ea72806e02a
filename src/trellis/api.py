"""The public functions: parse, bind, plan, run. Each is wiring; the work is in the packages."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from trellis.algebra.expression import Expression
from trellis.algebra.functions import FunctionKind
from trellis.algebra.pattern import with_counts
from trellis.algebra.plan import MatchPlan, ScanPlan
from trellis.algebra.query import Query
from trellis.algebra.segments import SegmentPlan
from trellis.analysis.binding import bind
from trellis.analysis.functions import settle_functions
from trellis.analysis.schema import Schema
from trellis.analysis.segments import SEGMENT_FUNCTIONS, bind_segments
from trellis.errors import BindingError, TrellisError, TrellisWarning, UnsupportedError
from trellis.java import require_java
from trellis.languages.builder import Keys, QueryBuilder, build
from trellis.languages.statement import parse_statement
from trellis.languages.validation import check_query
from trellis.planning.columns import TypesOf
from trellis.planning.describe import describe
from trellis.planning.describe_segments import describe_segments
from trellis.planning.hints import Hints
from trellis.planning.rewrite_rows import reads_segments, rewrite_rows
from trellis.planning.scan import plan_scan
from trellis.planning.segments import plan_segments
from trellis.segment_functions import registered
from trellis.spark.batch import run_scan
from trellis.spark.counts import Counts, run_counted
from trellis.spark.projection import Session, refused
from trellis.spark.row_statistics import survey_source
from trellis.spark.segment_sample import sampled_tree
from trellis.spark.warmup import start_warmup

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
    return _run(text, session, Hints.of(hints))[0]


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
    result, plans = _run(text, session, Hints.of(hints), counted=analyze)
    if analyze:
        run_counted(result, [counts for *_, counts in plans if counts is not None])
    if not plans:
        return "There is no MATCH_RECOGNIZE in this statement: Spark runs it as it is."
    return "\n\n\n".join(_explained(*explained) for explained in plans)


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
            session = Session(frame.sparkSession)
            plan = _plan(query, frame, session, Hints.of(hints))
            return run_scan(plan, frame, session, users=registered())

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
        counts = Counts() if analyze else None
        with _errors_show(self.text(partition_by, order_by)), _warm(query):
            session = Session(frame.sparkSession)
            plan = _plan(query, frame, session, Hints.of(hints))
            if analyze:
                assert counts is not None
                run_counted(run_scan(plan, frame, session, counts, registered()), [counts])
        return _explained(query, plan, frame, session, counts)


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


_Plan = ScanPlan[MatchPlan] | ScanPlan[SegmentPlan]
_Plans = list[tuple[Query, _Plan, DataFrame, Session, Counts | None]]


def _run(text: str, session: Session, hints: Hints, *, counted: bool = False) -> tuple[DataFrame, _Plans]:
    plans: _Plans = []
    frames = dict(session.frames)
    with _errors_show(text):
        statement = parse_statement(text)
        if not statement.clauses:
            return session.run(statement.final), plans
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
                plan = _plan(clause.query, frame, scope, hints)
                counts = Counts() if counted else None
                plans.append((clause.query, plan, frame, scope, counts))
                frames[clause.name] = run_scan(plan, frame, scope, counts, registered())
            return replace(session, frames=frames).run(statement.final), plans


def _plan(query: Query, frame: DataFrame, session: Session, hints: Hints) -> _Plan:
    if frame.isStreaming:
        raise UnsupportedError(
            "Streams are not supported yet.", cure="Use foreachBatch, or a DataFrame that is not a stream."
        )
    conf = session.spark.conf
    columns = tuple((field.name, field.dataType.simpleString()) for field in frame.schema)
    schema = Schema(columns, conf.get("spark.sql.caseSensitive", "false") == "true")
    functions = {**SEGMENT_FUNCTIONS, **{name: function.arguments for name, function in registered().items()}}
    lenient = conf.get("spark.sql.ansi.enabled", "true") != "true"
    types_of, survey = partial(session.types_of, frame), partial(survey_source, frame, session)
    settle = _Settle(schema, partial(session.kinds_of, frame), types_of)
    query = settle(query, functions)
    segmented = _segmented(query, session, functions, hints)
    if segmented is not None:
        segments = bind_segments(segmented, schema, session.args, functions)
        plan = plan_segments(segments, types_of, hints, survey, lenient=lenient)
        _warn_of_squares(plan.match)
        if segmented is query:
            return plan
        start_warmup("segments").join()
        rewritten = f"rewrite_rows: stretches of rows are segments: {' '.join(str(segmented).split(chr(10))[-2:])}"
        return replace(plan, rules=(rewritten, *plan.rules))
    bound = bind(_row_query(query, functions, settle), schema, session.args)
    return plan_scan(bound, types_of, hints, lenient=lenient, constant=session.constant, survey=survey)


@dataclass(frozen=True, slots=True)
class _Settle:
    """Finds the aggregates of a query, which Spark knows, and checks the query with them."""

    schema: Schema
    kinds_of: Callable[[Sequence[Expression]], Sequence[FunctionKind]]
    types_of: TypesOf

    def __call__(self, query: Query, segment_functions: Collection[str]) -> Query:
        """The query with every aggregate as such; functions of segments are none."""
        settled = settle_functions(query, self.schema, self.kinds_of, self.types_of, segment_functions)
        if settled is not query:
            check_query(settled)
        return settled


def _segmented(query: Query, session: Session, functions: Mapping[str, int], hints: Hints) -> Query | None:
    """The query as a segment query, None if it stays a row pattern."""
    if query.is_segmented:
        return query
    counted = replace(query, pattern=with_counts(query.pattern, session.args))
    always = hints.rewrite == "always"
    rewritten = rewrite_rows(counted, functions, always=always) if hints.on("rewrite_rows") else None
    return rewritten


def _row_query(query: Query, functions: Mapping[str, int], settle: _Settle) -> Query:
    """A query that stays one of rows: no function of segments may be left in it, unless Spark has one of that name."""
    call = reads_segments(query, functions)
    if call is None:
        return query
    settled = settle(query, ())
    if settled.definitions == query.definitions and reads_segments(settled, functions) is None:
        return settled
    raise UnsupportedError(
        f"{call.function} is a function of whole segments, and this row pattern cannot be rewritten into segments.",
        cure="Define segment variables: DEFINE SEGMENT X AS ... .",
        span=call.span,
    )


def _warn_of_squares(plan: SegmentPlan) -> None:
    """One long series and a pattern without a window: every pair of rows is a segment."""
    bounded = plan.tree.window.most is not None or any(time.most is not None for time in plan.tree.window.times)
    if not bounded and not plan.keys:
        warnings.warn(
            "The pattern has no window and the query no PARTITION BY: n rows have n * n / 2 segments "
            f"(100,000 rows: 5,000,000,000; the search gives up after {plan.budget:,}). "
            "Bound it: `(...) & WIN` with SEGMENT WIN AS window(1, 100).",
            TrellisWarning,
            stacklevel=4,
        )


def _explained(query: Query, plan: _Plan, frame: DataFrame, session: Session, counts: Counts | None) -> str:
    if isinstance(plan.match, SegmentPlan):
        tree = sampled_tree(plan, frame, session, registered(), analyze=counts is not None)
        text = describe_segments(query, plan, tree)
    else:
        text = describe(query, plan)
    return text if counts is None else f"{text}\n\n== Counts ==\n{counts}"


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
    kinds = {"segments" if query.is_segmented else "rows" for query in queries}
    threads = [start_warmup(kind) for kind in sorted(kinds)]
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
