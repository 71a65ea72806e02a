"""A query in each language, and how each is made wrong by one keystroke."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QUERIES", "Asked"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that is right. After the first `spoilt`, a letter more makes it wrong."""

    name: str
    text: str
    spoilt: str
    mistake: str


QUERIES = (
    Asked(
        "rows: two falls and two rises",
        """\
SELECT * FROM ticks MATCH_RECOGNIZE (
    PARTITION BY sym
    ORDER BY ts
    MEASURES first(ts) AS start, last(ts) AS end, min(DOWN.price) AS low
    PATTERN (A DOWN{2,} UP{2,})
    DEFINE
        DOWN AS price < prev(price),
        UP   AS price > prev(price)
)
""",
        "prev(pric",
        "a column that there is not",
    ),
    Asked(
        "rows: a stretch above the low before",
        """\
SELECT * FROM ticks MATCH_RECOGNIZE (
    PARTITION BY sym
    ORDER BY ts
    MEASURES first(ts) AS start, last(ts) AS end
    ALL ROWS PER MATCH
    PATTERN (LOW HIGH+ LOW)
    DEFINE
        LOW  AS price < 5,
        HIGH AS price > 60 AND price > avg(LOW.price)
)
""",
        "price > avg",
        "a function that there is not",
    ),
    Asked(
        "segments: a steep rise within a short window",
        """\
SELECT * FROM ticks MATCH_RECOGNIZE (
    PARTITION BY sym
    ORDER BY ts
    MEASURES first(ts) AS start, last(ts) AS end
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN (RISE & SHORT)
    DEFINE
        SEGMENT RISE  AS last(price) - first(price) > 90 AND linear_regression_r2_signed(ts, price) > 0.9,
        SEGMENT SHORT AS window(4, 6)
)
""",
        "linear_regression_r2_signed(ts, pric",
        "a column that there is not",
    ),
    Asked(
        "events: a cheap one, a dear one, none between",
        """\
PATTERN SEQ(buy a, sell b, ~(halt h), buy c)
WHERE skip_till_next_match { [sym] and a.price < 3 and b.price > 97 and c.price < 3 }
WITHIN 40
""",
        "c.pric",
        "an attribute that there is not",
    ),
    Asked(
        "SQL-TS: falls by a half or more",
        """\
SELECT X.ts AS start, last(Y).ts AS end, count(*Y) AS falls
FROM ticks
CLUSTER BY sym
SEQUENCE BY ts AS (X, *Y)
WHERE X.price > 90 AND Y.price < 0.5 * Y.previous.price
""",
        "Y.previous.pric",
        "a column that there is not",
    ),
)
"""Queries on `ticks`, with the types of events in a column `type`."""
