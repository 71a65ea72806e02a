"""What segment operators cost, in nanoseconds. `benchmarks/calibrate.py` measures these constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trellis.algebra.segments import Function, SegmentCondition

__all__ = ["DEFAULT_COSTS", "Costs", "FunctionCost"]


@dataclass(frozen=True, slots=True)
class FunctionCost:
    """A function from rows (`fixed` + `row` * rows + `square` * rows²) and from an index (`build` a row, `lookup`)."""

    fixed: float
    row: float
    square: float = 0.0
    build: float = 0.0
    lookup: float = 0.0
    per_length: bool = False


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds for the steps of operators.

    For lists: `pair` to make a pair, `sort` to bring one into order, `merge` to compare one, `link` to follow one to
    the next, `probe` for a row that is looked up. For bands: `word` to pass over one, `bit` to set or list one, `shift`
    for a shift and an OR. `test` is a condition, `read` a value of a row in it; `call` the start of any operator.
    """

    pair: float
    test: float
    read: float
    sort: float
    merge: float
    link: float
    probe: float
    word: float
    bit: float
    shift: float
    call: float
    functions: Mapping[str, FunctionCost] = field(default_factory=dict)

    def condition(self, condition: SegmentCondition, rows: float, index: bool) -> float:
        """Nanoseconds for one segment of so many rows."""
        cost = self.test
        for value in condition.values:
            cost += self.read
            if isinstance(value, Function) and value.name in self.functions:
                function = self.functions[value.name]
                if index and function.lookup:
                    cost += function.lookup
                else:
                    cost += function.fixed + function.row * rows + function.square * rows * rows
        return cost

    def build(self, condition: SegmentCondition, rows: float, lengths: float) -> float:
        """Nanoseconds for the indexes of a condition over so many rows, for segments of so many different lengths."""
        cost = 0.0
        for value in condition.values:
            if isinstance(value, Function) and value.name in self.functions:
                function = self.functions[value.name]
                cost += function.build * rows * (lengths if function.per_length else 1.0)
        return cost


_REGRESSION = FunctionCost(fixed=8.0, row=3.0, build=30.0, lookup=14.0)
_SPREAD = FunctionCost(fixed=6.0, row=2.5, build=30.0, lookup=10.0)
_EXTREME = FunctionCost(fixed=5.0, row=1.0, build=40.0, lookup=8.0)

DEFAULT_COSTS = Costs(
    pair=2.0,
    test=6.0,
    read=3.0,
    sort=60.0,
    merge=4.0,
    link=3.0,
    probe=8.0,
    word=1.0,
    bit=3.0,
    shift=3.0,
    call=30_000.0,
    functions={
        "linear_regression_r2": _REGRESSION,
        "linear_regression_r2_signed": _REGRESSION,
        "linear_regression_slope": _REGRESSION,
        "corr": _REGRESSION,
        "sum": _SPREAD,
        "avg": _SPREAD,
        "var_samp": _SPREAD,
        "var_pop": _SPREAD,
        "stddev_samp": _SPREAD,
        "stddev_pop": _SPREAD,
        "min": _EXTREME,
        "max": _EXTREME,
        "mann_kendall_test": FunctionCost(fixed=10.0, row=2.0, square=0.5, build=7.0, lookup=6.0, per_length=True),
    },
)
