"""A million made-up crime reports in the order of time, and the patterns that two engines look for in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

__all__ = ["COLUMNS", "QUERIES", "SCHEMA", "write_crimes"]

COLUMNS = {"id": "INT", "at": "TIMESTAMP(3)", "type": "STRING", "district": "INT", "lon": "DOUBLE", "lat": "DOUBLE"}
"""The columns of the files, with their types in Flink."""
SCHEMA = ", ".join(f"{name} {kind.removesuffix('(3)')}" for name, kind in COLUMNS.items())
"""The same for Spark."""

_BEGIN = 1_514_764_800_000  # 2018-01-01, in milliseconds
_DAY = 86_400_000
_HALF_HOUR = 1_800_000
_A_DAY = 900  # reports: about nineteen in half an hour, as in Chicago
_DISTRICTS = 22

_TYPES = {
    "THEFT": 240,
    "BATTERY": 190,
    "CRIMINAL DAMAGE": 107,
    "ASSAULT": 79,
    "OTHER OFFENSE": 66,
    "DECEPTIVE PRACTICE": 65,
    "NARCOTICS": 50,
    "BURGLARY": 44,
    "MOTOR VEHICLE THEFT": 37,
    "ROBBERY": 37,
    "CRIMINAL TRESPASS": 26,
    "WEAPONS VIOLATION": 20,
    "OFFENSE INVOLVING CHILDREN": 9,
    "PUBLIC PEACE VIOLATION": 6,
    "CRIM SEXUAL ASSAULT": 6,
    "INTERFERENCE WITH PUBLIC OFFICER": 5,
    "SEX OFFENSE": 4,
    "PROSTITUTION": 3,
    "HOMICIDE": 2,
    "ARSON": 2,
    "STALKING": 1,
    "KIDNAPPING": 1,
}
"""How many of a thousand reports are of a type, about as in the reports of a city."""

_SHAPE = """SELECT {select} FROM {{t}} MATCH_RECOGNIZE (
    {partition}ORDER BY `at`
    MEASURES {measures}
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN ({pattern}) WITHIN INTERVAL '30' MINUTE
    DEFINE {define})"""


def _query(pattern: str, define: str, partition: str = "") -> str:
    variables = [name for name in pattern.split() if name.isalpha()]
    measures = ", ".join(f"{name}.id AS {name.lower()}" for name in variables)
    select = ", ".join(name.lower() for name in variables)
    return _SHAPE.format(select=select, partition=partition, measures=measures, pattern=pattern, define=define)


_SEQUENCE = "A Y*? B Z*? C"  # Flink wants each variable once
_NEAR = " AND ".join(f"{{0}}.{axis} BETWEEN A.{axis} - 0.025 AND A.{axis} + 0.025" for axis in ("lon", "lat"))

QUERIES = {
    "in one district": _query(
        _SEQUENCE,
        "A AS A.type = 'ASSAULT' AND A.district = 8, B AS B.type = 'THEFT' AND B.district = 8, "
        "C AS C.type = 'BATTERY' AND C.district = 8",
    ),
    "in the district of A": _query(
        _SEQUENCE,
        "A AS A.type = 'ASSAULT', B AS B.type = 'THEFT' AND B.district = A.district, "
        "C AS C.type = 'BATTERY' AND C.district = A.district",
    ),
    "partitioned by district": _query(
        _SEQUENCE,
        "A AS A.type = 'ASSAULT', B AS B.type = 'THEFT', C AS C.type = 'BATTERY'",
        "PARTITION BY district ",
    ),
    "in a box around A": _query(
        _SEQUENCE,
        f"A AS A.type = 'ASSAULT', B AS B.type = 'THEFT' AND {_NEAR.format('B')}, "
        f"C AS C.type = 'BATTERY' AND {_NEAR.format('C')}",
    ),
    "four types in a row": _query(
        "A B C D",
        "A AS A.type = 'THEFT', B AS B.type = 'BATTERY', C AS C.type = 'CRIMINAL DAMAGE', D AS D.type = 'ASSAULT'",
    ),
}
"""Each as both engines read it, of the table `{t}`."""


def write_crimes(folder: Path, rows: int) -> tuple[Path, Path]:
    """Two files: the reports, and one of no type, years later, which closes all windows."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    times = _times(random, rows)
    names = np.array(list(_TYPES))
    shares = np.array(list(_TYPES.values()), float)
    districts = random.integers(1, _DISTRICTS + 1, rows)
    # Districts lie side by side; the reports of each are around its middle.
    lon = -87.85 + 0.06 * (districts % 5) + random.normal(0, 0.02, rows)
    lat = 41.66 + 0.08 * (districts // 5) + random.normal(0, 0.02, rows)
    types = random.choice(names, rows, p=shares / shares.sum())
    reports, last = folder / "0.csv", folder / "1.csv"
    _write(reports, np.arange(rows), times, types, districts, lon.round(6), lat.round(6))
    closing = times[-1:] + 1000 * _DAY
    _write(last, np.array([rows]), closing, np.array(["NONE"]), np.array([0]), np.zeros(1), np.zeros(1))
    for second, path in enumerate((reports, last)):
        os.utime(path, (second, second))  # streams read files in the order in which they were written
    return reports, last


def _times(random: np.random.Generator, rows: int) -> NDArray[Any]:
    """Milliseconds, no two alike and no two half an hour apart, so that it does not matter whose bound is inclusive.

    Times in even half hours are even and times in odd ones odd: half an hour is an even number of milliseconds.
    """
    # A few more than asked for, as some fall together.
    drawn = random.integers(0, round(rows / _A_DAY * _DAY), round(1.01 * rows) + 100)
    times = np.unique(drawn - drawn % 2 + drawn // _HALF_HOUR % 2)
    return _BEGIN + np.sort(random.choice(times, rows, replace=False))


def _write(path: Path, *columns: NDArray[Any]) -> None:
    """A file without a head, as Flink reads it."""
    values = [pa.array(column) for column in columns]
    values[1] = pc.strftime(values[1].cast(pa.timestamp("ms")), "%Y-%m-%d %H:%M:%S")
    table = pa.table(dict(zip(COLUMNS, values, strict=True)))
    options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
    pa.csv.write_csv(table, path, options)
