"""What may be taken away before the match: buckets without matches, rows that nobody sees, long series in slices.

Plain values; `planning` chooses them, `spark` carries them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from trellis.algebra.expression import Expression

__all__ = ["BeforeMatch", "Buckets", "Candidate", "Component", "Form", "Prefilter", "Scale", "Slices", "Symbol"]


class Scale(Enum):
    """How an order key is measured: a whole number as it is, a decimal by its digits, a time in microseconds."""

    NUMBER = "number"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"


class Form(Enum):
    """How a prefilter finds out which buckets may hold matches."""

    MASKS = "masks"
    """One pass: each bucket has a bit for each symbol; no rows are joined. Knows conditions of single rows only."""
    JOINS = "joins"
    """Rows of the symbols are joined within neighbouring buckets, with the conditions between them."""
    RANGES = "ranges"
    """As JOINS, but only rows between the times found are kept, not whole buckets."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """The order key, cut into pieces of `width` (microseconds, or the unit of the key).

    No match is longer than a bucket, so that it lies in one bucket or in two neighbouring ones.
    """

    key: Expression
    scale: Scale
    width: int
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, and the condition on a single row that all its rows fulfil."""

    variable: str
    condition: Expression


@dataclass(frozen=True, slots=True)
class Component:
    """Symbols (by number) that every match of one path contains, in this order if `ordered`.

    `starts`: the first of them is the first row of the match; `ends`: the last is its last row. `joined` are the
    conditions between them; in these, column `x` of the symbol at position `k` is `__sk.x`.
    """

    symbols: tuple[int, ...]
    ordered: bool = True
    starts: bool = False
    ends: bool = False
    joined: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Rows in buckets where no component is complete are dropped before the exchange.

    Without `buckets` each partition is one: partitions without the symbols are dropped. `few`: the buckets found are so
    few that every worker can have them all.
    """

    form: Form
    keys: tuple[Expression, ...]
    buckets: Buckets | None
    symbols: tuple[Symbol, ...]
    components: tuple[Component, ...]
    few: bool = True

    def __str__(self) -> str:
        sets = (
            "(" + ", ".join(self.symbols[number].variable for number in component.symbols) + ")"
            for component in self.components
        )
        return f"{self.form.value} of {' or '.join(dict.fromkeys(sets))}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prefilter (None: without one) that was considered: rows it would leave, nanoseconds for the whole query.

    With `at_least` these are bounds that were too high for a closer look.
    """

    prefilter: Prefilter | None
    rows: float
    cost: float
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Slices:
    """A long series is cut by its order key, and searched in pieces.

    A slice holds `width` units of the key (as in `Buckets`) and, as its halo, one `window` of the next slices. Only
    matches that start in the slice itself are kept. With `resolve`, matches of neighbouring slices may be in each
    other's way, and a last pass decides.

    Where a match is bounded in rows, not in time, `rows` is how many it may have: then `width` is that of pieces that
    are counted first, `window` how many rows a slice has at least, and the halo so many pieces that `rows` are in it.
    """

    key: Expression
    scale: Scale
    width: int
    window: int
    descending: bool
    resolve: bool
    rows: int | None = None
    nulls_first: bool = True

    def __str__(self) -> str:
        last = ", and a last pass between slices" if self.resolve else ""
        if self.rows is not None:
            return f"series are cut into slices of {self.window:,} rows, with {self.rows - 1:,} rows behind each{last}"
        return f"series are cut into slices of {self.width / self.window:,.1f} windows{last}"


@dataclass(frozen=True, slots=True)
class BeforeMatch:
    """What happens to the rows before the exchange.

    `prefilter` drops buckets without matches: one of those that were `considered`, or for a `reason`, for which there
    may also be none. `keep` is the condition of rows that somebody sees, `slices` cut long series.
    """

    prefilter: Prefilter | None = None
    considered: tuple[Candidate, ...] = ()
    reason: str = ""
    keep: Expression | None = None
    slices: Slices | None = None

    @property
    def drops(self) -> bool:
        """Whether rows may be missing after it."""
        return self.prefilter is not None or self.keep is not None
