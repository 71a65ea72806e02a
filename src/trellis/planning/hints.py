"""What a user may force, for experiments, tests and support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from math import isfinite
from pathlib import Path
from typing import TypeGuard

from trellis.algebra.segments import Choices
from trellis.algebra.statistics import RowStatistics
from trellis.errors import BindingError
from trellis.planning.rules import RULES
from trellis.planning.segments.costs import read_costs

__all__ = ["Hints"]

_PREFILTERS = ("auto", "always", "masks", "joins", "ranges")
_SEARCHES = ("auto", "apart", "backtrack")
_PLANS = ("trees", "orders")
_LATE = ("drop", "error", "column")
_CHOICES = {
    "order": ("left", "right"),
    "join": ("merge", "probe"),
    "negation": ("materialize", "probe"),
    "generator": ("index", "filter"),
    "sets": ("bands", "pairs"),
}


@dataclass(frozen=True, slots=True)
class Hints:
    """Options of planning and running.

    Attributes
    ----------
    off : tuple of str
        Rules that must not fire, by their names: those of `trellis.planning.rules.RULES`.
    search : str
        `"auto"`, or `"backtrack"` to search without the table of ends; of events, one run after the other. Of events
        also `"apart"`: runs that no condition can tell apart are not merged.
    step_budget : int
        How many steps the search in one series (for segments: how many segments in one chunk) may take before it is
        given up with an error.
    chunk_rows : int
        How many rows a worker gathers before it searches them; whole series are never cut.
    choices : Choices
        Of segment queries: `order` (`"left"`, `"right"`), `join` (`"merge"`, `"probe"`), `negation` (`"materialize"`,
        `"probe"`), `generator` (`"index"`, `"filter"`) and `sets` (`"bands"`, `"pairs"`), each a hint of its own.
    costs : str, optional
        Of segment queries: the constants of the cost model. As a hint, the path of a file that
        `benchmarks/calibration` wrote.
    rewrite : str
        `"auto"` rewrites row patterns into segments where they call functions of segments, `"always"` wherever that
        is possible.
    prefilter : str
        `"auto"` drops rows before the match where an estimate says that it pays, `"always"` wherever it is possible;
        `"masks"`, `"joins"` and `"ranges"` do so in one of the three ways.
    symbols : tuple of tuple of str
        The variables that a prefilter looks at, for each path through the pattern, or one tuple for all.
    slices : int, optional
        Into how many slices a long series is cut; by default an estimate says.
    statistics : str or RowStatistics
        `"auto"` reads a few rows and one column of a large input before planning, `"off"` never does. As a hint, a
        mapping with what is known: `rows`, and if there are any `partitions`, `span` of the order key, and the
        `shares` of the rows that variables have.
    plans : str
        Of workloads: `"trees"`, or `"orders"` for plans that add one event at a time and share what they begin with.
    neighbours : int
        Of workloads: how many patterns a step of the search for a plan changes at once, from 2 on.
    adapt : bool
        Of workloads: whether workers plan anew when events come more or less often than they did.
    late : str
        Of streams: what becomes of rows that come behind the watermark. `"drop"` counts them, `"error"` ends the query,
        `"column"` gives them out in a column `late` beside the matches.
    allow_unbounded : bool
        Of streams: whether rows may be kept that no window lets go.
    buckets : int
        Of streams: over how many buckets keys are spread. Python is called for each of them, and each is stored as one
        value. It is fixed with the checkpoint.
    """

    off: tuple[str, ...] = ()
    search: str = "auto"
    step_budget: int = 2_000_000_000
    chunk_rows: int = 1 << 17
    choices: Choices = field(default_factory=Choices)
    costs: str | None = None
    rewrite: str = "auto"
    prefilter: str = "auto"
    symbols: tuple[tuple[str, ...], ...] = ()
    slices: int | None = None
    statistics: str | RowStatistics = "auto"
    plans: str = "trees"
    neighbours: int = 2
    adapt: bool = True
    late: str = "drop"
    allow_unbounded: bool = False
    buckets: int = 16

    def on(self, rule: str) -> bool:
        """Whether a rule may fire."""
        return rule not in self.off

    @staticmethod
    def of(values: Mapping[str, object] | None) -> Hints:
        """Read the `hints` argument of the public functions."""
        values = dict(values or {})
        off = values.pop("off", ())
        off = (off,) if isinstance(off, str) else off
        search = values.pop("search", "auto")
        budget = values.pop("step_budget", Hints().step_budget)
        chunk = values.pop("chunk_rows", Hints().chunk_rows)
        chosen = {name: values.pop(name) for name in _CHOICES if name in values}
        rewrite = values.pop("rewrite", "auto")
        if rewrite not in ("auto", "always"):
            raise BindingError("The hint rewrite must be one of auto, always.")
        costs = _read_costs(values.pop("costs")) if "costs" in values else None
        prefilter = values.pop("prefilter", "auto")
        if prefilter not in _PREFILTERS:
            raise BindingError(f"The hint prefilter must be one of {', '.join(_PREFILTERS)}.")
        symbols = _symbols(values.pop("symbols", ()))
        statistics = _statistics(values.pop("statistics", "auto"))
        slices = values.pop("slices", "auto")
        plans = values.pop("plans", "trees")
        if plans not in _PLANS:
            raise BindingError(f"The hint plans must be one of {', '.join(_PLANS)}.")
        neighbours = values.pop("neighbours", Hints().neighbours)
        late = values.pop("late", "drop")
        if late not in _LATE:
            raise BindingError(f"The hint late must be one of {', '.join(_LATE)}.")
        unbounded, adapt = values.pop("allow_unbounded", False), values.pop("adapt", True)
        for name, value in (("allow_unbounded", unbounded), ("adapt", adapt)):
            if not isinstance(value, bool):
                raise BindingError(f"The hint {name} must be True or False.")
        assert isinstance(unbounded, bool) and isinstance(adapt, bool)
        buckets = values.pop("buckets", Hints().buckets)
        if values:
            known = ", ".join(field.name for field in fields(Hints) if field.name != "choices")
            known = f"{known}, {', '.join(_CHOICES)}"
            raise BindingError(f"There is no hint {next(iter(values))}.", cure=f"The hints are {known}.")
        for name, value in chosen.items():
            if value not in _CHOICES[name]:
                raise BindingError(f"The hint {name} must be one of {', '.join(_CHOICES[name])}.")
        known_rules = [rule.name for rule in RULES]
        if not isinstance(off, (tuple, list, set, frozenset)) or not set(off) <= set(known_rules):
            raise BindingError(f"The hint off must name rules of {', '.join(known_rules)}.")
        if search not in _SEARCHES:
            raise BindingError(f"The hint search must be one of {', '.join(_SEARCHES)}.")
        for name, value in (
            ("step_budget", budget),
            ("chunk_rows", chunk),
            ("slices", 1 if slices == "auto" else slices),
            ("buckets", buckets),
            ("neighbours", neighbours),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise BindingError(f"The hint {name} must be a positive whole number.")
        assert isinstance(search, str) and isinstance(budget, int) and isinstance(chunk, int)
        assert isinstance(buckets, int) and isinstance(neighbours, int)
        return Hints(
            tuple(off),
            search,
            budget,
            chunk,
            Choices(**chosen),  # type: ignore[arg-type]
            costs,
            str(rewrite),
            str(prefilter),
            symbols,
            slices if isinstance(slices, int) else None,
            statistics,
            str(plans),
            max(2, neighbours),
            adapt,
            str(late),
            unbounded,
            buckets,
        )


def _symbols(value: object) -> tuple[tuple[str, ...], ...]:
    sets = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if sets and all(isinstance(name, str) for name in sets):
        sets = (sets,)
    if not all(isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names) for names in sets):
        raise BindingError('The hint symbols must list variables: ["A", "C"], or a list for each path.')
    return tuple(tuple(names) for names in sets)


def _statistics(value: object) -> str | RowStatistics:
    if isinstance(value, str) and value in ("auto", "off"):
        return value
    if not isinstance(value, Mapping):
        raise BindingError("The hint statistics must be auto, off, or a mapping with the number of rows.")
    given = dict(value)
    shares = given.pop("shares", {})
    span = given.pop("span", None)
    numbers = {"rows": given.pop("rows", None), "partitions": given.pop("partitions", 1)}
    if given:
        raise BindingError(
            f"The hint statistics has no {next(iter(given))}.", cure="It has rows, partitions, span and shares."
        )
    if not isinstance(shares, Mapping):
        raise BindingError('The shares of the hint statistics must be a mapping: {"A": 0.01}.')
    for name, share in shares.items():
        if not (_is_number(share) and 0 <= share <= 1):
            raise BindingError(f"The share of {name} in the hint statistics must be a number from 0 to 1.")
    for name, number in numbers.items():
        if not (_is_number(number) and number >= 1):
            raise BindingError(f"The {name} of the hint statistics must be a number of at least 1.")
    # Times are counted in microseconds.
    span = span / timedelta(microseconds=1) if isinstance(span, timedelta) else span
    if not (span is None or (_is_number(span) and span >= 0)):
        raise BindingError(
            "The span of the hint statistics must be a timedelta, or a number for keys that are numbers."
        )
    found = {str(name): float(share) for name, share in shares.items()}
    return RowStatistics(float(numbers["rows"]), float(numbers["partitions"]), span, found)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


def _read_costs(path: object) -> str:
    try:
        text = Path(str(path)).read_text(encoding="utf-8")
    except OSError as problem:
        raise BindingError(f"The file of costs cannot be read: {problem}.") from problem
    read_costs(text)
    return text
