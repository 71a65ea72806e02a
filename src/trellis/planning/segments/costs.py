"""What segment operators cost, in nanoseconds, on the machine where `benchmarks/calibration` measured it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path

from trellis.algebra.segments import Function, SegmentCondition
from trellis.errors import BindingError

__all__ = ["Costs", "FunctionCost", "default_costs", "read_costs"]


@dataclass(frozen=True, slots=True)
class FunctionCost:
    """A function from rows (`fixed` + `row` * rows + `square` * rows²) and from an index (`build` a row, `lookup`).

    `per_length`: the index is a table, with an entry for each row and each length. `scanned`: a comparison with a
    constant is space up for whole ranges at once.
    """

    fixed: float
    row: float
    square: float = 0.0
    build: float = 0.0
    lookup: float = 0.0
    per_length: bool = False
    scanned: bool = False


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds for the steps of operators.

    For lists: `pair` to make or keep a pair, `sort` to bring one into order, `merge` to compare one, `link` to follow
    one to the next, `probe` to note where the other side may be. For bands: `word` to pass over one, `bit` to set or
    list one, `shift` for a shift and an OR. Conditions: `step` for one that compares first and last values, `test` for
    others, `read` for each value in these. `row` for each row that an operator prepares, `copy` for each that is taken
    out of the others, `call` for any operator.
    """

    pair: float
    step: float
    test: float
    read: float
    sort: float
    merge: float
    link: float
    probe: float
    word: float
    bit: float
    shift: float
    row: float
    copy: float
    call: float
    functions: Mapping[str, FunctionCost] = field(default_factory=dict)

    def condition(self, condition: SegmentCondition, rows: float, index: bool, *, first: bool = False) -> float:
        """Nanoseconds for one segment of so many rows; the `first` condition of a generator may be a scan."""
        threshold = condition.threshold
        if (
            first
            and threshold is not None
            and (threshold.step in ("-", "/") or (threshold.step == "row" and rows <= 1))
        ):
            return self.step
        cost = self.test + self.pair
        for value in condition.values:
            cost += self.read
            if isinstance(value, Function) and value.name in self.functions:
                function = self.functions[value.name]
                if index and first and threshold is not None and function.scanned:
                    return function.lookup
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

    def to_json(self) -> str:
        """The constants as text, for a file."""
        plain = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "functions"}
        functions = {
            name: {item.name: getattr(cost, item.name) for item in fields(cost)}
            for name, cost in self.functions.items()
        }
        return json.dumps({**plain, "functions": functions}, indent=2) + "\n"


def read_costs(text: str) -> Costs:
    """The constants of a file."""
    try:
        values = json.loads(text)
        functions = {name: FunctionCost(**cost) for name, cost in values.pop("functions", {}).items()}
        return Costs(**values, functions=functions)
    except (ValueError, TypeError, AttributeError) as problem:
        raise BindingError(
            f"The file of costs cannot be read: {problem}.",
            cure="Write it with `python -m benchmarks calibration.segments --write FILE`.",
        ) from problem


def default_costs(path: str | None = None) -> Costs:
    """The constants of a file, or those that come with Trellis."""
    source = files("trellis.planning.segments").joinpath("costs.json") if path is None else Path(path)
    return read_costs(source.read_text(encoding="utf-8"))
