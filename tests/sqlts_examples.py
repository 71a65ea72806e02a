"""The example queries of the SQL-TS paper, as they run here: what is wrong in print is put right, and said so.

`{quote}` has the columns name, date and price, `{djia}` date and price, `{sessions}` SessNo, ClickTime, PageNo and
PageType.
"""

from __future__ import annotations

_FALL = "{0}.price < 0.98 * {0}.previous.price"
_FLAT = "0.98 * {0}.previous.price < {0}.price AND {0}.price < 1.02 * {0}.previous.price"
_RISE = "{0}.price > 1.02 * {0}.previous.price"


def double_bottom(first: str) -> str:
    """Example 6.1; `first` is its first element, printed without a star."""
    conditions = [
        "X.price >= 0.98 * X.previous.price",
        _FALL.format("Y"),
        _FLAT.format("Z"),
        _RISE.format("T"),
        _FLAT.format("U"),
        _FALL.format("V"),
        _FLAT.format("W"),
        _RISE.format("R"),
        "S.price <= 1.02 * S.previous.price",
    ]
    return (
        "SELECT X.NEXT.date, X.NEXT.price, S.previous.date, S.previous.price"
        f" FROM {{djia}} SEQUENCE BY date AS ({first}, *Y, *Z, *T, *U, *V, *W, *R, S) WHERE {' AND '.join(conditions)}"
    )


EXAMPLES = {
    "2.1": """
        SELECT X.name FROM {quote} CLUSTER BY name SEQUENCE BY date AS (X, Y, Z)
        WHERE Y.price > 1.15 * X.price AND Z.price < 0.80 * Y.price""",
    "2.2": """
        SELECT Y.PageNo, Z.ClickTime FROM {sessions} CLUSTER BY SessNo SEQUENCE BY ClickTime AS (X, Y, Z)
        WHERE X.PageType = 'a' AND Y.PageType = 'd' AND Z.PageType = 'p'""",
    "2.4": """
        SELECT X.name, X.date AS start_date, Z.previous.date AS end_date
        FROM {quote} CLUSTER BY name SEQUENCE BY date AS (X, *Y, Z)
        WHERE Y.price < Y.previous.price AND Z.previous.price < 0.5 * X.price""",
    "2.5": """
        SELECT SessNo, count(*A) FROM {sessions} CLUSTER BY SessNo SEQUENCE BY ClickTime AS (*A, B)
        WHERE A.PageType <> 'd' AND B.PageType = 'd' AND count(*A) < 20""",
    # The lower bound of 40 is in the words of the example, not in its query.
    "3.2": """
        SELECT X.date AS start_date, X.price, U.date AS end_date, U.price
        FROM {quote} CLUSTER BY name SEQUENCE BY date AS (X, Y, Z, T, U)
        WHERE X.name = 'IBM' AND Y.price < X.price AND Z.price < Y.price AND 40 < Z.price AND Z.price < 50
          AND Z.price < T.price AND T.price < 52 AND T.price < U.price""",
    "5.1": """
        SELECT X.name, FIRST(X).date AS sdate, LAST(Z).date AS edate
        FROM {quote} CLUSTER BY name SEQUENCE BY date AS (*X, *Y, *Z)
        WHERE X.price > X.previous.price AND Y.price < Y.previous.price AND Z.price > Z.previous.price""",
    # Without the comma after CLUSTER BY name.
    "5.3": """
        SELECT X.NEXT.date, X.NEXT.price, S.previous.date, S.previous.price
        FROM {quote} CLUSTER BY name SEQUENCE BY date AS (*X, Y, *Z, *T, U, *V, S)
        WHERE X.name = 'IBM' AND X.price > X.previous.price AND 30 < Y.price AND Y.price < 40
          AND Z.price < Z.previous.price AND T.price > T.previous.price AND 35 < U.price AND U.price < 40
          AND V.price < V.previous.price AND S.price < 30""",
    "6.1": double_bottom("X"),
    # The last element is U; S is printed, which there is not.
    "7.1": """
        SELECT X.NEXT.date, X.NEXT.price, U.previous.date, U.previous.price
        FROM {djia} SEQUENCE BY date AS (X, *Y, Z, *T, U)
        WHERE X.price > 0.98 * X.previous.price AND Y.price < 0.98 * Y.previous.price
          AND (0.98 * Z.previous.price < Z.price OR Z.price > 50) AND T.price > 1.02 * T.previous.price
          AND (0.98 * U.previous.price < U.price OR U.price > 50)""",
    "7.2": """
        SELECT X.date, T.date FROM {quote} SEQUENCE BY date AS (X, Y, Z, T)
        WHERE X.name = 'IBM' AND (
            (X.previous.price < X.price AND X.price < Y.price AND Y.price < Z.price AND Z.price < T.price)
            OR (X.price > 55 AND X.price < 57 AND Y.price > 55 AND Y.price < 57
                AND Z.price > 55 AND Z.price < 57 AND T.price > 55 AND T.price < 57))""",
}
"""Those that need nothing but their rows; 2.3 joins, and 2.6 computes with times."""
