"""Prefilters as DataFrame operations: find the buckets that may hold matches, and keep their rows.

The rows that decide are read once more, with few columns; what is left of the input after the semi-join is the input
of the match. A semi-join keeps duplicate rows as they are.

A bucket of a partition is one number, its *place*: the bucket's number, moved by a hash of the partition keys, so that
the next bucket has the next place. Where places of two partitions meet, each only keeps some buckets of the other's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Buckets, Component, Form, Prefilter, Scale
from trellis.spark.session import Session

__all__ = ["apply_prefilter", "hash_of", "units_of"]

_PLACE, _MASK = "__trellis_place", "__trellis_mask"
_LOW, _HIGH = "__trellis_low", "__trellis_high"
_LEAST, _MOST = "-9223372036854775808", "9223372036854775807"
_SECOND = 1_000_000


def apply_prefilter(frame: DataFrame, prefilter: Prefilter, names: Sequence[str], session: Session) -> DataFrame:
    """The rows of a DataFrame that a match may need, with these columns."""
    columns = [(name, e.Column((name,))) for name in names]
    if prefilter.form is Form.RANGES:
        return _in_ranges(frame, prefilter, session, columns)
    found = (_joined_places if prefilter.form is Form.JOINS else _masked_places)(frame, prefilter, session)
    rows = session.project(frame, [*columns, (_PLACE, _place(prefilter))])
    wanted = F.broadcast(found) if prefilter.few else found
    return rows.join(wanted, _PLACE, "left_semi").select(*map(_named, names))


def hash_of(keys: tuple[Expression, ...]) -> Expression:
    """One number for the partition keys."""
    return e.Call("xxhash64", keys) if keys else e.Literal("0L")


def units_of(scale: Scale, key: str) -> str:
    """SQL for an order key in whole units: microseconds, or itself."""
    match scale:
        case Scale.NUMBER:
            return key
        case Scale.TIMESTAMP:
            return f"unix_micros({key})"
        case Scale.TIMESTAMP_NTZ:
            # Other functions of such times go through the session's time zone, and lose the hour that clocks skip. This
            # one counts whole seconds, towards zero.
            rest = f"CAST(extract(SECOND FROM {key}) % 1 * {_SECOND} AS BIGINT)"
            before = f"IF({key} < TIMESTAMP_NTZ '1970-01-01 00:00:00' AND {rest} > 0, {_SECOND}L, 0L)"
            return f"(unix_timestamp({key}) * {_SECOND}L + {rest} - {before})"


def _place(prefilter: Prefilter) -> Expression:
    """The place of a row: of its bucket, or without buckets of its partition.

    Buckets are two units wide at least and the hash is cut, so that sums stay far from the ends of int64. As DIV goes
    towards zero, the bucket around zero is twice as wide, which does no harm.
    """
    if prefilter.buckets is None:
        return hash_of(prefilter.keys)
    bucket = _bucket(prefilter.buckets)
    return e.Raw(("shiftright(", hash_of(prefilter.keys), ", 2) + ", bucket)) if prefilter.keys else bucket


def _bucket(buckets: Buckets) -> Expression:
    """The number of the bucket of a row; every row pays for it."""
    if buckets.scale is Scale.TIMESTAMP_NTZ and buckets.width % _SECOND == 0:
        return e.Raw(("unix_timestamp(", buckets.key, f") DIV {buckets.width // _SECOND}L"))
    texts = units_of(buckets.scale, "\0").split("\0")
    parts: list[str | Expression] = [f"({texts[0]}"]
    for text in texts[1:]:
        parts += [buckets.key, text]
    return e.Raw((*parts, f") DIV {buckets.width}L"))


def _masked_places(frame: DataFrame, prefilter: Prefilter, session: Session) -> DataFrame:
    """One bit for each symbol and bucket; neighbours are brought together by giving each bucket to two pairs.

    Pair j is of the buckets j and j + 1: the matches whose first row lies in j are in it.
    """
    bits = tuple(
        e.Case(((symbol.condition, e.Literal(f"{1 << number}L")),), e.Literal("0L"))
        for number, symbol in enumerate(prefilter.symbols)
    )
    mask = bits[0] if len(bits) == 1 else e.Raw((*_between(bits, " | "),))
    rows = session.project(session.where(frame, _any_symbol(prefilter)), [(_PLACE, _place(prefilter)), (_MASK, mask)])
    if prefilter.buckets is None:
        masks = rows.groupBy(_PLACE).agg(F.bit_or(_MASK).alias("l"))
        complete = " OR ".join(f"({_all_of(component.symbols, 'l')})" for component in prefilter.components)
        return masks.where(complete).select(_PLACE)
    left, right = ("l", "r") if not prefilter.buckets.descending else ("r", "l")
    pairs = rows.selectExpr(
        f"inline(array(struct({_PLACE} AS j, {_MASK} AS {left}, 0L AS {right}), "
        f"struct({_PLACE} - 1 AS j, 0L AS {left}, {_MASK} AS {right})))"
    )
    if prefilter.keys:
        # A bucket of one of many partitions has hardly two rows: adding up before the exchange would be in vain.
        pairs = pairs.repartition("j")
    masks = pairs.groupBy("j").agg(F.bit_or("l").alias("l"), F.bit_or("r").alias("r"))
    first = " OR ".join(f"({_complete(component)})" for component in prefilter.components)
    second = " OR ".join(f"({_complete(component, beyond=True)})" for component in prefilter.components)
    # In descending order a match begins in the greater bucket of its pair.
    here, there = ("j", "j + 1") if not prefilter.buckets.descending else ("j + 1", "j")
    found = masks.selectExpr(f"explode(array(IF({first}, {here}, NULL), IF({second}, {there}, NULL))) AS {_PLACE}")
    return found.where(f"{_PLACE} IS NOT NULL")


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


def _joined_places(frame: DataFrame, prefilter: Prefilter, session: Session) -> DataFrame:
    """The places of the rows that fit together; several components give several sets of them."""
    assert prefilter.buckets is not None
    found = []
    for component in prefilter.components:
        low, high = _bounds(component, "n", prefilter.buckets.descending, "{} - 1", "{} + 1")
        joined = _join(frame, prefilter, component, session)
        found.append(joined.selectExpr(f"explode(sequence({low}, {high})) AS {_PLACE}"))
    return reduce(DataFrame.unionAll, found).distinct()


def _join(frame: DataFrame, prefilter: Prefilter, component: Component, session: Session) -> DataFrame:
    """Rows of all symbols of a component within one window that fit together.

    Columns for symbol k: `nk` its place, `uk` the exact key in units, `__sk` the row as a struct.
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
        joined = joined.join(rows, "j")
        # What does not fit into int64 is wider than any window.
        if component.ordered:
            spread = f"try_subtract(u{place}, u0)" if earlier > 0 else f"try_subtract(u0, u{place})"
            before = f"u{place - 1} <= u{place}" if earlier > 0 else f"u{place - 1} >= u{place}"
            joined = joined.where(f"{spread} <= {buckets.width} AND {before}")
        else:
            spreads = [f"try_subtract(u{place}, u{other})" for other in range(place)]
            near = [f"{spread} BETWEEN -{buckets.width} AND {buckets.width}" for spread in spreads]
            joined = joined.where(" AND ".join(near))
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
            (f"n{place}", _place(prefilter)),
            ("t", prefilter.buckets.key),
            *((f"__c_{name}", e.Column((name,))) for name in sorted(read)),
        ],
    )
    fields = ", ".join(f"{e.Column((f'__c_{name}',))} AS {e.Column((name,))}" for name in sorted(read))
    structs = [f"struct({fields}) AS {struct}"] if read else []
    return rows.selectExpr(f"n{place}", f"{units_of(prefilter.buckets.scale, 't')} AS u{place}", *structs)


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
        # Through places, so that Spark can join by equality.
        from_low, to_high = _bounds(component, "n", buckets.descending, "{} - 1", "{} + 1")
        found.append(
            _join(frame, prefilter, component, session).selectExpr(
                f"{low} AS {_LOW}", f"{high} AS {_HIGH}", f"explode(sequence({from_low}, {to_high})) AS {_PLACE}"
            )
        )
    right = reduce(DataFrame.unionAll, found).distinct()
    rows = session.project(frame, [*columns, (_PLACE, _place(prefilter)), ("__trellis_time", buckets.key)])
    left = rows.withColumn("__trellis_units", F.expr(units_of(buckets.scale, "__trellis_time")))
    inside = F.col("__trellis_units").between(F.col(_LOW), F.col(_HIGH))
    kept = left.join(F.broadcast(right), (left[_PLACE] == right[_PLACE]) & inside, "left_semi")
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
