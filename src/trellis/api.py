"""The public functions: parse, bind, plan, run. Each is wiring; the work is in the packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from trellis.algebra.plan import ScanPlan
from trellis.algebra.query import Query
from trellis.analysis.binding import bind
from trellis.analysis.schema import Schema
from trellis.errors import BindingError, TrellisError
from trellis.java import require_java
from trellis.languages.statement import parse_statement
from trellis.planning.hints import Hints
from trellis.planning.scan import plan_scan
from trellis.spark.batch import run_scan
from trellis.spark.projection import Session, refused

__all__ = ["sql"]


def sql(
    text: str,
    /,
    *,
    spark: SparkSession | None = None,
    args: Mapping[str, object] | None = None,
    hints: Mapping[str, object] | None = None,
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
    session = Session(_session(spark, frames), dict(args or {}), dict(frames))
    options = Hints.of(hints)
    try:
        statement = parse_statement(text)
        frames_now = dict(frames)
        for clause in statement.clauses:
            scope = replace(session, frames=frames_now, ctes=clause.ctes)
            frame = _spark(scope, f"{clause.ctes} SELECT * FROM {clause.input}")
            plan = _plan(clause.query, frame, scope, options)
            frames_now[clause.name] = run_scan(plan, frame, scope)
        return _spark(replace(session, frames=frames_now), statement.final)
    except TrellisError as error:
        raise error.with_text(text) from error.__cause__


def _plan(query: Query, frame: DataFrame, session: Session, hints: Hints) -> ScanPlan:
    conf = session.spark.conf
    schema = Schema(
        tuple((field.name, field.dataType.simpleString()) for field in frame.schema),
        conf.get("spark.sql.caseSensitive", "false") == "true",
    )
    bound = bind(query, schema, session.args)
    lenient = conf.get("spark.sql.ansi.enabled", "true") != "true"
    return plan_scan(bound, partial(session.types_of, frame), hints, lenient=lenient)


def _spark(session: Session, text: str) -> DataFrame:
    try:
        return session.run(text)
    except PySparkException as problem:
        raise refused(problem) from problem


def _session(spark: SparkSession | None, frames: Mapping[str, DataFrame]) -> SparkSession:
    for name, frame in frames.items():
        if not hasattr(frame, "sparkSession"):
            raise BindingError(f"{name} is not a DataFrame of Spark.", cure="Use spark.createDataFrame(...) first.")
        spark = spark or frame.sparkSession
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        require_java()
        spark = SparkSession.builder.appName("trellis").getOrCreate()
    return spark
