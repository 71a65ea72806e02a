"""The matches of the crime queries by their definition: which engine is right where two differ.

Of all matches that begin at a row, the preferred one takes as few rows for `Y*?` as it can, then as few for `Z*?`: B is
the first report that some C follows in time, C the first one then. The search goes on behind the last row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from csv import reader
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

__all__ = ["Match", "Report", "by_definition", "read_reports"]

_WINDOW = timedelta(minutes=30)
_NEAR = 0.025


@dataclass(frozen=True, slots=True)
class Report:
    """A row."""

    id: int
    at: datetime
    type: str
    district: int
    lon: float
    lat: float


Match = tuple[int, ...]
"""The reports of the variables."""
Fits = Callable[[Report, Report], bool]
"""Whether a report goes with the first one of a match."""


def read_reports(path: Path) -> list[Report]:
    """The rows of a file, in the order of time."""
    with path.open(newline="") as file:
        return [
            Report(int(number), datetime.fromisoformat(at), kind, int(district), float(lon), float(lat))
            for number, at, kind, district, lon, lat in reader(file)
        ]


def by_definition(name: str, reports: Sequence[Report]) -> list[Match]:
    """The reports of each match of a query."""
    match name:
        case "in one district":
            return list(_sequences(reports, lambda first, other: other.district == first.district == 8))
        case "in the district of A":
            return list(_sequences(reports, lambda first, other: other.district == first.district))
        case "partitioned by district":
            parts: dict[int, list[Report]] = {}
            for report in reports:
                parts.setdefault(report.district, []).append(report)
            return [found for part in parts.values() for found in _sequences(part, lambda first, other: True)]
        case "in a box around A":
            return list(_sequences(reports, _near))
        case _:
            return list(_adjacent(reports, ("THEFT", "BATTERY", "CRIMINAL DAMAGE", "ASSAULT")))


def _near(first: Report, other: Report) -> bool:
    return all(
        middle - _NEAR <= place <= middle + _NEAR for middle, place in ((first.lon, other.lon), (first.lat, other.lat))
    )


def _sequences(reports: Sequence[Report], fits: Fits) -> Iterator[Match]:
    """An assault, a theft and a battery, with others between them."""
    start = 0
    while start < len(reports):
        found = _sequence(reports, start, fits) if reports[start].type == "ASSAULT" else None
        if found is not None:
            yield tuple(reports[place].id for place in found)
        start = start + 1 if found is None else found[-1] + 1


def _sequence(reports: Sequence[Report], start: int, fits: Fits) -> tuple[int, int, int] | None:
    first = reports[start]
    middle = None
    for place in range(start + 1, len(reports)):
        report = reports[place]
        if report.at - first.at > _WINDOW:
            return None
        if middle is not None and report.type == "BATTERY" and fits(first, report):
            # The first theft comes before any other, so if some battery follows a theft, one follows this theft.
            return start, middle, place
        if middle is None and report.type == "THEFT" and fits(first, report):
            middle = place
    return None


def _adjacent(reports: Sequence[Report], types: Sequence[str]) -> Iterator[Match]:
    """Types one after another; as all differ, matches do not overlap."""
    for start in range(len(reports) - len(types) + 1):
        rows = reports[start : start + len(types)]
        if [row.type for row in rows] == list(types) and rows[-1].at - rows[0].at <= _WINDOW:
            yield tuple(row.id for row in rows)
