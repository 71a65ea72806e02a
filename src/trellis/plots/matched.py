"""The matches of a picture of lines: bands from their first to their last row, and the rows inside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeAlias

import pandas as pd

from trellis.errors import BindingError, UnsupportedError
from trellis.plots.frames import Floats, Frame, Key, bring, numbers, require_columns, show, split_series
from trellis.plots.panels import Band, Point, Span

__all__ = ["Inner", "Matched", "inner_parts", "matches_by_rows", "matches_in_rows"]

Inner: TypeAlias = tuple[str, str] | Mapping[str, tuple[str, str]] | None

_FIRST, _LAST = "first row", "last row"


@dataclass(frozen=True, slots=True)
class Matched:
    """The matches, a row of `found` each, which has columns for their start and end, and for their inner `parts`.

    Of ALL ROWS PER MATCH there are the `rows`, too, with the variable that each was matched to in column `label`.
    """

    keys: list[str]
    found: pd.DataFrame
    start: str
    end: str
    label: str | None
    parts: list[tuple[str, str]]
    rows: pd.DataFrame | None = None

    def first(self, most: int) -> Matched:
        """The first so many that have a place: an empty match has none."""
        return replace(self, found=self.placed.head(most))

    @property
    def placed(self) -> pd.DataFrame:
        """Those that have a place."""
        return self.found[self.found[self.start].notna() & self.found[self.end].notna()]

    def one_by_one(self) -> list[tuple[Key, Band]]:
        """Each match with its series, in their order."""
        alone = [split_series(self.found.iloc[[place]], self.keys) for place in range(len(self.found))]
        return [(key, band) for split in alone for key, part in split.items() for band in self._bands(part)]

    def bands(self) -> dict[Key, list[Band]]:
        """The matches of each series."""
        return {key: self._bands(part) for key, part in split_series(self.found, self.keys).items()}

    def points(self, x: str, y: str, heights: Callable[[pd.Series[Any]], Floats]) -> dict[Key, list[Point]]:
        """The rows of matches in each series, if their variables are known."""
        points: dict[Key, list[Point]] = {}
        if self.rows is None or self.label is None:
            return points
        for key, part in split_series(self.rows, self.keys).items():
            xs, _ = numbers(part[x], f"Column {x!r}")
            columns = (xs.tolist(), heights(part[y]).tolist(), map(show, part[self.label]))
            points[key] = [Point(*row) for row in zip(*columns, strict=True)]
        return points

    def check_kind(self, x: str, temporal: bool) -> None:
        """Complain where a start is a row number: that cannot be drawn on an axis of time."""
        for name in (self.start, self.end, *(name for pair in self.parts for name in pair)):
            if self.found[name].notna().any() and numbers(self.found[name], f"Column {name!r}")[1] != temporal:
                raise BindingError(
                    f"Column {name!r} of the matches and column {x!r} of the series are not of the same kind.",
                    cure=f"Give {name!r} a measure of {x!r}, such as FIRST({x}) or LAST({x}).",
                )

    def _bands(self, found: pd.DataFrame) -> list[Band]:
        outer = _spans(found, self.start, self.end)
        inner = list(zip(*(_spans(found, *pair) for pair in self.parts), strict=True))
        told = [str(name) for name in found.columns if name not in self.keys]
        values = [[show(value) for value in found[name]] for name in told]
        label = self.label if self.rows is None else None
        labels = [show(value) for value in found[label]] if label else [""] * len(found)
        return [
            Band(span[0], span[1], text, dict(zip(told, measures, strict=True)), parts)
            for span, parts, text, *measures in zip(outer, inner or [()] * len(found), labels, *values, strict=True)
            if span is not None  # an empty match has no place
        ]


def matches_by_rows(
    matches: Frame, keys: list[str], names: tuple[str, str, str | None], parts: list[tuple[str, str]], limit: int
) -> Matched:
    """The matches of ONE ROW PER MATCH; `names` are the columns of start, end and label."""
    start, end, label = names
    needed = [*keys, start, end, *([label] if label else []), *(name for pair in parts for name in pair)]
    require_columns(matches, needed, "matches")
    found = bring(matches, [str(name) for name in matches.columns], limit, "matches")
    return Matched(keys, found, start, end, label, parts)


def matches_in_rows(
    matches: Frame, keys: list[str], places: tuple[str, str], match: str, label: str | None, limit: int
) -> Matched:
    """The matches of ALL ROWS PER MATCH; `places` are the columns of x and y."""
    x, y = places
    needed = [*keys, x, match, *([y, label] if label else [])]
    require_columns(matches, needed, "matches")
    rows = bring(matches, needed, limit, "matches")
    rows = rows[rows[match].notna()]
    groups = rows.groupby([*keys, match], dropna=False, sort=True)[x]
    found = pd.DataFrame({_FIRST: groups.min(), _LAST: groups.max(), "rows": groups.size()}).reset_index()
    return Matched(keys, found, _FIRST, _LAST, label, [], rows)


def inner_parts(inner: Inner, outer: str, match: str | None) -> dict[str, tuple[str, str]]:
    """The two columns of each inner part, by the name that the legend gives it."""
    if inner is None:
        return {}
    if match is not None:
        raise UnsupportedError(
            "With ALL ROWS PER MATCH, inner parts of matches cannot be drawn.",
            cure="Name the column that holds CLASSIFIER() in label=, or draw a query with ONE ROW PER MATCH.",
        )
    given: list[tuple[object, object]]
    given = list(inner.items()) if isinstance(inner, Mapping) else [(None, inner)]
    parts: dict[str, tuple[str, str]] = {}
    for name, pair in given:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or [type(part) for part in pair] != [str, str]:
            raise BindingError(
                f"An inner part needs the names of two columns, not {pair!r}.",
                cure='Write inner=("fall_start", "fall_end") or inner={"fall": ("fall_start", "fall_end")}.',
            )
        parts[_common_name(*pair) if name is None else str(name)] = (pair[0], pair[1])
    if outer in parts:
        raise BindingError(
            f"The legend would call both the match and a part of it {outer!r}.", cure="Give another name in outer=."
        )
    return parts


def _common_name(first: str, last: str) -> str:
    """What two columns have in common: `fall` for `fall_start` and `fall_end`."""
    words = zip(first.split("_"), last.split("_"), strict=False)
    return " ".join(a for a, b in takewhile(lambda pair: pair[0] == pair[1], words)) or f"{first} – {last}"


def _spans(found: pd.DataFrame, start: str, end: str) -> list[Span | None]:
    """From where to where, for each match; None if one of both is not known."""
    starts, _ = numbers(found[start], f"Column {start!r}")
    ends, _ = numbers(found[end], f"Column {end!r}")
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    return [(min(a, b), max(a, b)) if a == a and b == b else None for a, b in pairs]
