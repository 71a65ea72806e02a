"""The tables that the studio works on: all rows of them, or a sample that Spark keeps in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from trellis.errors import ResourceError
from trellis.languages.lexer import tokenize
from trellis.planning.hints import Hints
from trellis.spark.excerpt import excerpt_of
from trellis.studio.questions import Reading

__all__ = ["Desk", "Opener", "Part", "Scope", "Table"]

Opener: TypeAlias = Callable[[SparkSession, Mapping[str, StructType]], dict[str, DataFrame]]
"""Opens all tables in a session, where they are views, too; types that are known need not be inferred again."""

Spec: TypeAlias = tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
"""How a sample is drawn: for each table that is too large, its keys and its order, as SQL."""

_MOST_SAMPLES = 6
_MOST_DRAWN = 1_000_000


@dataclass(slots=True)
class Table:
    """A table as the page lists it. `shipped` ones come with Trellis; `rows` is None until they are counted."""

    name: str
    columns: list[tuple[str, str]]
    shipped: bool
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What a run sees of a table: `rows` of `total`, chosen `how`."""

    table: str
    rows: int
    total: int
    how: str


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables as a run sees them: views of a session of their own, and DataFrames by name.

    `held` are those columns of a sample that pictures were drawn of, as pandas, by table and names; None where the
    tables may be too large for that.
    """

    spark: SparkSession
    frames: Mapping[str, DataFrame]
    parts: tuple[Part, ...] = ()
    held: dict[tuple[str, ...], Any] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has all rows of all tables."""
        return all(part.rows == part.total for part in self.parts)

    def rows_to_draw(self, table: str, frame: DataFrame, names: Sequence[str]) -> Any:
        """What a picture reads of a table, or of what a query makes of tables (then `table` is empty).

        Of a sample that is pandas, brought once: a filter of some series would be another job for each picture.
        """
        if self.held is None:
            return frame
        columns = list(dict.fromkeys(names))
        key = (table, *columns)
        if table and key in self.held:
            return self.held[key]
        rows = frame.select(*(F.col("`" + name.replace("`", "``") + "`") for name in columns)).limit(_MOST_DRAWN)
        found = rows.toPandas()
        if table:
            self.held[key] = found
        return found


@dataclass(slots=True)
class Desk:
    """What all tabs share. Before `open` there are no tables yet: Spark is starting."""

    args: Mapping[str, object] = field(default_factory=dict)
    hints: Mapping[str, object] = field(default_factory=dict)
    sample_rows: int = 50_000
    tables: dict[str, Table] = field(default_factory=dict)
    _open: Opener | None = None
    _whole: Scope | None = None
    _schemas: dict[str, StructType] = field(default_factory=dict)
    _samples: OrderedDict[Spec, Scope] = field(default_factory=OrderedDict)
    _drawing: dict[Spec, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, spark: SparkSession, opener: Opener, shipped: frozenset[str] = frozenset()) -> None:
        """Open the tables in a session; from now on queries can be checked and run."""
        frames = opener(spark, {})
        self._open = opener
        self._schemas = {name: frame.schema for name, frame in frames.items()}
        self.tables = {
            name: Table(name, [(one.name, one.dataType.simpleString()) for one in frame.schema], name in shipped)
            for name, frame in frames.items()
        }
        self._whole = Scope(spark, frames)

    @property
    def is_open(self) -> bool:
        """Whether there are tables yet."""
        return self._whole is not None

    @property
    def columns(self) -> dict[str, Sequence[tuple[str, str]]]:
        """The columns and their types, by table."""
        return {name: table.columns for name, table in self.tables.items()}

    @property
    def whole(self) -> Scope:
        """All rows of all tables."""
        if self._whole is None:
            raise ResourceError("Spark is still starting.", cure="Wait some seconds.")
        return self._whole

    def count(self, name: str) -> int:
        """How many rows a table has; counted once."""
        table = self.tables[name]
        if table.rows is None:
            table.rows = self.whole.frames[name].count()
        return table.rows

    def mentioned(self, reading: Reading) -> list[str]:
        """The tables whose names stand in a text."""
        if reading.events:
            return [reading.events]
        words = {token.identifier.text.lower() for token in tokenize(reading.question.text) if token.is_name}
        return [name for name in self.tables if name.lower() in words]

    def all_of(self, reading: Reading) -> Scope:
        """All rows, with how many these are."""
        parts = tuple(
            Part(name, rows, rows, "all rows") for name in self.mentioned(reading) for rows in [self.count(name)]
        )
        return Scope(self.whole.spark, self.whole.frames, parts)

    def sample_for(self, reading: Reading) -> Scope:
        """A sample for a query: of each large table whole partitions as the query makes them, or its first rows."""
        mentioned = self.mentioned(reading)
        large = [name for name in mentioned if self.count(name) > self.sample_rows]
        spec = tuple((name, *self._keys_for(reading, name)) for name in large)
        scope = self._sample(spec)
        drawn = {part.table: part for part in scope.parts}
        small = (Part(name, self.count(name), self.count(name), "all rows") for name in mentioned if name not in drawn)
        return replace(scope, parts=(*(drawn[name] for name in large), *small))

    def _sample(self, spec: Spec) -> Scope:
        """A sample, drawn once, also if two tabs ask for it at the same time; one tab waits for no other sample."""
        with self._lock:
            drawing = self._drawing.setdefault(spec, threading.Lock())
        with drawing:
            with self._lock:
                scope = self._samples.get(spec)
            if scope is None:
                scope = self._draw(spec)
        dropped = []
        with self._lock:
            self._samples[spec] = scope
            self._samples.move_to_end(spec)
            while len(self._samples) > _MOST_SAMPLES:
                dropped.append(self._samples.popitem(last=False)[1])
        for old in dropped:
            for frame in old.frames.values():
                frame.unpersist()
        return scope

    def _keys_for(self, reading: Reading, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Partitions and order of the first pattern whose keys are all columns of the table."""
        there = {column.lower() for column, _ in self.tables[name].columns}
        for query in reading.queries:
            same = query.events.same if query.events is not None else ()
            keys = [str(key) for key in (*query.partition_by, *same)]
            order = [str(key.expression) for key in query.order_by]
            if {key.strip("`").lower() for key in (*keys, *order)} <= there:
                return tuple(keys), tuple(order)
        return (), ()

    def _draw(self, spec: Spec) -> Scope:
        assert self._open is not None
        spark = self.whole.spark.newSession()
        # Some tasks for some rows: by default Spark makes two hundred of them after a shuffle.
        tasks = spark.sparkContext.defaultParallelism
        spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
        frames = self._open(spark, self._schemas)
        parts = []
        how = {name: (keys, order) for name, keys, order in spec}
        for name in frames:
            if name in how:
                keys, order = how[name]
                excerpt = excerpt_of(frames[name], keys, order, self.sample_rows)
                frames[name] = excerpt.frame.coalesce(tasks)
                parts.append(Part(name, excerpt.rows, excerpt.total, _told(keys, order, excerpt.whole)))
            frames[name] = frames[name].cache()
            frames[name].createOrReplaceTempView(name)
        return Scope(spark, frames, tuple(parts), {})


def _told(keys: Sequence[str], order: Sequence[str], whole: bool) -> str:
    if whole:
        return f"whole partitions by {', '.join(keys)}"
    return f"the first rows by {', '.join(order)}" if order else "the first rows as they lie"


def hints_of(desk: Desk, **more: Any) -> Hints:
    """The hints that were given, and some more."""
    return Hints.of({**desk.hints, **more})
