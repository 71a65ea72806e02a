"""Statistics for the choice of a prefilter: what Spark knows of the input, one column read once, and a few rows.

Counts and the span of the order key are remembered for an input, by Spark's hash of its plan. Statistics only choose
between plans with the same result, so nothing is wrong if they are old.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from pyspark.errors import PySparkAttributeError, PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.prefilter import Buckets
from trellis.algebra.statistics import Question, RowStatistics
from trellis.analysis.repeatable import CHANGING_FUNCTIONS
from trellis.spark.prefilter import hash_of, units_of
from trellis.spark.session import Session

__all__ = ["InputPlan", "inspect_source", "survey", "survey_source"]

_LOG = logging.getLogger("trellis")
_SAMPLE = 8192
_PAIRS = 1024
_SMALL = 16 * 2**20
_UNKNOWN_CORES = 4
_KNOWN: dict[tuple[str, str], tuple[float, float | None]] = {}
_MOST_KNOWN = 256

# Inputs that can be read twice at about the cost of reading, with the same rows.
_CHEAP = frozenset(
    "Project Filter Relation RelationV2 DataSourceV2ScanRelation HiveTableRelation LocalRelation LogicalRDD "
    "InMemoryRelation Range Union SubqueryAlias View OneRowRelation".split()
)
# Of these, a column can be read without the others, or lies in memory.
_COLUMNAR = re.compile(r"FileScan (parquet|orc)|BatchScan (parquet|orc)|InMemoryTableScan|LocalTableScan|Range \(")
# Times after the year 9999 are no values of Python's.
_REFUSALS = (PySparkException, ValueError, OverflowError)
_UNITS = {"B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "PIB": 2**50, "EIB": 2**60}


@dataclass(frozen=True, slots=True)
class InputPlan:
    """What Spark says of an input: whether it may be read twice, and quickly for one column; its size in bytes."""

    repeatable: bool
    columnar: bool
    size: float


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
    )


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
    return survey(frame, question, session)


def _node(line: str) -> str:
    return re.sub(r"^[\s:+-]*", "", line).split(" ")[0].split("(")[0]


def _depth(line: str) -> int:
    return len(line) - len(re.sub(r"^[\s:+-]*", "", line))


def survey(frame: DataFrame, question: Question, session: Session) -> RowStatistics:
    """Statistics of an input: of its size, its keys, the variables' conditions, and conditions between rows."""
    rows, span = _size(frame, question.buckets, session)
    names = list(question.conditions)
    read = sorted(
        {
            node.path[1]
            for _, conditions in question.joined
            for condition in conditions
            for node in e.walk(condition)
            if isinstance(node, e.Column)
        }
    )
    sample = session.project(
        frame,
        [
            ("h", hash_of(question.keys)),
            *((f"b{number}", question.conditions[name]) for number, name in enumerate(names)),
            *((f"__c_{name}", e.Column((name,))) for name in read),
        ],
    )
    drawn = sample.limit(_SAMPLE).collect()
    count = len(drawn)
    holds = {name: [row for row in drawn if row[1 + number]] for number, name in enumerate(names)}
    shares = {name: (len(found) + 0.5) / (count + 1) for name, found in holds.items()}
    picks = {conditions: [holds[name] for name in variables] for variables, conditions in question.joined}
    read_types = [field.dataType.simpleString() for field in sample.schema.fields[1 + len(names) :]]
    struct = ", ".join(f"{e.Column((name,))}: {kind}" for name, kind in zip(read, read_types, strict=True))
    hashes = Counter(row["h"] for row in drawn)
    return RowStatistics(
        rows=rows,
        partitions=_partitions(hashes, rows) if question.keys else 1.0,
        span=span,
        shares=shares,
        together=_Together(picks, f"struct<{struct}>", 1 + len(names), session),
        heavy=tuple((value, found / count) for value, found in hashes.most_common(8))
        if question.keys and count
        else (),
        cores=_cores(session.spark),
    )


def _size(frame: DataFrame, buckets: Buckets | None, session: Session) -> tuple[float, float | None]:
    """The number of rows, and the span of the order key in units of buckets."""
    known = (str(frame.semanticHash()), "" if buckets is None else f"{buckets.key} {buckets.scale.value}")
    if known not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        if buckets is None:
            _KNOWN[known] = (float(frame.count()), None)
        else:
            ends = session.project(frame, [("t", buckets.key)]).agg(
                F.count(F.lit(1)).alias("n"), F.min("t").alias("a"), F.max("t").alias("b")
            )
            found = ends.selectExpr(
                "n", f"try_subtract({units_of(buckets.scale, 'b')}, {units_of(buckets.scale, 'a')}) AS span"
            )
            row = found.collect()[0]
            _KNOWN[known] = (float(row["n"]), None if row["span"] is None else float(row["span"]))
    return _KNOWN[known]


class _Together(Mapping[tuple[Expression, ...], float]):
    """Shares of random rows, one of each variable, for which all conditions between them hold.

    Spark tests them, all conditions in one job, when the first share is asked for: not every choice needs them. What
    conditions read of a row is a `struct` of its values after those that are `skipped`.
    """

    def __init__(
        self, picks: Mapping[tuple[Expression, ...], list[list[Row]]], struct: str, skipped: int, session: Session
    ) -> None:
        self._picks, self._struct, self._skipped, self._session = picks, struct, skipped, session

    def __getitem__(self, conditions: tuple[Expression, ...]) -> float:
        return self._shares[conditions]

    def __iter__(self) -> Iterator[tuple[Expression, ...]]:
        return iter(self._picks)

    def __len__(self) -> int:
        return len(self._picks)

    @cached_property
    def _shares(self) -> dict[tuple[Expression, ...], float]:
        try:
            return _shares_together(self._picks, self._struct, self._skipped, self._session)
        except _REFUSALS as problem:
            _LOG.debug("no statistics of pairs: %s", problem)
            return dict.fromkeys(self._picks, 1.0)


def _shares_together(
    picks: Mapping[tuple[Expression, ...], list[list[Row]]], struct: str, skipped: int, session: Session
) -> dict[tuple[Expression, ...], float]:
    """For all conditions, the share of random rows for which they hold."""
    draw = Random(0)
    shares = dict.fromkeys(picks, 1.0)
    tested = [(conditions, rows) for conditions, rows in picks.items() if all(rows)]
    if not tested:
        return shares
    places = max(len(rows) for _, rows in tested)
    drawn = [
        (number, *(draw.choice(found)[skipped:] for found in rows), *[None] * (places - len(rows)))
        for number, (_, rows) in enumerate(tested)
        for _ in range(_PAIRS)
    ]
    schema = ", ".join(["number int", *(f"__s{place} {struct}" for place in range(places))])
    frame = session.spark.createDataFrame(drawn, schema, verifySchema=False)
    number = e.Column(("number",))
    holds = tuple(
        (e.Operator("AND", (e.Operator("=", (number, e.Literal(str(place)))), *conditions)), number)
        for place, (conditions, _) in enumerate(tested)
    )
    found = Counter(row[0] for row in session.project(frame, [("found", e.Case(holds))]).collect())
    return shares | {conditions: (found[place] + 0.5) / (_PAIRS + 1) for place, (conditions, _) in enumerate(tested)}


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
