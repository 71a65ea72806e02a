"""Crimes: the real sample, and a table as large as the paper's that is drawn from it."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["BOUND", "FULL_ROWS", "KEEPS", "QUICK_ROWS", "SEED", "Choices", "add_work", "choices_of", "generate"]
__all__ += ["rows_of", "sample_path", "work_folder"]

FULL_ROWS = 6_500_000
QUICK_ROWS = 10_000
SEED = 1
BOUND = 10_000 / FULL_ROWS
"""Types with a smaller share of the sample's reports are not asked for: the paper's bound of 10 000 reports."""

_FIRST_DAY, _LAST_DAY = date(2001, 1, 1), date(2020, 6, 30)
_DAY = 86_400_000_000  # microseconds
_FILES = 8
_GROUP = 250_000

KEEPS = """\
The generated table draws rows of the sample with replacement and moves each to a random day of the paper's time
(2001-01-01 to 2020-06-30); the time of day stays, `id` is the place in the order of time. So it keeps all columns, how
often each type, district, beat and place occurs, how these go together in one report, and how reports spread over the
day, full hours and midnight included. It loses what ties reports to each other: that a theft follows another one in
the same street, that Fridays and summers differ, that reports of one event come together. Reports of one window are
independent here, but for the hour: a pattern is found as often as chance has it, and estimates that assume
independence have it easier than on real data. The real sample has all this, and is measured too, but it is small.
"""


@dataclass(frozen=True, slots=True)
class Choices:
    """What instances of queries are drawn from."""

    types: tuple[str, ...]
    districts: tuple[int, ...]
    bound: float


def sample_path(folder: Path) -> Path:
    """The real sample in a folder of data."""
    return folder / "crimes.parquet"


def add_work(parser: argparse.ArgumentParser) -> None:
    """`--work`."""
    text = "a folder for the generated table; it is made once and reused"
    parser.add_argument("--work", type=Path, metavar="FOLDER", help=text)


@contextmanager
def work_folder(asked: argparse.Namespace) -> Iterator[Path]:
    """The folder for the generated table; that of a quick run is gone afterwards."""
    if asked.work is None and not asked.quick:
        raise SystemExit("The generated table needs a folder of its own: pass one as --work.")
    with tempfile.TemporaryDirectory(prefix="trellis-benchmark-") as folder:
        yield asked.work or Path(folder)


def choices_of(sample: Path, bound: float = BOUND) -> Choices:
    """The types with at least a share `bound` of the reports, and all districts, in a fixed order."""
    table = pq.read_table(sample, columns=["primary_type", "district"])
    types = Counter(table["primary_type"].to_pylist())
    districts = {district for district in table["district"].to_pylist() if district is not None}
    return Choices(
        tuple(sorted(name for name, count in types.items() if count >= bound * table.num_rows)),
        tuple(sorted(districts)),
        bound,
    )


def rows_of(path: Path) -> int:
    """How many rows a Parquet file, or a folder of them, has."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    return sum(pq.ParquetFile(file).metadata.num_rows for file in files)


def generate(sample: Path, folder: Path, rows: int = FULL_ROWS, seed: int = SEED) -> Path:
    """A folder with the generated table: the same in every run, made once.

    With fewer rows the time shrinks too, so that a window holds as many reports as at full size.
    """
    target = folder / f"crimes-{rows}-{seed}"
    if (target / "_SUCCESS").exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    source = pq.read_table(sample)
    random = np.random.default_rng(seed)
    pick = random.integers(0, source.num_rows, rows)
    span = (_LAST_DAY - _FIRST_DAY).days + 1
    days = random.integers(0, max(1, round(span * min(1.0, rows / FULL_ROWS))), rows)
    start = int(np.datetime64(_FIRST_DAY, "us").astype(np.int64))
    of_day = source["tstamp"].cast(pa.int64()).to_numpy() % _DAY
    times = start + days * _DAY + of_day[pick]
    order = np.argsort(times, kind="stable")
    pick, times = pick[order], times[order]
    number, time = source.column_names.index("id"), source.column_names.index("tstamp")
    for part in range(_FILES):
        begin, end = part * rows // _FILES, (part + 1) * rows // _FILES
        piece = source.take(pa.array(pick[begin:end]))
        piece = piece.set_column(number, "id", pa.array(np.arange(begin, end), source.schema.field("id").type))
        piece = piece.set_column(time, "tstamp", pa.array(times[begin:end], pa.timestamp("us")))
        file = target / f"part-{part}.parquet"
        pq.write_table(piece, file, compression="zstd", row_group_size=_GROUP)
    # Written last: a run that was broken off leaves a folder without it, and the table is made again.
    (target / "_SUCCESS").touch()
    return target
