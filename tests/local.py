"""Trellis without Spark: the same parser, binder, planner, worker and kernels.

Only scalar expressions are evaluated here, one row at a time, for the small language that the property tests use.
"""

from __future__ import annotations

import fnmatch
import math
import re
import statistics
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import pyarrow as pa

import naive_decimals
from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.plan import NeighbourPlan, PairPlan, Plan
from trellis.algebra.query import Query
from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.execution.task import MatchTask
from trellis.languages.match_recognize import parse_clause_text
from trellis.planning.driver import plan_query
from trellis.planning.hints import Hints
from trellis.planning.rows import measures
from trellis.planning.segments.choose import choose_tree

Row = Mapping[str, Any]

_ARROW = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
    "decimal(38,6)": pa.float64(),
}
_ORDER = ["void", "int", "bigint", "double"]
_NULL = r"CAST\(NULL AS DECIMAL\((\d+), (\d+)\)\)"


def run(
    clause: str | Query,
    rows: Sequence[Row],
    schema: Sequence[tuple[str, str]],
    *,
    args: Mapping[str, object] | None = None,
    batch_rows: int = 1000,
    **hints: Any,
) -> list[dict[str, Any]]:
    """The result of a MATCH_RECOGNIZE clause over rows, in order of partitions."""
    plan = plan_clause(clause, schema, args=args, **hints)
    table = sorted_rows(plan, rows, schema)
    matched: list[dict[str, Any]] = []
    task = MatchTask(plan.scan, choose=choose_tree)
    for batch in task(table.to_batches(max_chunksize=batch_rows)):
        matched.extend(batch.to_pylist())
    return [{name: evaluate(expression, row) for name, expression in plan.finished} for row in matched]


def table_of(plan: Plan, rows: Sequence[Row], schema: Sequence[tuple[str, str]]) -> pa.Table:
    """What Spark packs for a stream: rows as they come."""
    return sorted_rows(replace(plan, sorted_by=()), rows, schema)


def sorted_rows(plan: Plan, rows: Sequence[Row], schema: Sequence[tuple[str, str]]) -> pa.Table:
    """What Spark hands to the workers."""
    if plan.before.keep is not None:
        rows = [row for row in rows if evaluate(plan.before.keep, row)]
    if plan.pairs is not None:
        rows = _paired(rows, plan.pairs)
    projected = [{name: evaluate(expression, row) for name, expression in plan.projected} for row in rows]
    for name, descending, nulls_first in reversed(plan.sorted_by):
        # Python's sort is stable, so the least significant key comes first.
        projected.sort(key=_sort_key(name, descending, nulls_first), reverse=descending)
    types = {**dict(schema), "__row": "int"}
    if plan.pairs is not None:
        types |= {name: f"array<{type_of(value, types)}>" for name, value in plan.pairs.values}
    expressions = dict(plan.projected)
    if plan.neighbours is not None:
        projected, expressions = _with_neighbours(plan, plan.neighbours, projected)
    columns = {
        name: pa.array([row[name] for row in projected], _arrow_type(type_of(expression, types)))
        for name, expression in expressions.items()
    }
    return pa.table(columns) if columns else pa.table({"none": pa.nulls(len(rows))})


def _paired(rows: Sequence[Row], plan: PairPlan) -> list[Row]:
    """The rows with their numbers, and the functions of all pairs of rows of a series."""
    keys = [tuple(evaluate(key, row) for key in plan.keys) for row in rows]
    numbered: list[Row] = []
    for series in dict.fromkeys(keys):
        members = [dict(row) for row, key in zip(rows, keys, strict=True) if key == series]
        for expression, descending, nulls_first in reversed(plan.order):
            order = [{"key": evaluate(expression, row), "row": row} for row in members]
            order.sort(key=_sort_key("key", descending, nulls_first), reverse=descending)
            members = [entry["row"] for entry in order]
        members = [{**row, plan.row: number} for number, row in enumerate(members)]
        for row in members:
            paired = [{**row, plan.struct: first} for first in members]
            arrays = {name: [evaluate(value, pair) for pair in paired] for name, value in plan.values}
            numbered.append({**row, **arrays})
    return numbered


def _with_neighbours(
    plan: Plan, neighbours: NeighbourPlan, ordered: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, Expression]]:
    """The rows that are kept, and what their columns are as expressions over one row, for their types."""
    kept = []
    series = [[row[key] for key in plan.scan.keys] for row in ordered]
    for number, row in enumerate(ordered):
        there = dict(row)
        for name, source, shift in neighbours.columns:
            at = number + shift
            same = 0 <= at < len(ordered) and series[at] == series[number]
            there[name] = ordered[at][source] if same else None
        if evaluate(neighbours.keep, there):
            late = {name: evaluate(expression, there) for name, expression in neighbours.projected}
            kept.append({**row, **late})
    sources = dict(plan.projected)
    values = {**sources, **{name: sources[source] for name, source, _ in neighbours.columns}}

    def in_place(node: Expression) -> Expression:
        return values[node.path[0]] if isinstance(node, e.Column) else e.rebuild(node, in_place)

    return kept, {**sources, **{name: in_place(expression) for name, expression in neighbours.projected}}


def _arrow_type(type_: str) -> pa.DataType:
    if type_.startswith("array<"):
        return pa.list_(_arrow_type(type_[len("array<") : -1]))
    if type_.startswith("struct<"):
        return pa.struct([(name, _arrow_type(field)) for name, field in _fields(type_)])
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", type_)
    if decimal and type_ not in _ARROW:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return _ARROW[type_]


def plan_clause(
    clause: str | Query,
    schema: Sequence[tuple[str, str]],
    *,
    args: Mapping[str, object] | None = None,
    lenient: bool = False,
    watermark: str | None = None,
    **hints: object,
) -> Plan:
    """Parse, bind and plan a clause; `lenient` is Spark without ANSI mode, a stream has a `watermark`."""
    query = parse_clause_text(clause) if isinstance(clause, str) else clause
    source = replace(source_of(schema, args), lenient=lenient, watermark=watermark)
    with mock.patch.object(measures, "finish_list", _finish_list):
        return plan_query(query, source, Hints.of(hints))


def source_of(schema: Sequence[tuple[str, str]], args: Mapping[str, object] | None = None) -> Source:
    """An input without rows: what planning asks of it, answered without Spark."""
    types = dict(schema)

    def types_of(expressions: Sequence[Expression]) -> list[str]:
        return [type_of(expression, types) for expression in expressions]

    return Source(Schema(tuple(schema)), types_of, args or {}, constant=_constant)


def _constant(expression: Expression) -> object:
    """Tables of functions of labels are asked for as arrays."""
    return evaluate(expression, {}) if isinstance(expression, e.Call) and expression.function == "array" else None


def _fields(type_: str) -> list[tuple[str, str]]:
    return [(name, field) for name, _, field in (part.partition(":") for part in type_[len("struct<") : -1].split(","))]


def _finish_list(node: e.BoundAggregate, listed: e.Column, type_: str) -> Expression:
    """In place of Spark's functions on arrays."""
    return e.Call(f"list {node.function}{' distinct' if node.distinct else ''}", (listed,))


def _sort_key(name: str, descending: bool, nulls_first: bool) -> Callable[[Row], tuple[bool, Any]]:
    # Reversed, a later group comes first.
    null_group = nulls_first == descending

    def key(row: Row) -> tuple[bool, Any]:
        value = row[name]
        if isinstance(value, dict):
            # NULLs in a struct come first.
            value = [(field is not None, field) for field in value.values()]
        return (null_group, 0) if value is None else (not null_group, value)

    return key


def evaluate(expression: Expression, row: Row) -> Any:
    """The value of an expression over the columns of a row."""
    match expression:
        case e.Column(path=path):
            value: Any = row
            for name in path:
                value = None if value is None else value[name]
            return value
        case e.Literal(text=text):
            return _literal(text)
        case e.Operator(symbol=symbol, operands=operands):
            return _operator(symbol, operands, row)
        case e.Case(branches=branches, otherwise=otherwise):
            for condition, value in branches:
                if evaluate(condition, row):
                    return evaluate(value, row)
            return None if otherwise is None else evaluate(otherwise, row)
        case e.Call(
            function="try_add" | "try_subtract" | "try_multiply" | "try_divide" as function, arguments=arguments
        ):
            symbol = {"try_add": "+", "try_subtract": "-", "try_multiply": "*", "try_divide": "/"}[function]
            divisor = evaluate(arguments[1], row)
            return None if symbol == "/" and not divisor else _operator(symbol, arguments, row)
        case e.Call(function="xxhash64", arguments=arguments):
            return zlib.crc32(repr([evaluate(argument, row) for argument in arguments]).encode())
        case e.Call(function=function, arguments=arguments):
            return _call(function, [evaluate(argument, row) for argument in arguments])
        case e.Raw(parts=("CAST(", value, str() as rest)):
            result = evaluate(value, row)  # type: ignore[arg-type]
            return float(result) if "DOUBLE" in rest and result is not None else result
        case e.Raw(parts=("floor(" | "ceil(" as function, value, str() as scale)):
            result = evaluate(value, row)  # type: ignore[arg-type]
            unit = 10 ** int(scale.strip(", )"))
            rounded = math.floor if function == "floor(" else math.ceil
            return None if result is None else rounded(result * unit) / unit if unit > 1 else rounded(result)
        case e.Raw(parts=("least(greatest(", value, *_)):
            return evaluate(value, row)  # type: ignore[arg-type]
        case e.Raw(parts=(str() as text,)) if text.upper().startswith("CAST(NULL"):
            return None
        case e.Raw(parts=(str() as text,)) if text.startswith("__r."):
            return row["__r"][text.removeprefix("__r.")]
        case e.Raw(parts=("transform(", listed, ", __r -> ", body, ")")):
            elements = evaluate(listed, row)  # type: ignore[arg-type]
            return None if elements is None else [evaluate(body, {**row, "__r": one}) for one in elements]  # type: ignore[arg-type]
        case e.Raw(parts=(str(), left, str() as middle, pattern, ")")) if middle.endswith(" LIKE "):
            value, wanted = evaluate(left, row), evaluate(pattern, row)  # type: ignore[arg-type]
            return None if value is None else fnmatch.fnmatchcase(value, wanted.replace("%", "*").replace("_", "?"))
    raise AssertionError(f"the local evaluator does not know {expression!r}")


def type_of(expression: Expression, types: Mapping[str, str]) -> str:
    """The Spark type of an expression."""
    match expression:
        case e.Column(path=(*_, name)):
            return types[name]
        case e.Call(function="named_struct", arguments=arguments):
            pairs = zip(arguments[::2], arguments[1::2], strict=True)
            return f"struct<{','.join(f'{_literal(str(name))}:{type_of(value, types)}' for name, value in pairs)}>"
        case e.Operator(symbol="||"):
            return "string"
        case e.Call(function="upper" | "bin"):
            return "string"
        case e.Call(function="length"):
            return "int"
        case e.Raw(parts=(_, _, str() as middle, *_)) if middle.endswith(" LIKE "):
            return "boolean"
        case e.Literal(text=text):
            value = _literal(text)
            if text.endswith("L"):
                return "bigint"
            return {bool: "boolean", int: "int", float: "double", str: "string"}.get(type(value), "void")
        case e.Operator(symbol="+" | "-" | "*" | "%" | "NEG", operands=operands):
            return _widest([type_of(operand, types) for operand in operands])
        case e.Operator(symbol="/"):
            return "double"
        case e.Operator():
            return "boolean"
        case e.Case(branches=branches, otherwise=otherwise):
            values = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
            return _widest([type_of(value, types) for value in values])
        case e.Call(function="nullif" | "abs", arguments=(first, *_)):
            return type_of(first, types)
        case e.Call(function="to_json" | "struct"):
            return "string"
        case e.Call(function="xxhash64"):
            return "bigint"
        case e.Call(function="if", arguments=(_, *rest)):
            return _widest([type_of(value, types) for value in rest])
        case e.Call(arguments=arguments):
            return _widest([type_of(value, types) for value in arguments])
        case e.Raw(parts=(str() as text,)) if found := re.fullmatch(rf"(coalesce\()?{_NULL}( \S|,) {_NULL}\)?", text):
            left, right = (int(found[2]), int(found[3])), (int(found[5]), int(found[6]))
            common = naive_decimals.common_type(left, right)
            digits, scale = common if found[1] else naive_decimals.result_type(found[4].strip(), left, right)
            return f"decimal({digits},{scale})"
        case e.Raw(parts=(str() as text,)):
            found = re.search(r"AS (\w+)", text)
            assert found
            return found[1].lower()
        case e.Raw(parts=parts) if isinstance(parts[-1], str) and " AS " in parts[-1]:
            found = re.search(r" AS (.+)\)$", parts[-1])
            assert found
            return found[1].lower().replace(" ", "")
    raise AssertionError(f"the local evaluator does not know the type of {expression!r}")


def _widest(types: Sequence[str]) -> str:
    known = [name for name in types if name != "void"]
    if not known:
        return "void"
    return max(known, key=lambda name: _ORDER.index(name) if name in _ORDER else 0)


def _literal(text: str) -> Any:
    upper = text.upper()
    if upper in ("NULL", "TRUE", "FALSE"):
        return {"NULL": None, "TRUE": True, "FALSE": False}[upper]
    if text.startswith("'"):
        return text[1:-1]
    if upper.endswith("D") or "." in text:
        return float(upper.rstrip("D"))
    return int(upper.rstrip("L"))


def _operator(symbol: str, operands: Sequence[Expression], row: Row) -> Any:
    values = [evaluate(operand, row) for operand in operands]
    match symbol:
        case "AND":
            return False if False in values else None if None in values else True
        case "OR":
            return True if True in values else None if None in values else False
        case "NOT":
            return None if values[0] is None else not values[0]
        case "IS NULL":
            return values[0] is None
        case "IS NOT NULL":
            return values[0] is not None
        case "<=>":
            return values[0] == values[1]
        case "IN":
            equal = [None if None in (values[0], option) else values[0] == option for option in values[1:]]
            return True if True in equal else None if None in equal else False
        case "BETWEEN":
            low = None if None in values[:2] else values[0] >= values[1]
            high = None if None in (values[0], values[2]) else values[0] <= values[2]
            return False if False in (low, high) else None if None in (low, high) else True
    if None in values:
        return None
    if symbol == "NEG":
        return -values[0]
    left, right = values
    return {
        "=": lambda: left == right,
        "<>": lambda: left != right,
        "<": lambda: left < right,
        "<=": lambda: left <= right,
        ">": lambda: left > right,
        ">=": lambda: left >= right,
        "||": lambda: left + right,
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left / right,
        "%": lambda: (abs(left) % abs(right)) * (-1 if left < 0 else 1),
    }[symbol]()


def _call(function: str, values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    match function:
        case "coalesce":
            return known[0] if known else None
        case "abs":
            return abs(values[0]) if known else None
        case "least":
            return min(known) if known else None
        case "greatest":
            return max(known) if known else None
        case "nullif":
            return None if values[0] == values[1] else values[0]
        case "if":
            return values[1] if values[0] else values[2]
        case "to_json" | "struct":
            return repr(values)
        case "array":
            return values
        case "named_struct":
            return dict(zip(values[::2], values[1::2], strict=True))
        case "upper":
            return values[0].upper() if known else None
        case "length":
            return len(values[0]) if known else None
        case "bin":
            return f"{values[0]:b}" if known else None
        case "double":
            return float(values[0])
    if function.startswith("list "):
        elements = [value for value in values[0] or [] if value is not None]
        if function.endswith("distinct"):
            elements = list(dict.fromkeys(elements))
        name = function.split()[1]
        if name == "array_agg":
            return elements
        if name == "count":
            return len(elements)
        if name in ("max_by", "min_by"):
            elements = [one for one in elements if one["o"] is not None]
        if not elements or (name.endswith("_samp") and len(elements) < 2):
            return None
        return {
            "sum": lambda: sum(elements),
            "min": lambda: min(elements),
            "max": lambda: max(elements),
            "avg": lambda: sum(elements) / len(elements),
            "bool_and": lambda: min(elements),
            "bool_or": lambda: max(elements),
            "any_value": lambda: elements[0],
            "max_by": lambda: max(elements, key=lambda one: one["o"])["v"],
            "min_by": lambda: min(elements, key=lambda one: one["o"])["v"],
            "stddev_samp": lambda: statistics.stdev(elements),
            "stddev_pop": lambda: statistics.pstdev(elements),
            "var_samp": lambda: statistics.variance(elements),
            "var_pop": lambda: statistics.pvariance(elements),
        }[name]()
    raise AssertionError(f"the local evaluator does not know {function}")
