"""Rows out of Spark: a table to read, lines for a pipe, one file, or a folder of files.

A result may be larger than memory. On this machine Spark therefore writes it first, in parallel, into a folder of its
own; the one file is then copied together from the parts, in their order, and takes its name when it is complete. From a
cluster or over Spark Connect, whose disks are elsewhere, the rows travel through this process's memory instead.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType

from trellis.cli.failures import FileError
from trellis.cli.tables import is_url, kind_of, local_url
from trellis.errors import BindingError

__all__ = [
    "KINDS",
    "Target",
    "check_target",
    "check_writable",
    "print_lines",
    "some_rows",
    "target_of",
    "texts",
    "write",
]

KINDS = ("parquet", "csv", "tsv", "json")
"""The formats of files."""

_SEPARATORS = {"csv": ",", "tsv": "\t"}
_CSV = {"escape": '"', "emptyValue": '""', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",  # by default Spark drops the microseconds
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
_GROUP_ROWS = 1 << 17

Batches: TypeAlias = "Iterable[pa.RecordBatch]"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a result goes: a file, or with `partitioned` a folder of files as Spark writes it."""

    path: str
    kind: str
    partitioned: bool = False
    overwrite: bool = False


def target_of(path: str, kind: str | None, *, partitioned: bool, overwrite: bool) -> Target | None:
    """The target; None if nothing says what format it shall have."""
    known = kind or kind_of(path)
    plain = path if is_url(path) else str(Path(path).expanduser())
    return Target(plain, known, partitioned, overwrite) if known in KINDS else None


def check_target(target: Target, inputs: Iterable[str], *, local: bool) -> None:
    """Refuse, before anything runs, what could not be written or would destroy something.

    Raises
    ------
    FileError
        The message says what is in the way.
    """
    if is_url(target.path) and not target.partitioned:
        raise FileError(f"{target.path} is not a file of this machine.", cure="Let Spark write it: --partitioned.")
    if target.partitioned and (is_url(target.path) or not local):
        if target.overwrite and target.path in inputs:
            raise FileError(f"{target.path} is read by the query, so it is not replaced.", cure="Name another one.")
        return
    path = Path(target.path)
    check_writable(path, overwrite=target.overwrite)
    if path.is_dir() and not target.partitioned:
        raise FileError(f"{path} is a folder.", cure="Name another file, or replace the folder: --partitioned.")
    if path.is_dir() and not (path / "_SUCCESS").exists() and any(path.iterdir()):
        raise FileError(
            f"{path} is a folder that Spark did not write, so it is not replaced.",
            cure="Name another one, or empty it.",
        )


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Refuse to replace what is there unasked, and folders that are missing or closed."""
    if path.exists() and not overwrite:
        raise FileError(f"{path} is there already.", cure="Replace it with --overwrite, or name another one.")
    if not path.absolute().parent.is_dir():
        raise FileError(
            f"There is no folder {path.absolute().parent} to write {path.name} into.",
            cure="Make it, or name another one.",
        )
    if not os.access(path.absolute().parent, os.W_OK):
        raise FileError(f"The folder {path.absolute().parent} may not be written to.", cure="Name another folder.")


def write(frame: DataFrame, target: Target, *, local: bool) -> int | None:
    """Write a result; the answer is the number of rows, or None if Spark wrote it elsewhere."""
    _require_unique_names(frame, target.kind)
    if not target.partitioned:
        return _write_file(frame, target, local=local)
    if is_url(target.path) or not local:
        _write_folder(frame, target.kind, target.path, "overwrite" if target.overwrite else "error")
        return None
    path = Path(target.path)
    with _scratch(path.absolute().parent) as scratch:
        _write_folder(frame, target.kind, local_url(scratch / "new"), "error")
        if path.exists():
            os.replace(path, scratch / "old")  # and with the scratch folder it goes
        os.replace(scratch / "new", path)
    return _rows_of(path) if target.kind == "parquet" else None


def some_rows(spark: SparkSession, target: Target) -> int:
    """One, or none if a folder that Spark wrote holds no row."""
    if target.kind == "json":
        return len(spark.read.text(target.path).take(1))
    kind = "csv" if target.kind in _SEPARATORS else target.kind
    return len(spark.read.format(kind).option("header", "true").load(target.path).take(1))


def print_lines(frame: DataFrame, kind: str, stream: BinaryIO, *, local: bool, ready: Callable[[], None]) -> int:
    """Write a result as CSV, TSV or JSON lines to a stream, after `ready()`; the answer is the number of rows."""
    _require_unique_names(frame, kind)
    with _scratch(None) as scratch:
        _, batches = _fetch(_lines(frame, kind), scratch, local=local)
        ready()
        return _write_lines(batches, _header(frame, kind), stream)


def texts(frame: DataFrame) -> DataFrame:
    """All columns as Spark shows them, named by their numbers, since names may appear twice."""
    numbered = frame.toDF(*_numbers(frame))
    return numbered.select(
        *(_text(name, column.dataType).alias(name) for name, column in zip(_numbers(frame), frame.schema, strict=True))
    )


# ---- one file ----


def _write_file(frame: DataFrame, target: Target, *, local: bool) -> int:
    path = Path(target.path)
    with _scratch(path.absolute().parent) as scratch:
        whole = scratch / "whole"
        if target.kind == "parquet":
            schema, batches = _fetch(frame, scratch, local=local)
            rows = _write_parquet(batches, schema, whole)
        else:
            _, batches = _fetch(_lines(frame, target.kind), scratch, local=local)
            with whole.open("wb") as stream:
                rows = _write_lines(batches, _header(frame, target.kind), stream)
        os.replace(whole, path)
    return rows


@contextlib.contextmanager
def _scratch(beside: Path | None) -> Iterator[Path]:
    """A folder for a while: next to the target, where there is room and a rename is enough."""
    folder = Path(tempfile.mkdtemp(prefix=".trellis-", dir=beside))
    try:
        yield folder
    finally:
        for _ in range(20):  # tasks that were cancelled a moment ago may still write
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)


def _fetch(frame: DataFrame, scratch: Path, *, local: bool) -> tuple[pa.Schema, Batches]:
    """The rows of a DataFrame, batch by batch; it has run when this returns."""
    if not local:
        rows = frame.toArrow()
        return rows.schema, rows.to_batches()
    frame.write.parquet(local_url(scratch / "rows"))
    parts = sorted((scratch / "rows").glob("part-*"))
    return pq.read_schema(parts[0]), (
        batch for part in parts for batch in pq.ParquetFile(part).iter_batches(_GROUP_ROWS)
    )


def _write_parquet(batches: Batches, schema: pa.Schema, path: Path) -> int:
    """Write batches as row groups of a decent size."""
    rows = 0
    waiting: list[pa.RecordBatch] = []
    with pq.ParquetWriter(path, schema) as writer:
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if sum(one.num_rows for one in waiting) >= _GROUP_ROWS:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))
    return rows


def _write_lines(batches: Batches, header: str, stream: BinaryIO) -> int:
    """Write the one column of the batches as lines."""
    rows = 0
    stream.write(header.encode())
    for batch in batches:
        if batch.num_rows:
            stream.write(("\n".join(batch.column(0).to_pylist()) + "\n").encode())
        rows += batch.num_rows
    stream.flush()
    return rows


# ---- a folder ----


def _write_folder(frame: DataFrame, kind: str, path: str, mode: str) -> None:
    if kind in _SEPARATORS:
        named = texts(frame).toDF(*frame.columns)
        named.write.mode(mode).options(header="true", **_csv_options(kind)).csv(path)
    elif kind == "json":
        frame.write.mode(mode).options(**_JSON).json(path)
    else:
        frame.write.mode(mode).parquet(path)


def _rows_of(folder: Path) -> int:
    return sum(pq.read_metadata(part).num_rows for part in folder.glob("part-*"))


# ---- rows as text, made by Spark ----


def _lines(frame: DataFrame, kind: str) -> DataFrame:
    """One column: each row as a line of CSV, TSV or JSON. A CSV value may hold line ends, between quotes."""
    numbers = _numbers(frame)
    if kind in _SEPARATORS:
        line = F.to_csv(F.struct(*numbers), _csv_options(kind))
        return texts(frame).select(line.alias("line"))
    renamed = [F.col(number).alias(name) for number, name in zip(numbers, frame.columns, strict=True)]
    return frame.toDF(*numbers).select(F.to_json(F.struct(*renamed), dict(_JSON)).alias("line"))


def _header(frame: DataFrame, kind: str) -> str:
    if kind not in _SEPARATORS:
        return ""
    line = io.StringIO()
    csv.writer(line, delimiter=_SEPARATORS[kind], lineterminator="\n").writerow(frame.columns)
    return line.getvalue()


def _csv_options(kind: str) -> Mapping[str, str]:
    return {**_CSV, "sep": _SEPARATORS[kind]}


def _text(name: str, kind: DataType) -> Column:
    return F.hex(name) if isinstance(kind, BinaryType) else F.col(name).cast("string")


def _numbers(frame: DataFrame) -> list[str]:
    return [f"c{number}" for number in range(len(frame.columns))]


def _require_unique_names(frame: DataFrame, kind: str) -> None:
    """Columns of CSV have places, columns of other formats only names."""
    twice = [name for name in frame.columns if frame.columns.count(name) > 1]
    if twice and kind not in _SEPARATORS:
        raise BindingError(
            f"The result has two columns called {twice[0]}.", cure="Give one of them another name: SELECT ... AS ...."
        )
