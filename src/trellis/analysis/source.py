"""What binding and planning may ask of an input and its session. Spark answers; tests answer without Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from trellis.algebra.expression import Expression
from trellis.algebra.functions import FunctionKind
from trellis.algebra.statistics import Question, RowStatistics
from trellis.analysis.schema import Schema

__all__ = ["Constant", "KindsOf", "Source", "Survey", "TypesOf"]

TypesOf: TypeAlias = Callable[[Sequence[Expression]], Sequence[str]]
"""The types of expressions over the input, as Spark's `simpleString`."""

KindsOf: TypeAlias = Callable[[Sequence[Expression]], Sequence[FunctionKind]]
"""What calls over the input are: values of each row, aggregates, or something else."""

Constant: TypeAlias = Callable[[Expression], object]
"""The value of an expression that reads no row; None if it is not known."""

Survey: TypeAlias = Callable[[Question], RowStatistics | str]
"""Statistics of the input, or the reason why there are none."""


@dataclass(frozen=True, slots=True)
class Source:
    """An input, and the session that it belongs to.

    `functions` are the functions of whole segments that users registered, with their numbers of arguments; `parameters`
    the values of `:name`. `is_registered` says whether a function of rows is not one of Spark's own, `is_function`
    whether there is a function of a name at all, and `function_names` all their names. `lenient` is
    Spark without ANSI mode. A stream has a `watermark`: the column of event times that it follows.
    """

    schema: Schema
    types_of: TypesOf
    parameters: Mapping[str, object] = field(default_factory=dict)
    constant: Constant = lambda _: None
    survey: Survey = lambda _: "statistics are off"
    is_registered: Callable[[str], bool] = lambda _: False
    functions: Mapping[str, int] = field(default_factory=dict)
    lenient: bool = False
    is_function: Callable[[str], bool] = lambda _: False
    function_names: Callable[[], Collection[str]] = lambda: ()  # not known
    watermark: str | None = None
    kinds_of: KindsOf = lambda calls: [FunctionKind.SCALAR] * len(calls)
