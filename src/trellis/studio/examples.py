"""Queries to start from: on the tables that ship with Trellis, and a first one for any other table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trellis.studio.desk import Desk, Table

__all__ = ["EXAMPLES", "examples_for", "first_query"]

EXAMPLES: tuple[tuple[str, str, str, str], ...] = (
    (
        "weather_daily",
        "rows",
        "Sudden falls of the temperature",
        """\
SELECT * FROM weather_daily MATCH_RECOGNIZE (
    PARTITION BY city
    ORDER BY day
    MEASURES
        WARM.day                               AS start,
        last(FALL.day)                         AS end,
        round(WARM.temp - last(FALL.temp), 1)  AS fall
    PATTERN (WARM FALL{1,3})
    DEFINE
        FALL AS temp < prev(temp) - 8
)
ORDER BY fall DESC
""",
    ),
    (
        "stocks_daily",
        "rows",
        "Double bottoms of share prices",
        """\
-- falls, rises, falls again, rises again, and ends higher than it began
SELECT * FROM stocks_daily MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        first(date)      AS start,
        last(date)       AS end,
        min(DOWN1.close) AS first_low,
        min(DOWN2.close) AS second_low
    PATTERN (TOP DOWN1{3,} UP1{3,} DOWN2{3,} UP2{3,})
    DEFINE
        DOWN1 AS close < prev(close),
        UP1   AS close > prev(close),
        DOWN2 AS close < prev(close),
        UP2   AS close > prev(close)
)
""",
    ),
    (
        "taxi",
        "rows",
        "Hours in which hardly a taxi drives",
        """\
SELECT * FROM taxi MATCH_RECOGNIZE (
    ORDER BY ts
    MEASURES
        first(QUIET.ts)  AS start,
        last(QUIET.ts)   AS end,
        count(QUIET.*)   AS half_hours,
        min(QUIET.rides) AS fewest
    PATTERN (QUIET{8,})
    DEFINE QUIET AS rides < 4000
)
ORDER BY half_hours DESC
""",
    ),
    (
        "sensors",
        "rows",
        "Sensors that are stuck",
        """\
SELECT * FROM sensors MATCH_RECOGNIZE (
    PARTITION BY sensor
    ORDER BY ts
    MEASURES
        first(ts)    AS start,
        last(ts)     AS end,
        count(*)     AS readings,
        first(value) AS value
    PATTERN (A SAME{11,})
    DEFINE SAME AS value = prev(value)
)
""",
    ),
    (
        "weather_daily",
        "segments",
        "A steep fall inside a month that gets warmer",
        """\
-- a fall with days around it, and all of that is a month
SELECT * FROM weather_daily MATCH_RECOGNIZE (
    PARTITION BY city
    ORDER BY day
    MEASURES first(FALL.day) AS falls, last(FALL.day) AS until
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN ((AROUND FALL AROUND) & MONTH)
    DEFINE
        SEGMENT AROUND AS true,
        SEGMENT FALL   AS window(1, 5)
            AND last(temp) - first(temp) < -20
            AND linear_regression_r2_signed(day, temp) <= -0.9,
        SEGMENT MONTH  AS window(25, 30)
            AND mann_kendall_test(temp) >= 3.0
)
""",
    ),
    (
        "visits",
        "events",
        "Put into the cart, and never paid",
        """\
PATTERN SEQ(view v, cart c, ~(pay p))
WHERE skip_till_next_match { [session] and v.product = c.product }
WITHIN 1 hour
""",
    ),
    (
        "visits",
        "rows",
        "From the first view to the payment",
        """\
SELECT * FROM visits MATCH_RECOGNIZE (
    PARTITION BY session
    ORDER BY step
    MEASURES
        VIEW.product AS product,
        PAY.ts       AS paid,
        count(*)     AS steps
    PATTERN (VIEW OTHER*? CART OTHER*? PAY)
    DEFINE
        VIEW AS event = 'view',
        CART AS event = 'cart' AND product = VIEW.product,
        PAY  AS event = 'pay'
)
""",
    ),
    (
        "stocks_daily",
        "sequences",
        "Prices that fall by two percent a day, or more",
        """\
SELECT X.date AS start, last(Y).date AS end, count(*Y) AS falls
FROM stocks_daily
CLUSTER BY ticker
SEQUENCE BY date AS (X, *Y)
WHERE Y.close < 0.98 * Y.previous.close
""",
    ),
)
"""The table that each needs, its language, what it finds, and its text."""


_NUMBERS = ("double", "float", "decimal", "int", "bigint", "smallint")
_WHOLE = ("int", "bigint", "smallint")
_KEYS = (
    *("symbol", "ticker", "stock", "sym", "sensor", "device", "machine", "city", "station", "county", "series", "job"),
    *("user", "customer", "account", "session", "case", "user_id", "customer_id", "sensor_id", "device_id"),
)
_VALUES = ("price", "close", "value", "temp", "temperature", "amount")


def examples_for(desk: Desk) -> list[dict[str, str]]:
    """The examples that can be run, and first a query for each table that the user named."""
    own = [table for table in desk.tables.values() if not table.shipped]
    found: list[dict[str, Any]] = []
    for table in own:
        text = first_query(table)
        if text is not None:
            found.append(
                {"title": f"A first query for {table.name}", "text": text, "language": "rows", "table": table.name}
            )
    for name, language, title, text in EXAMPLES:
        if name in desk.tables and desk.tables[name].shipped:
            found.append({"title": title, "text": text, "language": language, "table": name})
    return found


def first_query(table: Table) -> str | None:
    """Where a number falls and rises again, in the columns of a table; None if it has no order or no number."""
    columns = table.columns
    order = _first(columns, "timestamp", "date") or _named(columns, "time", "ts", "day", "step", "seq", "id")
    numbers = [name for name, kind in columns if kind.startswith(_NUMBERS) and name != order]
    if order is None or not numbers:
        return None
    texts = [(name, kind) for name, kind in columns if kind == "string"]
    key = _named(columns, *_KEYS) or _first(texts, "string")
    # What is measured is more often a fraction than a count, and never the number of a thing.
    numbers = [name for name in numbers if name != key]
    kinds = dict(columns)
    numbers.sort(key=lambda name: (name.lower() in _KEYS or name.lower().endswith("id"), kinds[name] in _WHOLE))
    if not numbers:
        return None
    value = _named([(name, "") for name in numbers], *_VALUES) or numbers[0]
    partition = f"    PARTITION BY {quoted(key)}\n" if key and key != order else ""
    at, value = quoted(order), quoted(value)
    return f"""\
SELECT * FROM {quoted(table.name)} MATCH_RECOGNIZE (
{partition}    ORDER BY {at}
    MEASURES
        first({at}) AS start,
        last({at}) AS end,
        min(DOWN.{value}) AS low
    PATTERN (A DOWN{{2,}} UP{{2,}})
    DEFINE
        DOWN AS {value} < prev({value}),
        UP   AS {value} > prev({value})
)
"""


def quoted(name: str) -> str:
    """A name as it can stand in SQL."""
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"


def _first(columns: Sequence[tuple[str, str]], *kinds: str) -> str | None:
    return next((name for kind in kinds for name, one in columns if one.startswith(kind)), None)


def _named(columns: Sequence[tuple[str, str]], *names: str) -> str | None:
    there = [name for name, _ in columns]
    return next((name for name in names if name in there), None)
