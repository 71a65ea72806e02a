"""Expressions over a DataFrame. Their text is Spark's, so all of Spark's functions work, registered ones too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from trellis.algebra import expression as e
from trellis.algebra.expression import Expression
from trellis.errors import BindingError, QuerySyntaxError, TrellisError

__all__ = ["Session", "has_subquery", "refused"]


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
        # Each call of a method of Spark's goes to another process, so a text is quicker than columns.
        return frame.selectExpr(*columns)

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


def refused(problem: PySparkException) -> TrellisError:
    """Spark's refusal of a text, as an error of Trellis, without the plan and the stack that Spark appends."""
    message = str(problem)
    if isinstance(problem, (AnalysisException, ParseException)):
        message = re.split(r"\n== SQL|;\n'|\n'|\n\nJVM stacktrace", message)[0].strip()
    message = re.sub(r" SQLSTATE: \w+", "", message)
    kind = QuerySyntaxError if isinstance(problem, ParseException) else BindingError
    return kind(f"Spark does not accept this: {message}")


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


# Strings, quoted names and comments, in which braces mean nothing; then placeholders; then single braces.
_BRACES = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/|\{(?P<name>\w+)\}|[{}]""", re.DOTALL
)
_QUERY = re.compile(r"\(\s*(SELECT|WITH|FROM|VALUES|TABLE)\b", re.IGNORECASE)


def _quoted(name: str) -> str:
    return name.replace("`", "``")
