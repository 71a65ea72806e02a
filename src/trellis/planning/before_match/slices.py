"""Long series are cut into slices, so that all cores search them.

A slice is a stretch of the order key, with a halo of one window behind it, of time or of rows: a match that starts in
the slice ends before the halo does. Every slice finds its matches alone. Where AFTER MATCH SKIP looks further than to
the next row, a slice does not know at which of its first rows the search through the slice before leaves off, so it
searches from each of them (searches that meet go on together), and a last pass over starts and ends alone decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from trellis.algebra import expression as e
from trellis.algebra.bound import BoundQuery
from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Buckets, Slices
from trellis.algebra.query import RowsPerMatch, SkipTo, SortKey
from trellis.algebra.scan import Number, Output, SliceSpec
from trellis.algebra.statistics import RowStatistics
from trellis.analysis.condition_kinds import is_contained
from trellis.analysis.paths import is_anchored, least_rows, most_rows
from trellis.planning.before_match.bucket_keys import bucket_key
from trellis.planning.expressions.columns import Columns
from trellis.planning.expressions.hoist_slots import may_fail
from trellis.planning.expressions.slots import plain

__all__ = ["Cut", "cut_of", "cut_slices", "least_buckets", "slice_columns", "slice_tasks", "sliced_by"]

# Fewer rows than this are searched faster than they are cut.
_FEW_ROWS = 400_000
# Slices for each core, so that cores that finish early get more.
_FOR_EACH_CORE = 16
# A slice holds so many windows at least: its halo is read twice.
_LEAST_WINDOWS = 8
# A partition is far larger than others if it has so large a part of what a core would have of all rows.
_HEAVY = 0.5
_WIDEST = 1 << 62
# Longer matches than this leave a halo that is hardly shorter than a slice.
_MOST_ROWS = 10_000
# Of so many pieces a slice is put together where rows are counted, so that slices have about the same size.
_PIECES = 64


@dataclass(frozen=True, slots=True)
class Cut:
    """How series may be cut: `buckets` are those of one window; if matches are bounded in `rows`, of the least width.

    `resolve`: matches of two slices can be in conflict.
    """

    keys: tuple[Expression, ...]
    buckets: Buckets
    resolve: bool
    rows: int | None = None
    nulls_first: bool = True


def cut_of(bound: BoundQuery, keys: tuple[Expression, ...], buckets: Buckets | None, columns: Columns) -> Cut | str:
    """How the series of a row pattern query may be cut, or the reason why they must stay whole."""
    query = bound.query
    rows = None
    if buckets is None:
        # WITHIN may be there, but of no fixed length: months.
        rows = most_rows(query.pattern)
        buckets = least_buckets(bound.order_by, query.order_by, columns)
        if buckets is None or rows is None or rows > _MOST_ROWS:
            return "there is no window by which series could be cut"
    if query.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        return "unmatched rows are known only when all matches are"
    if query.timeouts:
        return "which matches that timed out are given out depends on those before"
    if is_anchored(query.pattern):
        return "an anchor asks for the first or the last row of all"
    if least_rows(query.pattern) == 0:
        return "the pattern can be empty"
    if not is_contained(bound):
        return "PREV or NEXT may look outside the match"
    conditions = [condition for _, condition in bound.conditions]
    nodes = [node for condition in conditions for node in e.walk(condition)]
    if any(isinstance(node, e.MatchNumber) for node in nodes):
        return "a condition reads MATCH_NUMBER()"
    resolve = query.after_match.to is not SkipTo.NEXT_ROW
    measured = [node for _, measure in bound.measures for node in e.walk(measure)]
    if resolve and any(_may_overflow(node, columns) for node in measured):
        return "a sum may overflow in a match that AFTER MATCH SKIP leaves out"
    if resolve and any(_may_fail_in_search(node, columns) for node in nodes):
        # A slice searches from rows that the real search may skip, and must not fail there.
        return "a condition may divide by zero or overflow at a row that AFTER MATCH SKIP leaves out"
    nulls_first = not query.order_by or query.order_by[0].nulls_first
    return Cut(keys, buckets, resolve, rows, nulls_first)


def _may_overflow(node: Expression, columns: Columns) -> bool:
    """Whether a node adds up exact numbers of many rows."""
    if not isinstance(node, e.BoundAggregate) or node.function not in ("sum", "avg", "mean"):
        return False
    types = [columns.type_of(plain(part)) for part in node.arguments]
    return not all(type_ is not None and type_.is_float for type_ in types)


def _may_fail_in_search(node: Expression, columns: Columns) -> bool:
    """Whether the kernel may fail to compute a node: a quotient, a sum or product of whole numbers of several rows.

    What is computed of one row alone is computed by Spark, for all rows, whatever the search does.
    """
    if may_fail(node) or _may_overflow(node, columns):
        return True
    if not isinstance(node, e.Operator) or node.symbol not in ("+", "-", "*"):
        return False
    values = [part for part in e.walk(node) if isinstance(part, e.At)]
    types = [columns.type_of(plain(part.value)) for part in values]
    return len({part.place for part in values}) > 1 and not all(type_ is not None and type_.is_float for type_ in types)


def least_buckets(
    order_by: tuple[tuple[str, Expression], ...], sort: tuple[SortKey, ...], columns: Columns
) -> Buckets | None:
    """The order key in the smallest pieces; None if it is no time and no exact number."""
    if not order_by:
        return None
    key = bucket_key(order_by[0][1], columns)
    return None if key is None else Buckets(key[0], key[1], 2, sort[0].descending)


def cut_slices(cut: Cut, windows: int | None, statistics: RowStatistics | None, rows: float) -> Slices | None:
    """Slices for so many rows, each so many windows wide; None if all series are short enough."""
    buckets = cut.buckets
    size = 0
    if windows is not None:
        width = buckets.width * (windows if cut.rows is None else 1)
        size = windows * (cut.rows or 0)
    elif statistics is None or statistics.span is None or rows < _FEW_ROWS or statistics.cores < 2:
        return None
    else:
        if cut.keys and not any(_is_heavy(share, rows, statistics.cores) for _, share in statistics.heavy):
            return None
        pieces = statistics.cores * _FOR_EACH_CORE
        size = max(int(rows / pieces), _LEAST_WINDOWS * (cut.rows or 0))
        width = int(statistics.span / (pieces * (1 if cut.rows is None else _PIECES))) + 1
        width = max(width, buckets.width * (_LEAST_WINDOWS if cut.rows is None else 1))
        if width >= statistics.span or (cut.rows is not None and size >= rows):
            return None
    if width > _WIDEST:
        return None
    window = buckets.width if cut.rows is None else size
    return Slices(
        buckets.key,
        buckets.scale,
        width,
        window,
        buckets.descending,
        cut.resolve,
        cut.rows,
        cut.nulls_first,
    )


def slice_columns(
    slices: Slices | None, outputs: tuple[tuple[str, Output], ...], columns: Columns
) -> tuple[Slices | None, SliceSpec | None]:
    """The columns by which the matcher knows slices; numbers of matches need the last pass, too."""
    if slices is None:
        return None, None
    numbered = any(isinstance(output, Number) for _, output in outputs)
    slices = replace(slices, resolve=slices.resolve or numbered)
    if slices.rows is not None:
        return slices, SliceSpec("__slice", slices.resolve, "__part", "__base", columns.project(slices.key))
    key = columns.ship(slices.key)
    return slices, SliceSpec(
        "__slice",
        slices.resolve,
        key=key,
        width=slices.width,
        window=slices.window,
        descending=slices.descending,
    )


def sliced_by(spec: SliceSpec | None) -> tuple[str, ...]:
    """The columns of slices that the matcher reads."""
    return () if spec is None else tuple(name for name in (spec.number, spec.part, spec.base) if name)


def _is_heavy(share: float, rows: float, cores: int) -> bool:
    return share * cores > _HEAVY and share * rows > _FEW_ROWS


def slice_tasks(can_be_cut: bool, partitions: float, statistics: RowStatistics, rows: float) -> float:
    """How many tasks search at once."""
    return float(statistics.cores) if can_be_cut and rows >= _FEW_ROWS else partitions
