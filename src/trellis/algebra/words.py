"""What the parts of a query are called in the language it is written in, so that errors speak that language."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OF_EVENTS", "OF_ROWS", "OF_SEQUENCES", "Words"]


@dataclass(frozen=True, slots=True)
class Words:
    """Names for errors; `before` and `after` advise what to write instead of `lag` and `lead`.

    `ordered_by` and `bounded` are cures: how to say that rows are in the order of a time, and what bounds a match.
    `star` says what to write instead of `a.*`, `segments` where functions of whole segments may stand. `navigation` are
    the functions that the language has beside those of Spark.
    """

    query: str
    keys: str
    order: str
    ordered_by: str
    bounded: str
    before: str
    star: str
    after: str = ""
    segments: str = ""
    navigation: tuple[str, ...] = ()


OF_ROWS = Words(
    query="MATCH_RECOGNIZE",
    keys="PARTITION BY",
    order="ORDER BY",
    ordered_by="Write ORDER BY {} first, ascending; other keys may follow.",
    bounded="Add WITHIN",
    before="PREV(x) reads the row before. ",
    star="`A.*` stands in COUNT(A.*) only.",
    after="NEXT(x) reads the row after. ",
    segments="Define segment variables: DEFINE SEGMENT X AS ... .",
    navigation=("PREV", "NEXT", "FIRST", "LAST", "CLASSIFIER", "MATCH_NUMBER"),
)
OF_EVENTS = Words(
    query="an event pattern",
    keys="A test like [id]",
    order="The order of events",
    ordered_by="Pass time={!r}; or a list of columns with it first.",
    bounded="Add WITHIN",
    before="b[i-1].x reads the event before. ",
    star="`a AS event` returns a whole event, and `count(b[])` counts those of a repeated component.",
)
OF_SEQUENCES = Words(
    query="a SQL-TS query",
    keys="CLUSTER BY",
    order="SEQUENCE BY",
    ordered_by="Write SEQUENCE BY {} first, ascending; other keys may follow.",
    bounded="Leave out stars, which have no bound",
    before="X.previous.price reads the row before. ",
    star="`count(*Y)` counts the rows of an element with a star.",
    after="X.next.price reads the row after. ",
    segments="SQL-TS has no segments: use MATCH_RECOGNIZE, with DEFINE SEGMENT X AS ... .",
    navigation=("FIRST", "LAST"),
)
