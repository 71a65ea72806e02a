"""What a user may force, for experiments, tests and support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import TypeGuard

from trellis.algebra.segments import Choices
from trellis.algebra.statistics import RowStatistics
from trellis.errors import ArgumentError, BindingError
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
    one_core : bool
        Whether a large input may be searched on one core, because nothing cuts it into series, without a warning.
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
    one_core: bool = False
    late: str = "drop"
    allow_unbounded: bool = False
    buckets: int = 16

    def on(self, rule: str) -> bool:
        """Whether a rule may fire."""
        return rule not in self.off

    @staticmethod
    def of(values: Mapping[str, object] | None) -> Hints:
        """Read the `hints` argument of the public functions."""
        if values is not None and not isinstance(values, Mapping):
            raise ArgumentError(
                "Hints have names: hints is a dictionary.", cure="Pass hints={'step_budget': 1_000_000}."
            )
        values = dict(values or {})
        off = values.pop("off", ())
        off = (off,) if isinstance(off, str) else off
        search = values.pop("search", "auto")
        budget = values.pop("step_budget", Hints().step_budget)
        chunk = values.pop("chunk_rows", Hints().chunk_rows)
        chosen = {name: values.pop(name) for name in _CHOICES if name in values}
        rewrite = values.pop("rewrite", "auto")
        if rewrite not in ("auto", "always"):
            raise _no_choice("rewrite", rewrite, ("auto", "always"))
        costs = _read_costs(values.pop("costs")) if "costs" in values else None
        prefilter = values.pop("prefilter", "auto")
        if prefilter not in _PREFILTERS:
            raise _no_choice("prefilter", prefilter, _PREFILTERS)
        symbols = _symbols(values.pop("symbols", ()))
        statistics = _statistics(values.pop("statistics", "auto"))
        slices = values.pop("slices", "auto")
        plans = values.pop("plans", "trees")
        if plans not in _PLANS:
            raise _no_choice("plans", plans, _PLANS)
        neighbours = values.pop("neighbours", Hints().neighbours)
        late = values.pop("late", "drop")
        if late not in _LATE:
            raise _no_choice("late", late, _LATE)
        unbounded, adapt = values.pop("allow_unbounded", False), values.pop("adapt", True)
        one_core = values.pop("one_core", False)
        for name, value in (("allow_unbounded", unbounded), ("adapt", adapt), ("one_core", one_core)):
            if not isinstance(value, bool):
                raise BindingError(
                    f"The hint {name} cannot be {value!r}.", cure=f"Pass hints={{{name!r}: True}}, or False."
                )
        assert isinstance(unbounded, bool) and isinstance(adapt, bool) and isinstance(one_core, bool)
        buckets = values.pop("buckets", Hints().buckets)
        if values:
            known = ", ".join(field.name for field in fields(Hints) if field.name != "choices")
            known = f"{known}, {', '.join(_CHOICES)}"
            raise BindingError(f"There is no hint {next(iter(values))}.", cure=_nearest(next(iter(values)), known))
        for name, value in chosen.items():
            if value not in _CHOICES[name]:
                raise _no_choice(name, value, _CHOICES[name])
        known_rules = [rule.name for rule in RULES]
        if not isinstance(off, (tuple, list, set, frozenset)) or not set(off) <= set(known_rules):
            known = ", ".join(known_rules)
            raise BindingError(f"The hint off must name rules, not {off!r}.", cure=f"The rules are {known}.")
        if search not in _SEARCHES:
            raise _no_choice("search", search, _SEARCHES)
        for name, value in (
            ("step_budget", budget),
            ("chunk_rows", chunk),
            ("slices", 1 if slices == "auto" else slices),
            ("buckets", buckets),
            ("neighbours", neighbours),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise BindingError(
                    f"The hint {name} must be a positive whole number, not {value!r}.",
                    cure=f"Leave it out for what is usual, or pass hints={{{name!r}: 1000}}.",
                )
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
            one_core,
            str(late),
            unbounded,
            buckets,
        )


def _nearest(name: str, known: str) -> str:
    close = get_close_matches(name, known.split(", "), n=1, cutoff=0.8)
    return f"Did you mean {close[0]}?" if close else f"The hints are {known}."


def _no_choice(name: str, value: object, choices: Sequence[str]) -> BindingError:
    return BindingError(f"The hint {name} cannot be {value!r}.", cure=f"Choose one of {', '.join(choices)}.")


def _symbols(value: object) -> tuple[tuple[str, ...], ...]:
    sets = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if sets and all(isinstance(name, str) for name in sets):
        sets = (sets,)
    if not all(isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names) for names in sets):
        raise BindingError(
            "The hint symbols must list variables.", cure='Pass hints={"symbols": ["A", "C"]}, or a list for each path.'
        )
    return tuple(tuple(names) for names in sets)


def _statistics(value: object) -> str | RowStatistics:
    if isinstance(value, str) and value in ("auto", "off"):
        return value
    if not isinstance(value, Mapping):
        raise BindingError(
            f"The hint statistics cannot be {value!r}.",
            cure="It is 'auto', 'off', or what is known: {'rows': 1_000_000, 'partitions': 50}.",
        )
    given = dict(value)
    shares = given.pop("shares", {})
    span = given.pop("span", None)
    numbers = {"rows": given.pop("rows", None), "partitions": given.pop("partitions", 1)}
    if given:
        raise BindingError(
            f"The hint statistics has no {next(iter(given))}.", cure="It has rows, partitions, span and shares."
        )
    if not isinstance(shares, Mapping):
        raise BindingError(
            "The shares of the hint statistics must be a mapping.", cure='Pass them by variable: {"A": 0.01}.'
        )
    for name, share in shares.items():
        if not (_is_number(share) and 0 <= share <= 1):
            raise BindingError(
                f"The share of {name} in the hint statistics is no share: {share!r}.", cure="Pass a number from 0 to 1."
            )
    for name, number in numbers.items():
        if not (_is_number(number) and number >= 1):
            raise BindingError(
                f"The {name} of the hint statistics must be a number of at least 1, not {number!r}.",
                cure="Pass hints={'statistics': {'rows': 1_000_000}}, or leave statistics out.",
            )
    # Times are counted in microseconds.
    span = span / timedelta(microseconds=1) if isinstance(span, timedelta) else span
    if not (span is None or (_is_number(span) and span >= 0)):
        raise BindingError(
            f"The span of the hint statistics cannot be {span!r}.",
            cure="Pass a timedelta, or a number for keys that are numbers.",
        )
    found = {str(name): float(share) for name, share in shares.items()}
    return RowStatistics(float(numbers["rows"]), float(numbers["partitions"]), span, found)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


def _read_costs(path: object) -> str:
    try:
        text = Path(str(path)).read_text(encoding="utf-8")
    except OSError as problem:
        raise BindingError(
            f"The file of costs cannot be read: {problem}.", cure="Name one that benchmarks/calibration wrote."
        ) from problem
    read_costs(text)
    return text
