"""Prefilters as DataFrame operations: find the buckets that may hold matches, and keep their rows.

The rows that decide are read once more, with few columns; what is left of the input after the semi-join is the input
of the match. A semi-join keeps duplicate rows as they are. Partition keys take part as a hash: two partitions with the
same hash only keep each other's buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Buckets, Component, Form, Prefilter, Scale
from trellis.spark.projection import Session

__all__ = ["apply_prefilter", "bucket_number", "hash_of", "units_of"]

_KEY, _BUCKET, _MASK, _NUMBER = "__trellis_key", "__trellis_bucket", "__trellis_mask", "__trellis_number"
_LOW, _HIGH = "__trellis_low", "__trellis_high"
_LEAST, _MOST = "-9223372036854775808", "9223372036854775807"
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def apply_prefilter(frame: DataFrame, prefilter: Prefilter, names: Sequence[str], session: Session) -> DataFrame:
    """The rows of a DataFrame that a match may need, with these columns."""
    columns = [(name, e.Column((name,))) for name in names]
    if prefilter.form is Form.RANGES:
        return _in_ranges(frame, prefilter, session, columns)
    if prefilter.form is Form.JOINS:
        found = _joined_buckets(frame, prefilter, session)
    else:
        found = _masked_buckets(frame, prefilter, session)
    where = session.project(frame, [*columns, (_KEY, hash_of(prefilter.keys)), *_bucket(prefilter.buckets)])
    kept = where.withColumn(_KEY, _place(prefilter))
    wanted = found.select(_place(prefilter).alias(_KEY))
    return kept.join(F.broadcast(wanted) if prefilter.few else wanted, _KEY, "left_semi").select(*map(_named, names))


def hash_of(keys: tuple[Expression, ...]) -> Expression:
    """One number for the partition keys."""
    return e.Call("xxhash64", keys) if keys else e.Literal("0L")


def bucket_number(buckets: Buckets, key: str) -> str:
    """SQL for the number of the bucket that begins at the value of a column."""
    if buckets.scale is Scale.NUMBER:
        return key
    return f"{units_of(buckets.scale, key)} DIV {buckets.width}"


def units_of(scale: Scale, key: str) -> str:
    """SQL for an order key in whole units: microseconds, or itself."""
    if scale is Scale.TIMESTAMP:
        return f"unix_micros({key})"
    # Unlike a cast to TIMESTAMP, this knows no clock changes.
    return f"timestampdiff(MICROSECOND, {_EPOCH}, {key})" if scale is Scale.TIMESTAMP_NTZ else key


def _bucket(buckets: Buckets | None) -> list[tuple[str, Expression]]:
    """The bucket of a row: the time at which it begins, or for numbers its number.

    `window` is the cheapest function that cuts times, and every row pays for it.
    """
    if buckets is None:
        return []
    if buckets.scale is Scale.NUMBER:
        return [(_BUCKET, e.Raw(("(", buckets.key, f") DIV {buckets.width}")))]
    return [(_BUCKET, e.Raw(("window(", buckets.key, f", '{buckets.width} microseconds').start")))]


def _place(prefilter: Prefilter) -> Column:
    """What a row is looked up by: one column, since Spark is quickest with one number."""
    if prefilter.buckets is None:
        return F.col(_KEY)
    return F.xxhash64(_KEY, _BUCKET) if prefilter.keys else F.col(_BUCKET)


def _masked_buckets(frame: DataFrame, prefilter: Prefilter, session: Session) -> DataFrame:
    """One bit for each symbol and bucket; neighbours are brought together by giving each bucket to two pairs.

    Pair j is of the buckets j and j + 1: the matches whose first row lies in j are in it.
    """
    bits = tuple(
        e.Case(((symbol.condition, e.Literal(f"{1 << number}L")),), e.Literal("0L"))
        for number, symbol in enumerate(prefilter.symbols)
    )
    mask = bits[0] if len(bits) == 1 else e.Raw((*_between(bits, " | "),))
    rows = session.project(
        session.where(frame, _any_symbol(prefilter)),
        [(_KEY, hash_of(prefilter.keys)), *_bucket(prefilter.buckets), (_MASK, mask)],
    )
    if prefilter.buckets is None:
        masks = rows.groupBy(_KEY).agg(F.bit_or(_MASK).alias("l"))
        return masks.where(" OR ".join(f"({_all_of(component.symbols, 'l')})" for component in prefilter.components))
    number = bucket_number(prefilter.buckets, _BUCKET)
    left, right = ("l", "r") if not prefilter.buckets.descending else ("r", "l")
    pairs = rows.selectExpr(
        _KEY,
        f"inline(array(struct({number} AS j, {_MASK} AS {left}, 0L AS {right}), "
        f"struct({number} - 1 AS j, 0L AS {left}, {_MASK} AS {right})))",
    )
    masks = pairs.groupBy(_KEY, "j").agg(F.bit_or("l").alias("l"), F.bit_or("r").alias("r"))
    first = " OR ".join(f"({_complete(component)})" for component in prefilter.components)
    second = " OR ".join(f"({_complete(component, beyond=True)})" for component in prefilter.components)
    # In descending order a match begins in the greater bucket of its pair.
    here, there = ("j", "j + 1") if not prefilter.buckets.descending else ("j + 1", "j")
    found = masks.selectExpr(
        _KEY, f"explode(array(IF({first}, {here}, NULL), IF({second}, {there}, NULL))) AS {_NUMBER}"
    )
    return found.where(f"{_NUMBER} IS NOT NULL").selectExpr(_KEY, f"{_begin(prefilter.buckets, _NUMBER)} AS {_BUCKET}")


def _between(parts: tuple[Expression, ...], text: str) -> list[str | Expression]:
    joined: list[str | Expression] = []
    for part in parts:
        joined += [text if joined else "", part]
    return joined


def _any_symbol(prefilter: Prefilter) -> Expression:
    conditions = tuple(dict.fromkeys(symbol.condition for symbol in prefilter.symbols))
    return conditions[0] if len(conditions) == 1 else e.Operator("OR", conditions)


def _all_of(symbols: tuple[int, ...], column: str) -> str:
    """SQL: a mask has all these bits."""
    if not symbols:
        return "TRUE"
    bits = reduce(lambda found, number: found | 1 << number, symbols, 0)
    return f"{column} & {bits} = {bits}"


def _complete(component: Component, *, beyond: bool = False) -> str:
    """SQL: the masks of a pair, `l` then `r`, hold the symbols; with `beyond` so that the match may reach into `r`.

    The first ones in `l`, the rest in `r`, if their order is known. A match that surely begins with the first symbol
    has it in `l`; one that surely ends with the last symbol reaches into `r` only with it.
    """
    symbols = component.symbols
    if not component.ordered:
        return _all_of(symbols, "(l | r)")
    splits = range(1 if component.starts else 0, len(symbols) + (0 if beyond and component.ends else 1))
    return " OR ".join(f"({_all_of(symbols[:n], 'l')} AND {_all_of(symbols[n:], 'r')})" for n in splits) or "FALSE"


def _begin(buckets: Buckets, number: str) -> str:
    """SQL for what `_bucket` gives for the rows of a bucket, from its number."""
    match buckets.scale:
        case Scale.NUMBER:
            return number
        case Scale.TIMESTAMP:
            return f"timestamp_micros({number} * {buckets.width})"
        case Scale.TIMESTAMP_NTZ:
            return f"timestampadd(MICROSECOND, {number} * {buckets.width}, {_EPOCH})"


def _joined_buckets(frame: DataFrame, prefilter: Prefilter, session: Session) -> DataFrame:
    """The buckets of the rows that fit together; several components give several sets of them."""
    assert prefilter.buckets is not None
    found = []
    for component in prefilter.components:
        low, high = _bounds(component, "n", prefilter.buckets.descending, "{} - 1", "{} + 1")
        joined = _join(frame, prefilter, component, session)
        found.append(joined.selectExpr(_KEY, f"explode(sequence({low}, {high})) AS {_NUMBER}"))
    together = reduce(DataFrame.unionAll, found).distinct()
    return together.selectExpr(_KEY, f"{_begin(prefilter.buckets, _NUMBER)} AS {_BUCKET}")


def _join(frame: DataFrame, prefilter: Prefilter, component: Component, session: Session) -> DataFrame:
    """Rows of all symbols of a component within one window that fit together: keys, and for symbol k its row and time.

    Columns: the hash of the keys, `nk` the bucket, `uk` the exact key in units, `__sk` the row as a struct.
    """
    buckets = prefilter.buckets
    assert buckets is not None
    joined: DataFrame | None = None
    earlier = -1 if buckets.descending else 1
    for place, number in enumerate(component.symbols):
        rows = _symbol_rows(frame, prefilter, component, number, place, session)
        if joined is None:
            joined = rows.withColumn("j", F.col("n0"))
            continue
        # The other rows lie in the bucket of the first one or the next; in no known order, or in the one before.
        reach = f"array(n{place}, n{place} - {earlier})"
        if not component.ordered:
            reach = f"array(n{place}, n{place} - 1, n{place} + 1)"
        rows = rows.selectExpr("*", f"explode({reach}) AS j")
        joined = joined.join(rows, [_KEY, "j"])
        spread = f"u{place} - u0" if earlier > 0 else f"u0 - u{place}"
        if component.ordered:
            before = f"u{place - 1} <= u{place}" if earlier > 0 else f"u{place - 1} >= u{place}"
            joined = joined.where(f"{spread} <= {buckets.width} AND {before}")
        else:
            others = [f"abs(u{place} - u{other}) <= {buckets.width}" for other in range(place)]
            joined = joined.where(" AND ".join(others))
    assert joined is not None
    for condition in component.joined:
        joined = session.where(joined, condition)
    return joined


def _symbol_rows(
    frame: DataFrame, prefilter: Prefilter, component: Component, number: int, place: int, session: Session
) -> DataFrame:
    """The rows that fulfil a symbol's condition, with what conditions between rows read of them."""
    assert prefilter.buckets is not None
    struct = f"__s{place}"
    read = {
        node.path[1]
        for condition in component.joined
        for node in e.walk(condition)
        if isinstance(node, e.Column) and node.path[0] == struct
    }
    rows = session.project(
        session.where(frame, prefilter.symbols[number].condition),
        [
            (_KEY, hash_of(prefilter.keys)),
            ("t", prefilter.buckets.key),
            *_bucket(prefilter.buckets),
            *((f"__c_{name}", e.Column((name,))) for name in sorted(read)),
        ],
    )
    fields = ", ".join(f"{e.Column((f'__c_{name}',))} AS {e.Column((name,))}" for name in sorted(read))
    structs = [f"struct({fields}) AS {struct}"] if read else []
    return rows.selectExpr(
        _KEY,
        f"{bucket_number(prefilter.buckets, _BUCKET)} AS n{place}",
        f"{units_of(prefilter.buckets.scale, 't')} AS u{place}",
        *structs,
    )


def _in_ranges(
    frame: DataFrame, prefilter: Prefilter, session: Session, columns: list[tuple[str, e.Column]]
) -> DataFrame:
    """Only the rows between the times that the joins found (the paper's basic prefilter)."""
    buckets = prefilter.buckets
    assert buckets is not None
    found = []
    for component in prefilter.components:
        # Keys at the ends of int64 have no room for a window beside them.
        less = f"coalesce(try_subtract({{}}, {buckets.width}L), {_LEAST})"
        more = f"coalesce(try_add({{}}, {buckets.width}L), {_MOST})"
        low, high = _bounds(component, "u", buckets.descending, less, more)
        found.append(
            _join(frame, prefilter, component, session).selectExpr(_KEY, f"{low} AS {_LOW}", f"{high} AS {_HIGH}")
        )
    ranges = reduce(DataFrame.unionAll, found).distinct()
    # Through buckets, so that Spark can join by equality.
    ranges = ranges.selectExpr(
        "*", f"explode(sequence({_LOW} DIV {buckets.width} - 1, {_HIGH} DIV {buckets.width} + 1)) AS {_NUMBER}"
    )
    rows = session.project(frame, [*columns, (_KEY, hash_of(prefilter.keys)), ("__trellis_time", buckets.key)])
    rows = rows.withColumn("__trellis_units", F.expr(units_of(buckets.scale, "__trellis_time")))
    rows = rows.withColumn(_NUMBER, F.expr(f"__trellis_units DIV {buckets.width}"))
    place = F.xxhash64(_KEY, _NUMBER)
    left = rows.withColumn("__trellis_place", place)
    right = ranges.select(place.alias("__trellis_place"), _LOW, _HIGH)
    inside = F.col("__trellis_units").between(F.col(_LOW), F.col(_HIGH))
    kept = left.join(F.broadcast(right), (left["__trellis_place"] == right["__trellis_place"]) & inside, "left_semi")
    return kept.select(*(_named(name) for name, _ in columns))


def _bounds(component: Component, column: str, descending: bool, less: str, more: str) -> tuple[str, str]:
    """SQL for the least and the greatest key (or bucket) of a match, given those of its symbols.

    `less` and `more` go one window further, where the first or the last row of the match is not among the symbols.
    """
    last = len(component.symbols) - 1
    if component.ordered or last == 0:
        least, greatest = (f"{column}0", f"{column}{last}") if not descending else (f"{column}{last}", f"{column}0")
    else:
        many = ", ".join(f"{column}{place}" for place in range(last + 1))
        least, greatest = f"least({many})", f"greatest({many})"
    from_least, to_greatest = (component.starts, component.ends)
    if descending:
        from_least, to_greatest = to_greatest, from_least
    return (least if from_least else less.format(greatest)), (greatest if to_greatest else more.format(least))


def _named(name: str) -> Column:
    return F.col(str(e.Column((name,))))
