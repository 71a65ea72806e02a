"""Expressions over a DataFrame. Their text is Spark's, so all of Spark's functions work, registered ones too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.algebra.functions import FunctionKind
from trellis.spark.quiet import unlogged
from trellis.spark.refusals import refused

__all__ = ["Session", "has_subquery"]


@dataclass(frozen=True, slots=True)
class Session:
    """Where expressions are evaluated: the Spark session, the parameters, and the names a statement can see.

    `ctes` is the text of the WITH list in scope, `frames` are the DataFrames behind `{name}`.
    """

    spark: SparkSession
    args: Mapping[str, object] = field(default_factory=dict)
    frames: Mapping[str, DataFrame] = field(default_factory=dict)
    ctes: str = ""

    def run(self, text: str, **frames: DataFrame) -> DataFrame:
        """A statement, with `{name}` for DataFrames; braces that are not such a name stay as they are."""
        known = {**self.frames, **frames}
        used: dict[str, DataFrame] = {}

        def settle(found: re.Match[str]) -> str:
            if found["name"] in known:
                used[found["name"]] = known[found["name"]]
                return found[0]
            return found[0].replace("{", "{{").replace("}", "}}")

        escaped = _BRACES.sub(settle, text)
        args = {name: value for name, value in self.args.items() if re.search(rf":{name}\b", text)}
        if not used:
            return self.spark.sql(text, args=args or None)
        return self.spark.sql(escaped, args=args or None, **used)

    def project(self, frame: DataFrame, expressions: Sequence[tuple[str, Expression]]) -> DataFrame:
        """A DataFrame of named expressions over the columns of another one."""
        columns = [f"{expression} AS `{_quoted(name)}`" for name, expression in expressions]
        if any(_needs_statement(expression) for _, expression in expressions):
            return self.run(f"{self.ctes} SELECT {', '.join(columns)} FROM {{trellis_input}}", trellis_input=frame)
        # Each method call goes to the JVM, so one text is quicker than many columns.
        return frame.selectExpr(*columns)

    def group(self, frame: DataFrame, key: str, aggregates: Sequence[tuple[str, Expression]]) -> DataFrame:
        """A DataFrame of named aggregates over the rows of another one that have the same key, beside that key."""
        columns = [f"{aggregate} AS `{_quoted(name)}`" for name, aggregate in aggregates]
        if any(_needs_statement(aggregate) for _, aggregate in aggregates):
            text = f"{self.ctes} SELECT {key}, {', '.join(columns)} FROM {{trellis_input}} GROUP BY {key}"
            return self.run(text, trellis_input=frame)
        return frame.groupBy(key).agg(*map(F.expr, columns))

    def where(self, frame: DataFrame, condition: Expression) -> DataFrame:
        """The rows of a DataFrame for which a condition is true."""
        if _needs_statement(condition):
            return self.run(f"{self.ctes} SELECT * FROM {{trellis_input}} WHERE {condition}", trellis_input=frame)
        return frame.where(str(condition))

    def constant(self, expression: Expression) -> object:
        """The value of an expression that reads no row."""
        if isinstance(expression, e.Parameter) and expression.name in self.args:
            return self.args[expression.name]
        return self.run(f"{self.ctes} SELECT {expression}").collect()[0][0]

    def is_registered(self, function: str) -> bool:
        """Whether a function is not one of Spark's own."""
        try:
            found = self.spark.catalog.getFunction(function)
        except PySparkException:
            # There is none, or its name is syntax: Spark says what it thinks of that when it sees the query.
            return False
        return not (found.className or "").startswith("org.apache.spark.sql.catalyst.expressions.")

    def has_function(self, function: str) -> bool:
        """Whether there is a function of a name."""
        try:
            return self.spark.catalog.functionExists(function)
        except PySparkException:
            return True  # its name is syntax: Spark says what it thinks of that

    def functions(self) -> Sequence[str]:
        """The names of all functions."""
        return [row[0] for row in self.spark.sql("SHOW FUNCTIONS").collect()]

    def types_of(self, frame: DataFrame, expressions: Sequence[Expression]) -> Sequence[str]:
        """The types of expressions over a DataFrame, without running anything."""
        known: dict[Expression, str] = {
            e.Column((column.name,)): column.dataType.simpleString() for column in frame.schema
        }
        asked = [expression for expression in expressions if expression not in known]
        if asked:
            read = {node.path for asking in asked for node in e.walk(asking) if isinstance(node, e.Column)}
            if any("__row" in path for path in read):
                frame = frame.withColumn("__row", F.lit(0))
            if any(len(path) > 1 for path in read):
                # A function of two rows: the first one stands in a struct.
                frame = frame.withColumn("__first", F.struct("*"))
            known.update(zip(asked, self._ask_types(frame, asked), strict=True))
        return [known[expression] for expression in expressions]

    def kinds_of(self, frame: DataFrame, expressions: Sequence[Expression]) -> Sequence[FunctionKind]:
        """What Spark makes of expressions over a DataFrame: values of each row, aggregates, or something else.

        Analysis only, nothing runs. In WHERE only values of single rows are accepted, so many are asked about at once.
        """
        tests = [e.Operator("IS NULL", (e.Raw(("(", expression, ")")),)) for expression in expressions]
        if len(tests) > 1 and self._kind(frame, e.Operator("AND", tuple(tests))) is FunctionKind.SCALAR:
            return [FunctionKind.SCALAR] * len(tests)
        return [self._kind(frame, test) for test in tests]

    def _kind(self, frame: DataFrame, condition: Expression) -> FunctionKind:
        try:
            with unlogged():
                # Over Spark Connect a filter takes the columns of its input for granted: a projection is analysed.
                kept = self.where(frame, condition).select("*").columns
        except PySparkException as problem:
            refusal = (problem.getCondition() or "").split(".")[0]
            return _KINDS.get(refusal, FunctionKind.REFUSED)
        # A window of time adds a column, drops rows, and makes several of one where windows overlap.
        return FunctionKind.SCALAR if kept == frame.columns else FunctionKind.GENERATOR

    def _ask_types(self, frame: DataFrame, expressions: Sequence[Expression]) -> Sequence[str]:
        named = [(f"__t{number}", expression) for number, expression in enumerate(expressions)]
        try:
            schema: StructType = self.project(frame, named).schema
        except PySparkException as problem:
            for expression in expressions:
                self._require(frame, expression)
            raise refused(problem) from problem
        return [column.dataType.simpleString() for column in schema]

    def _require(self, frame: DataFrame, expression: Expression) -> None:
        """Find the expression that Spark refuses, to show where it stands."""
        try:
            _ = self.project(frame, [("__t", expression)]).schema
        except PySparkException as problem:
            error = refused(problem)
            error.span = next((node.span for node in e.walk(expression) if node.span is not None), None)
            raise error from problem

    def within(self, ctes: str) -> Session:
        """The same session where other names of a WITH list are in scope."""
        return replace(self, ctes=ctes)


def has_subquery(expression: Expression) -> bool:
    """Whether it reads another table."""
    return any(
        isinstance(part, str) and _QUERY.search(part)
        for node in e.walk(expression)
        if isinstance(node, e.Raw)
        for part in node.parts
    )


def _needs_statement(expression: Expression) -> bool:
    """Whether only a statement can hold it: parameters and subqueries."""
    return has_subquery(expression) or any(isinstance(node, e.Parameter) for node in e.walk(expression))


# Why Spark refuses a condition of WHERE, and what stands in it then.
_KINDS = {
    "INVALID_WHERE_CONDITION": FunctionKind.AGGREGATE,
    "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE": FunctionKind.WINDOW,
    "UNSUPPORTED_GENERATOR": FunctionKind.GENERATOR,
}
# Strings, quoted names and comments, in which braces mean nothing; then placeholders; then single braces.
_BRACES = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/|\{(?P<name>\w+)\}|[{}]""", re.DOTALL
)
_QUERY = re.compile(r"\(\s*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)


def _quoted(name: str) -> str:
    return name.replace("`", "``")
