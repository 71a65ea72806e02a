"""Statistics for the choice of a prefilter: what Spark knows of the input, one column read once, and a few rows.

Up to three jobs: the number of rows and the span of the order key; a sample of rows; and where joins may pay, pairs of
these. Each is remembered for the session, with the conditions that were asked about and with what Spark says of the
input: the hash of its plan and its size. So a table that changes is looked at again.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import TypeVar

from pyspark.errors import PySparkAttributeError, PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Buckets
from trellis.algebra.statistics import Question, RowStatistics
from trellis.analysis.repeatable import CHANGING_FUNCTIONS
from trellis.spark.prefilter import hash_of, units_of
from trellis.spark.remembered import remembered
from trellis.spark.session import Session, has_subquery

__all__ = ["InputPlan", "inspect_source", "survey", "survey_source"]

_Answer = TypeVar("_Answer")

_LOG = logging.getLogger("trellis")
_SAMPLE = 8192
_PAIRS = 1024
_SMALL = 16 * 2**20
_UNKNOWN_CORES = 4

# Inputs that can be read twice at about the cost of reading, with the same rows.
_CHEAP = frozenset(
    "Project Filter Relation RelationV2 DataSourceV2ScanRelation HiveTableRelation LocalRelation LogicalRDD "
    "InMemoryRelation Range Union SubqueryAlias View OneRowRelation".split()
)
# Inputs whose size Spark knows about, from files or memory.
_SIZED = frozenset(
    "Project Filter Relation RelationV2 DataSourceV2ScanRelation HiveTableRelation LocalRelation InMemoryRelation "
    "Range Union SubqueryAlias View".split()
)
_UNKNOWN = 2.0**60
# Of these, a column can be read without the others, or lies in memory.
_COLUMNAR = re.compile(r"FileScan (parquet|orc)|BatchScan (parquet|orc)|InMemoryTableScan|LocalTableScan|Range \(")
# Numbers that Spark gives to the columns and steps of a plan, each time others.
_IDENTITY = re.compile(r"#\d+L?|plan_id=\d+")
# Python has no times after the year 9999.
_REFUSALS = (PySparkException, ValueError, OverflowError)
_UNITS = {"B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "PIB": 2**50, "EIB": 2**60}


@dataclass(frozen=True, slots=True)
class InputPlan:
    """What Spark says of an input: whether it may be read twice, and quickly for one column; its size in bytes.

    `text` is all of it, the same for every reading of a table that has not changed. The size is `certain` if there is
    about so much to read and to search.
    """

    repeatable: bool
    columnar: bool
    size: float
    text: str
    certain: bool = False


def inspect_source(frame: DataFrame, session: Session) -> InputPlan:
    """Read the plan of an input, as Spark would run it."""
    text = str(session.run("EXPLAIN COST SELECT * FROM {trellis_input}", trellis_input=frame).collect()[0][0])
    logical, _, physical = text.partition("== Physical Plan ==")
    lines = [line for line in logical.splitlines() if line.strip() and not line.startswith("==")]
    cached = next((number for number, line in enumerate(lines) if _node(line) == "InMemoryRelation"), None)
    if cached is not None:
        # How the rows came into memory does not matter any more.
        depth = _depth(lines[cached])
        lines = [line for number, line in enumerate(lines) if number <= cached or _depth(line) <= depth]
    nodes = {_node(line) for line in lines}
    calls = set(re.findall(r"(\w+)\(", " ".join(lines)))
    stated = re.search(r"sizeInBytes=([\d.E+]+) (\w+)", lines[0]) if lines else None
    size = float(stated[1]) * _UNITS.get(stated[2].upper(), 1) if stated else 0.0
    return InputPlan(
        repeatable=nodes <= _CHEAP and not calls & CHANGING_FUNCTIONS and "PythonUDF" not in text,
        columnar=_COLUMNAR.search(physical) is not None,
        size=size,
        text=_IDENTITY.sub("", text),
        certain=nodes <= _SIZED and not any(_node(line) == "Filter" and _drops(line) for line in lines),
    )


def known_size(frame: DataFrame, session: Session) -> float | None:
    """About how many bytes an input has; None where Spark's estimate may be far too large.

    Spark takes an unknown size for 8 EiB, a join for as large as its sides multiplied, and a filter for one that drops
    nothing. So only what reads files or memory is trusted, with filters for NULLs at most.
    """
    try:
        plan = inspect_source(frame, session)
    except _REFUSALS:
        return None
    return plan.size if plan.certain and plan.size < _UNKNOWN else None


def survey_source(frame: DataFrame, session: Session, question: Question) -> RowStatistics | str:
    """Statistics of an input, or the reason why it is not looked at; those `known`, if it may be read twice.

    What Spark refuses here it may well accept in the query itself, and what it fails at may be no part of the result.
    """
    try:
        return _survey_source(frame, session, question)
    except _REFUSALS as problem:
        _LOG.debug("no statistics: %s", problem)
        return "Spark gives no statistics of this input"


def _survey_source(frame: DataFrame, session: Session, question: Question) -> RowStatistics | str:
    source = inspect_source(frame, session)
    if not source.repeatable:
        return "the input is costly to read twice, or may change"
    if question.known is not None:
        return replace(question.known, cores=_cores(session.spark))
    if source.size < _SMALL:
        return "the input is small"
    if not source.columnar:
        return "a column of this input cannot be read without the others"
    return survey(frame, question, session, f"{frame.semanticHash()} {source.text}")


def _drops(line: str) -> bool:
    """Whether a filter may drop rows that are not NULL."""
    condition = line.split("Filter", 1)[1].split(", Statistics(")[0]
    return re.sub(r"isnotnull\([\w#.]+\)|AND|[()\s]", "", condition) != ""


def _node(line: str) -> str:
    return re.sub(r"^[\s:+-]*", "", line).split(" ")[0].split("(")[0]


def _depth(line: str) -> int:
    return len(line) - len(re.sub(r"^[\s:+-]*", "", line))


def survey(frame: DataFrame, question: Question, session: Session, source: str) -> RowStatistics:
    """Statistics of an input: of its size, its keys, the variables' conditions, and conditions between rows.

    `source` says which input it is, and in which state.
    """
    buckets = question.buckets
    key, scale = ([], "") if buckets is None else ([buckets.key], buckets.scale.value)
    rows, span = _ask(session, f"{source} size {scale}", key, lambda: _size(frame, buckets, session))
    sample = _Sample(frame, question, session)
    asked = f"{source} sample {sample.names} {[names for names, _ in question.joined]}"
    shares, partitions, heavy = _ask(session, asked, sample.expressions, lambda: sample.count(rows))
    return RowStatistics(
        rows=rows,
        partitions=partitions if question.keys else 1.0,
        span=span,
        shares=dict(zip(question.conditions, shares, strict=True)),
        together=_Together(sample, lambda ask: _ask(session, f"{asked} pairs", sample.expressions, ask)),
        heavy=heavy if question.keys else (),
        cores=_cores(session.spark),
    )


def _ask(session: Session, what: str, of: Sequence[Expression], ask: Callable[[], _Answer]) -> _Answer:
    """An answer, remembered for these expressions. What a subquery reads may change unseen, so that is always asked."""
    if any(map(has_subquery, of)):
        return ask()
    texts = [str(expression) for expression in of]
    args = [f"{name} {value!r}" for name, value in sorted(session.args.items()) if f":{name}" in "".join(texts)]
    return remembered(session.spark, repr((what, texts, args)), ask)


class _Sample:
    """A few rows, drawn when they are first needed: whether conditions hold, and what those between rows `read`."""

    def __init__(self, frame: DataFrame, question: Question, session: Session) -> None:
        self.joined, self.session = question.joined, session
        self.names = list(question.conditions)
        between = [condition for _, conditions in self.joined for condition in conditions]
        read = {node.path[1] for condition in between for node in e.walk(condition) if isinstance(node, e.Column)}
        self.read = sorted(read)
        self._frame = frame
        self._projected = [
            ("h", hash_of(question.keys)),
            *((f"b{number}", question.conditions[name]) for number, name in enumerate(self.names)),
            *((f"__c_{name}", e.Column((name,))) for name in self.read),
        ]
        self.expressions = [expression for _, expression in self._projected] + between

    @cached_property
    def _drawn(self) -> tuple[list[Row], list[str]]:
        """The rows, and the types of the columns that are read."""
        sample = self.session.project(self._frame, self._projected)
        types = [field.dataType.simpleString() for field in sample.schema.fields[1 + len(self.names) :]]
        return sample.limit(_SAMPLE).collect(), types

    def holding(self, name: str) -> list[Row]:
        """The rows for which the condition of a variable holds."""
        place = 1 + self.names.index(name)
        return [row for row in self._drawn[0] if row[place]]

    def count(self, rows: float) -> tuple[list[float], float, tuple[tuple[int, float], ...]]:
        """The shares of the variables, about how many partitions there are in all `rows`, and the heaviest of them."""
        count = len(self._drawn[0])
        shares = [(len(self.holding(name)) + 0.5) / (count + 1) for name in self.names]
        hashes = Counter(row["h"] for row in self._drawn[0])
        return shares, _partitions(hashes, rows), tuple((one, found / count) for one, found in hashes.most_common(8))

    @property
    def struct(self) -> str:
        """The type of a row of the columns that are read."""
        fields = ", ".join(f"{e.Column((name,))}: {kind}" for name, kind in zip(self.read, self._drawn[1], strict=True))
        return f"struct<{fields}>"

    def values(self, row: Row) -> tuple[object, ...]:
        """What is read of a row."""
        return tuple(row[1 + len(self.names) :])


def _size(frame: DataFrame, buckets: Buckets | None, session: Session) -> tuple[float, float | None]:
    """The number of rows, and the span of the order key in units of buckets."""
    if buckets is None:
        return float(frame.count()), None
    ends = session.project(frame, [("t", buckets.key)]).agg(
        F.count(F.lit(1)).alias("n"), F.min("t").alias("a"), F.max("t").alias("b")
    )
    found = ends.selectExpr(
        "n", f"try_subtract({units_of(buckets.scale, 'b')}, {units_of(buckets.scale, 'a')}) AS span"
    )
    row = found.collect()[0]
    return float(row["n"]), None if row["span"] is None else float(row["span"])


class _Together(Mapping[tuple[Expression, ...], float]):
    """Shares of random rows, one of each variable, for which all conditions between them hold.

    Spark tests them, all conditions in one job, when the first share is asked for: not every choice needs them.
    """

    def __init__(self, sample: _Sample, ask: Callable[[Callable[[], list[float]]], list[float]]) -> None:
        self._sample, self._ask = sample, ask

    def __getitem__(self, conditions: tuple[Expression, ...]) -> float:
        return self._shares[conditions]

    def __iter__(self) -> Iterator[tuple[Expression, ...]]:
        return (conditions for _, conditions in self._sample.joined)

    def __len__(self) -> int:
        return len(self._sample.joined)

    @cached_property
    def _shares(self) -> dict[tuple[Expression, ...], float]:
        try:
            shares = self._ask(lambda: _shares_together(self._sample))
        except _REFUSALS as problem:
            _LOG.debug("no statistics of pairs: %s", problem)
            shares = [1.0] * len(self)
        return dict(zip(self, shares, strict=True))


def _shares_together(sample: _Sample) -> list[float]:
    """For conditions between rows, one after the other, the share of random rows for which they hold."""
    draw = Random(0)
    shares = [1.0] * len(sample.joined)
    picks = [[sample.holding(name) for name in variables] for variables, _ in sample.joined]
    tested = [place for place, rows in enumerate(picks) if all(rows)]
    if not tested:
        return shares
    places = max(len(picks[place]) for place in tested)
    drawn = [
        (place, *(sample.values(draw.choice(found)) for found in picks[place]), *[None] * (places - len(picks[place])))
        for place in tested
        for _ in range(_PAIRS)
    ]
    schema = ", ".join(["number int", *(f"__s{place} {sample.struct}" for place in range(places))])
    frame = sample.session.spark.createDataFrame(drawn, schema)
    number = e.Column(("number",))
    holds = tuple(
        (e.Operator("AND", (e.Operator("=", (number, e.Literal(str(place)))), *sample.joined[place][1])), number)
        for place in tested
    )
    found = Counter(row[0] for row in sample.session.project(frame, [("found", e.Case(holds))]).collect())
    for place in tested:
        shares[place] = (found[place] + 0.5) / (_PAIRS + 1)
    return shares


def _partitions(hashes: Counter[int], rows: float) -> float:
    """How many partitions of one size would be as crowded as these, which differ in size."""
    count = sum(hashes.values())
    if count < 2:
        return 1.0
    pairs = sum(found * (found - 1) for found in hashes.values()) / (count * (count - 1))
    return min(rows, 1.0 / pairs) if pairs else max(1.0, rows * len(hashes) / count)


def _cores(spark: SparkSession) -> int:
    """How many tasks Spark runs at once; Spark Connect does not say."""
    try:
        return max(1, spark.sparkContext.defaultParallelism)
    except PySparkAttributeError:
        return _UNKNOWN_CORES
