"""Files as tables: which format, where, and the DataFrame over them."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from trellis.cli.failures import FileError

__all__ = ["Table", "is_url", "kind_of", "local_url", "locate", "open_table", "table"]

_READERS: dict[str, tuple[str, dict[str, str]]] = {
    "parquet": ("parquet", {}),
    "csv": ("csv", {"header": "true", "escape": '"', "enforceSchema": "false", "mode": "FAILFAST"}),
    "tsv": ("csv", {"header": "true", "escape": '"', "enforceSchema": "false", "mode": "FAILFAST", "sep": "\t"}),
    "json": ("json", {"mode": "FAILFAST"}),
    "orc": ("orc", {}),
}
"""Spark's format and the options that Trellis sets. A row that does not fit fails instead of turning to NULLs."""

_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
}
_PACKED = {".gz", ".bz2", ".zst", ".lz4", ".snappy"}
_PREFIX = re.compile(rf"({'|'.join(_READERS)}):(?!//)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|file:/")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the query: its name, where it lies, and how to read it."""

    name: str
    path: str
    kind: str | None = None
    schema: str | None = None
    options: dict[str, str] = field(default_factory=dict)


def table(name: str, text: str, schema: str | None = None, options: dict[str, str] | None = None) -> Table:
    """A table from what stands after `--table name=`: a path, or `format:path`."""
    prefix = _PREFIX.match(text)
    path = text[prefix.end() :] if prefix else text
    return Table(name, path, prefix[1] if prefix else None, schema, dict(options or {}))


def is_url(path: str) -> bool:
    """Whether a path says itself which file system it is on."""
    return _URL.match(path) is not None


def local_url(path: str | Path) -> str:
    """A path of this machine as Spark understands it, whatever file system Spark prefers."""
    return f"file://{Path(path).absolute()}"


def locate(given: Table, *, local: bool) -> Table:
    """The same table with its format known and, on this machine, its path complete.

    Raises
    ------
    FileError
        There is no such file, or nothing says what format it has.
    """
    path = given.path
    if local and not is_url(path):
        path = str(Path(path).expanduser())
        if not _files(path):
            raise FileError(
                f"There is no file {path} for the table {given.name}.",
                cure=f"Name a file, a folder or a glob: --table {given.name}=PATH.",
            )
    kind = given.kind or kind_of(path) or (_kind_inside(path) if local and not is_url(path) else None)
    if kind is None:
        raise FileError(
            f"Nothing says what format {path} has.",
            cure=f"Name it: --table {given.name}=csv:{path}; the formats are {', '.join(_READERS)}.",
        )
    where = local_url(path) if local and not is_url(path) else path
    return Table(given.name, where, kind, given.schema, given.options)


def open_table(spark: SparkSession, found: Table, known: StructType | None = None) -> DataFrame:
    """The DataFrame over a located table, also a temporary view of its name; `known` types are not inferred again."""
    assert found.kind is not None, "locate first"
    name, options = _READERS[found.kind]
    infer = {"inferSchema": "true"} if name == "csv" and found.schema is None and known is None else {}
    reader = spark.read.format(name).options(**{**options, **infer, **found.options})
    schema = found.schema if known is None else known
    if schema is not None:
        reader = reader.schema(schema)
    frame = reader.load(found.path)
    frame.createOrReplaceTempView(found.name)
    return frame


def kind_of(path: str) -> str | None:
    """The format that a suffix tells of, also below the suffix of a compression."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _files(path: str) -> Sequence[str]:
    """What a path or glob stands for; braces are for Spark to expand."""
    if re.search(r"[{}]", path):
        return [path]
    return [path] if Path(path).exists() else sorted(glob.glob(path))


def _kind_inside(path: str) -> str | None:
    """The one format of all the files in a folder, or behind a glob without a suffix."""
    kinds = {kind_of(file.name) for start in _files(path) for file in _data_files(Path(start))}
    return kinds.pop() if len(kinds) == 1 else None


def _data_files(start: Path) -> Iterable[Path]:
    """The files that Spark would read: no hidden ones."""
    if not start.is_dir():
        return [start]
    inside = (file for file in start.rglob("*") if file.is_file())
    return (file for file in inside if not any(part[0] in "._" for part in file.relative_to(start).parts))
