"""Aggregates that Spark computes from the array of values, with its own functions on arrays."""

from __future__ import annotations

import re

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression

__all__ = ["can_list", "finish_list"]

_LISTED = frozenset(
    "any any_value approx_count_distinct array_agg avg bool_and bool_or collect_list collect_set count every listagg "
    "max mean median min percentile product some string_agg sum".split()
)


def can_list(node: e.BoundAggregate) -> bool:
    """Whether functions on arrays compute an aggregate; for the others Spark groups rows."""
    if node.order or node.nulls or node.function not in _LISTED:
        return False
    if node.function == "percentile":
        return len(node.arguments) == 2 and isinstance(node.arguments[1], e.Literal)
    return node.function != "any_value" or len(node.arguments) == 1


# Whether it is that of a sample, and whether the root is taken.
_SPREADS = {
    "std": (True, True),
    "stddev": (True, True),
    "stddev_samp": (True, True),
    "stddev_pop": (False, True),
    "variance": (True, False),
    "var_samp": (True, False),
    "var_pop": (False, False),
}


def finish_list(node: e.BoundAggregate, listed: Expression, type_: str) -> Expression:
    """The aggregate over an array of its values, NULLs included. `type_` is Spark's name of the element type."""
    values = f"filter({listed}, v -> v IS NOT NULL)"
    if node.distinct or node.function == "collect_set":
        values = f"array_distinct({values})"
    some = f"size({values}) > 0"
    match node.function:
        case "array_agg" | "collect_list" | "collect_set":
            return e.Raw((values,))
        case "count":
            return e.Raw((f"CAST(size({values}) AS BIGINT)",))
        case "approx_count_distinct":
            return e.Raw((f"CAST(size(array_distinct({values})) AS BIGINT)",))
        case "any_value":
            return e.Raw((f"CASE WHEN {some} THEN {values}[0] END",))
        case "listagg" | "string_agg":
            separator = node.arguments[1] if len(node.arguments) > 1 else e.Literal("''")
            return e.Raw((f"CASE WHEN {some} THEN array_join({values}, ", separator, ") END"))
        case "min" | "bool_and" | "every":
            return e.Raw((f"array_min({values})",))
        case "max" | "bool_or" | "any" | "some":
            return e.Raw((f"array_max({values})",))
        case "sum":
            return e.Raw((f"CASE WHEN {some} THEN {_sum(values, type_)} END",))
        case "avg" | "mean":
            return e.Raw((f"CASE WHEN {some} THEN {_average(values, type_)} END",))
        case "product":
            product = f"aggregate({values}, CAST(1 AS DOUBLE), (a, v) -> a * CAST(v AS DOUBLE))"
            return e.Raw((f"CASE WHEN {some} THEN {product} END",))
        case "max_by" | "min_by":
            # Structs of the order `o` and the value `v`.
            extreme = "array_max" if node.function == "max_by" else "array_min"
            return e.Raw((f"{extreme}(filter({values}, v -> v.o IS NOT NULL)).v",))
        case function if function in _SPREADS:
            sample, root = _SPREADS[function]
            return e.Raw((f"CASE WHEN size({values}) > {int(sample)} THEN {_spread(values, sample, root)} END",))
        case "median":
            return _percentile(values, some, e.Literal("0.5D"))
        case "percentile":
            return _percentile(values, some, node.arguments[1])
        case function:
            raise AssertionError(function)


def _sum_type(type_: str) -> str:
    decimal = re.fullmatch(r"decimal\((\d+),(-?\d+)\)", type_)
    if decimal:
        return f"DECIMAL({min(38, int(decimal[1]) + 10)}, {decimal[2]})"
    if type_ in ("tinyint", "smallint", "int", "bigint"):
        return "BIGINT"
    return type_ if type_.startswith("interval") else "DOUBLE"


def _sum(values: str, type_: str) -> str:
    total = _sum_type(type_)
    if total.startswith("interval"):
        return f"aggregate(slice({values}, 2, size({values})), {values}[0], (a, v) -> a + v)"
    return f"aggregate({values}, CAST(0 AS {total}), (a, v) -> CAST(a + v AS {total}))"


def _average(values: str, type_: str) -> str:
    decimal = re.fullmatch(r"decimal\((\d+),(-?\d+)\)", type_)
    if decimal:
        result = f"DECIMAL({min(38, int(decimal[1]) + 4)}, {min(38, int(decimal[2]) + 4)})"
        return f"CAST({_sum(values, type_)} / size({values}) AS {result})"
    return f"{_sum(values, type_)} / size({values})"


def _spread(values: str, sample: bool, root: bool) -> str:
    """Variance or standard deviation in one pass: count, mean and sum of squared differences (Welford)."""
    start = "named_struct('n', 0D, 'm', 0D, 's', 0D)"
    mean = "a.m + (v - a.m) / (a.n + 1D)"
    squares = "a.s + (v - a.m) * (v - a.m) * a.n / (a.n + 1D)"
    step = f"(a, v) -> named_struct('n', a.n + 1D, 'm', {mean}, 's', {squares})"
    variance = f"a.s / (a.n - {int(sample)}D)"
    return f"aggregate({values}, {start}, {step}, a -> {f'sqrt({variance})' if root else variance})"


def _percentile(values: str, some: str, share: Expression) -> Expression:
    """Linear interpolation between the two nearest ranks, as Spark's `percentile` does."""
    ranked = f"sort_array({values})"
    position = e.Raw((f"((size({values}) - 1) * CAST(", share, " AS DOUBLE))"))
    low = e.Raw((f"CAST({ranked}[CAST(floor(", position, ") AS INT)] AS DOUBLE)"))
    high = e.Raw((f"CAST({ranked}[CAST(ceil(", position, ") AS INT)] AS DOUBLE)"))
    part = e.Raw(("(", position, " - floor(", position, "))"))
    return e.Raw((f"CASE WHEN {some} THEN ", low, " + ", part, " * (", high, " - ", low, ") END"))
