"""Statements: MATCH_RECOGNIZE and SQL-TS, and how anything would run."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame, SparkSession

from trellis.api.event_types import known_types
from trellis.api.session import Args, session_of
from trellis.errors import UnsupportedError
from trellis.languages.sase import is_sase, parse_sase_text
from trellis.languages.statement import parse_statement, require_sequence
from trellis.origins import remember_as
from trellis.planned import errors_about, explain_all, plan_on, warm
from trellis.planning.hints import Hints
from trellis.spark.inputs import Rows
from trellis.spark.keys import Key, Names, name_of, names_of
from trellis.spark.session import Session
from trellis.spark.worker_python import require_worker_python
from trellis.statements import create_view, match_clauses

__all__ = ["explain", "sql", "sqlts"]


def sql(
    text: str,
    /,
    *,
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    **frames: Rows,
) -> DataFrame:
    """Run a SQL statement that may contain MATCH_RECOGNIZE.

    Planned at once, run when an action asks for rows. For large inputs planning looks at the data; see the hint
    `statistics`.

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
        The DataFrames behind the placeholders: of Spark; or of pandas, or tables of Arrow, which the session reads.

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
    spark, tables = session_of(spark, frames, args)
    session = Session(spark, dict(args or {}), tables)
    with errors_about(text):
        statement = parse_statement(text)
        matched, clauses = match_clauses(statement, session, Hints.of(hints))
        if clauses:
            require_worker_python(session.spark)
        result = matched.run(statement.final)
        if len(statement.clauses) == 1:
            remember_as(result, matched.frames[statement.clauses[0].name])
        return result if statement.view is None else create_view(statement.view, result)


def sqlts(
    text: str,
    /,
    *,
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    **frames: Rows,
) -> DataFrame:
    """Run a SQL-TS query: SELECT ... FROM t CLUSTER BY k SEQUENCE BY s AS (X, *Y, Z) WHERE ...

    Planned at once, run when an action asks for rows. Parameters are those of `sql`, which runs such queries too; here
    a text without a sequence is refused.

    Examples
    --------
    >>> import trellis as tr
    >>> quotes = spark.createDataFrame([(1, 9.0), (2, 7.0), (3, 4.0), (4, 8.0)], "day int, price double")
    >>> tr.sqlts('''
    ...     SELECT X.day AS first, LAST(Y).day AS last, count(*Y) AS falls
    ...     FROM {quotes} SEQUENCE BY day AS (X, *Y)
    ...     WHERE Y.price < Y.previous.price''', quotes=quotes).collect()
    [Row(first=1, last=3, falls=2)]
    """
    with errors_about(text):
        require_sequence(parse_statement(text))
    return sql(text, spark=spark, args=args, hints=hints, **frames)


def explain(
    text: str,
    /,
    *,
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    analyze: bool = False,
    type: Key = "type",
    time: Names = "time",
    types: Collection[str] | None = None,
    compressed: bool = False,
    **frames: Rows,
) -> str:
    """Say how a statement, or an event pattern on `events`, would run, without running it.

    For a segment query, a sample of the rows is brought here to choose a tree; not with `hints={"statistics": "off"}`.

    For each MATCH_RECOGNIZE: the logical plan, how each condition was split (computed by Spark, as a bit, by the
    kernel, or slow), the rules that fired, and the physical plan. Parameters are those of `sql`.

    Parameters
    ----------
    analyze : bool
        Run the statement too (its rows are thrown away), and show the real counts.
    type, time, types, compressed
        Of an event pattern, as in `sase`.

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
    spark, tables = session_of(spark, frames, args)
    session = Session(spark, dict(args or {}), tables)
    if is_sase(text) and "events" in tables:
        known = known_types(types)
        query = parse_sase_text(text, name_of(type), names_of(time), types=known, compressed=compressed)
        with errors_about(text), warm(query):
            planned = plan_on(query, tables["events"], session, Hints.of(hints), counted=analyze)
            return explain_all([planned], planned.run() if analyze else None)
    with errors_about(text):
        statement = parse_statement(text)
        if analyze and statement.has_effect:
            raise UnsupportedError(
                "explain(analyze=True) runs a query, not a statement that changes something.",
                cure="Explain its SELECT alone, or leave analyze out.",
            )
        matched, clauses = match_clauses(statement, session, Hints.of(hints), counted=analyze)
        # Spark runs commands at once, so only a query may be handed to it here.
        result = None if statement.has_effect else matched.run(statement.final)
    if not clauses:
        return "There is no MATCH_RECOGNIZE in this statement: Spark runs it as it is."
    return explain_all(clauses, result if analyze else None)
