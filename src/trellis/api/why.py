"""Why nothing matched."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pyspark.sql import SparkSession

from trellis.api.event_types import known_types
from trellis.api.session import Args, session_of
from trellis.errors import BindingError
from trellis.languages.sase import is_sase, parse_sase_text
from trellis.languages.statement import parse_statement
from trellis.planned import errors_about, warm
from trellis.planning.hints import Hints
from trellis.reasons.ask import why_on
from trellis.reasons.report import Why
from trellis.spark.inputs import Rows
from trellis.spark.keys import Key, Names, name_of, names_of
from trellis.spark.session import Session
from trellis.statements import match_clauses

__all__ = ["why"]


def why(
    text: str,
    /,
    *,
    spark: SparkSession | None = None,
    args: Args | None = None,
    hints: Args | None = None,
    sample: int | None = None,
    nearest: int = 3,
    type: Key = "type",
    time: Names = "time",
    types: Collection[str] | None = None,
    compressed: bool = False,
    **frames: Rows,
) -> Why:
    """Say why a query finds nothing, or what fails beside what it finds.

    Runs at once, over all rows: no row is dropped before the search, and every row is tried as the start of a match,
    also those inside of matches. Of several MATCH_RECOGNIZE in a statement it speaks of the first that finds nothing,
    else of the last.

    Parameters
    ----------
    text : str
        The statement, as for `sql` and `sqlts`, or an event pattern on `events`, as for `sase`.
    spark, args, hints, **frames
        As for `sql`.
    sample : int, optional
        Look at so many rows at most: whole partitions, or the first rows of one that is larger. Counts are of them.
    nearest : int
        How many of the nearest misses to tell.
    type, time, types, compressed
        Of an event pattern, as for `sase`.

    Returns
    -------
    Why
        The report: `print` shows it, notebooks draw it, and its counts are attributes. See `trellis.reasons.report`.

    Examples
    --------
    >>> import trellis as tr
    >>> clicks = spark.createDataFrame([(1, "cart"), (2, "look"), (3, "purchase")], "at int, type string")
    >>> report = tr.why('''
    ...     SELECT * FROM {clicks} MATCH_RECOGNIZE (
    ...         ORDER BY at PATTERN (C Z* P) DEFINE C AS type = 'cart', P AS type = 'Purchase'
    ...     )''', clicks=clicks)
    >>> report.matches, [(variable.name, variable.rows) for variable in report.variables]
    (0, [('C', 1), ('Z', 3), ('P', 0)])
    """
    spark, tables = session_of(spark, frames, args)
    session = Session(spark, dict(args or {}), tables)
    asked = replace(Hints.of(hints), statistics="off")
    if is_sase(text) and "events" in tables:
        known = known_types(types)
        query = parse_sase_text(text, name_of(type), names_of(time), types=known, compressed=compressed)
        with errors_about(text), warm(query):
            return why_on(query, tables["events"], session, asked, sample=sample, nearest=nearest)
    with errors_about(text):
        statement = parse_statement(text)
        _, planned = match_clauses(statement, session, asked)
        found: Why | None = None
        for clause, one in zip(statement.clauses, planned, strict=True):
            found = why_on(
                one.query,
                one.frame,
                one.session,
                asked,
                qualifier=clause.qualifier,
                sample=sample,
                nearest=nearest,
            )
            if found.matches == 0:
                break
        if found is None:
            raise BindingError(
                "There is no MATCH_RECOGNIZE in this statement, so nothing is matched.",
                cure="Pass the statement whose result you miss, or an event pattern with events=df.",
            )
        return found
