"""Segment templates through Trellis's planner and kernels, without Spark: one core, arrays already in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.segments.data import SegmentData
from benchmarks.segments.templates import Parameters, Template, clause
from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.physical_tree import ChosenTree, PhysicalNode
from trellis.algebra.segments import Choices, Price, SegmentScan
from trellis.algebra.statistics import SegmentStatistics
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.execution import loading
from trellis.execution.chunks import Chunk
from trellis.execution.segments.conditions import SegmentTester
from trellis.execution.segments.finder import Finder
from trellis.execution.segments.matcher import SegmentMatcher
from trellis.execution.segments.rows import Rows
from trellis.execution.segments.sample import sample_segments
from trellis.kernels.arrays import Program, Slots
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.driver import plan_query
from trellis.planning.hints import Hints
from trellis.planning.segments.costs import Costs, default_costs
from trellis.planning.segments.optimizer import optimize

__all__ = ["Prepared", "prepare"]

_TYPES = {"price": "double", "temp": "double", "rides": "double", "confirmed": "double", "ticker": "string"}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query with its data as the kernels want it."""

    plan: SegmentScan
    offsets: np.ndarray[Any, Any]
    slots: Slots
    program: Program

    def rows(self) -> Rows:
        """Fresh rows: nothing derived from them is kept from an earlier run."""
        return Finder(self.plan, _no_choice).rows(self.offsets, self.slots)

    def conditions(self, rows: Rows) -> SegmentTester:
        """The conditions over rows."""
        return SegmentTester(rows, self.plan.conditions, self.program, self.plan.program.depth, {})

    def choose(self, choices: Choices, costs: Costs | None = None) -> tuple[ChosenTree, SegmentStatistics, float]:
        """The tree for some choices, the statistics, and the seconds that both took."""
        began = time.perf_counter()
        rows = self.rows()
        statistics = sample_segments(self.plan, rows, self.conditions(rows))
        chosen = optimize(
            self.plan.tree, self.plan.conditions, self.plan.tracked, statistics, costs or default_costs(), choices
        )
        return chosen, statistics, time.perf_counter() - began

    def run(self, tree: PhysicalNode) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The matches of a tree. Nothing is kept from an earlier run: indexes are built again."""
        finder = Finder(self.plan, _no_choice, tree=tree)
        _, matches = finder.find(self.offsets, self.slots, self.program)
        return matches.starts, matches.ends


def _no_choice(scan: SegmentScan, statistics: SegmentStatistics, prices: Mapping[str, Price]) -> ChosenTree:
    raise AssertionError("the tree is given")


def prepare(template: Template, data: SegmentData, parameters: Parameters) -> Prepared:
    """Parse, bind and plan a template, and lay out the columns that its plan reads."""
    time_type = "date" if data.unit == "day" else "timestamp_ntz"
    types = {name: _TYPES.get(name, time_type if name == "tstamp" else "double") for name in data.columns}
    types.update(dict.fromkeys(template.partition_by, "string"))

    def types_of(expressions: Sequence[Expression]) -> list[str]:
        return [_type(expression, types) for expression in expressions]

    source = Source(Schema(tuple(types.items())), types_of, parameters)
    plan = plan_query(parse_clause_text(clause(template)), source, Hints(step_budget=10**12))
    assert isinstance(plan.scan, SegmentScan)
    scan = replace(plan.scan, outputs=())
    projected = dict(plan.projected)
    columns = {name: _array(projected[name], data) for name in {slot.column for slot in scan.slots}}
    table = pa.table(columns) if columns else pa.table({"none": pa.nulls(data.rows)})
    chunk = Chunk(table, data.offsets)
    matcher = SegmentMatcher(scan, {}, _no_choice)
    dictionary = matcher.dictionary(chunk)
    slots = loading.load_slots(chunk, scan.slots, dictionary)
    return Prepared(scan, data.offsets, slots, matcher.program(dictionary))


def _type(expression: Expression, types: dict[str, str]) -> str:
    match expression:
        case e.Column(path=(name,)):
            return types[name]
        case e.Operator(symbol="=" | "<" | ">" | "<=" | ">="):
            return "boolean"
        case e.Literal():
            return "int"
    raise AssertionError(expression)


def _array(expression: Expression, data: SegmentData) -> pa.Array:
    match expression:
        case e.Column(path=(name,)):
            values = data.columns[name]
            if values.dtype.kind == "f":
                return pa.array(values, mask=np.isnan(values))
            if name == "tstamp" and data.unit == "us":
                return pa.array(values).cast(pa.timestamp("us"))
            return pa.array(values)
        case e.Operator(symbol="=", operands=(e.Column(path=(name,)), e.Literal(text=text))):
            return pa.array(data.columns[name] == text.strip("'"))
        case e.Raw(parts=("CAST(", e.Column() as column, _)):
            return _array(column, data)
    raise AssertionError(expression)
