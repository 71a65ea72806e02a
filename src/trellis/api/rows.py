"""Row patterns and segments in Python."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from trellis.api.session import Args
from trellis.languages.builder import Keys, QueryBuilder, build
from trellis.planned import errors_about, explain_all, plan_on, warm
from trellis.planning.hints import Hints
from trellis.reasons.ask import why_on
from trellis.reasons.report import Why
from trellis.spark.session import Session
from trellis.spark.worker_python import require_worker_python

__all__ = ["RowPattern", "pattern"]


@dataclass(frozen=True, slots=True)
class RowPattern(QueryBuilder):
    """A pattern query that can be used on any DataFrame. Immutable: each step returns a new one."""

    def match(
        self, frame: DataFrame, partition_by: Keys = None, order_by: Keys = None, hints: Args | None = None
    ) -> DataFrame:
        """Find the pattern in a DataFrame; made for `df.transform`.

        Examples
        --------
        >>> import trellis as tr
        >>> ticks = spark.createDataFrame([(1, 9.0), (2, 7.0), (3, 8.0)], "ts int, price double")
        >>> v_shape = (
        ...     tr.pattern("A DOWN+ UP+")
        ...     .define(DOWN="price < prev(price)", UP="price > prev(price)")
        ...     .measures(low="min(DOWN.price)")
        ... )
        >>> ticks.transform(v_shape.match, order_by="ts").collect()
        [Row(low=7.0)]
        """
        query = self.query(partition_by, order_by)
        with errors_about(self.text(partition_by, order_by)), warm(query):
            planned = plan_on(query, frame, Session(frame.sparkSession), Hints.of(hints))
            require_worker_python(frame.sparkSession)
            return planned.run()

    def explain(
        self,
        frame: DataFrame,
        partition_by: Keys = None,
        order_by: Keys = None,
        hints: Args | None = None,
        analyze: bool = False,
    ) -> str:
        """Say how the pattern would be found in a DataFrame; as `trellis.explain`."""
        query = self.query(partition_by, order_by)
        with errors_about(self.text(partition_by, order_by)), warm(query):
            planned = plan_on(query, frame, Session(frame.sparkSession), Hints.of(hints), counted=analyze)
            result = planned.run() if analyze else None
        return explain_all([planned], result)

    def why(
        self,
        frame: DataFrame,
        partition_by: Keys = None,
        order_by: Keys = None,
        hints: Args | None = None,
        sample: int | None = None,
        nearest: int = 3,
    ) -> Why:
        """Say why the pattern is not found in a DataFrame, or what fails beside what is found; as `trellis.why`.

        Examples
        --------
        >>> import trellis as tr
        >>> clicks = spark.createDataFrame([(1, "cart"), (2, "purchase")], "at int, type string")
        >>> bought = tr.pattern("C P").define(C="type = 'cart'", P="type = 'Purchase'")
        >>> [(step.text, step.count) for step in bought.why(clicks, order_by="at").funnel]
        [('C', 1), ('P', 0)]
        """
        query = self.query(partition_by, order_by)
        with errors_about(self.text(partition_by, order_by)), warm(query):
            session = Session(frame.sparkSession)
            return why_on(query, frame, session, Hints.of(hints), sample=sample, nearest=nearest)


def pattern(text: str) -> RowPattern:
    """Start a pattern query in Python.

    Examples
    --------
    >>> import trellis as tr
    >>> p = tr.pattern("A B+").define(B="price > prev(price)")
    >>> str(p.query(order_by="ts").pattern)
    'A B+'
    """
    build(text)
    return RowPattern(text)
