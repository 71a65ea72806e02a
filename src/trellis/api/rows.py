"""Row patterns and segments in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame

from trellis.algebra.query import Query
from trellis.api.session import Args
from trellis.errors import TrellisError
from trellis.languages.builder import Keys as TextKeys
from trellis.languages.builder import QueryBuilder, build
from trellis.languages.pieces import point_into_piece
from trellis.planned import errors_about, explain_all, plan_on, warm
from trellis.planning.hints import Hints
from trellis.reasons.ask import why_on
from trellis.reasons.report import Why
from trellis.spark.inputs import Rows, frame_of
from trellis.spark.keys import Keys, key_texts, plain_texts
from trellis.spark.session import Session
from trellis.spark.worker_python import require_worker_python

__all__ = ["RowPattern", "pattern"]


@dataclass(frozen=True, slots=True, repr=False)
class RowPattern(QueryBuilder):
    """A pattern query that can be used on any DataFrame. Immutable: each step returns a new one."""

    def match(
        self, frame: Rows, partition_by: Keys = None, order_by: Keys = None, hints: Args | None = None
    ) -> DataFrame:
        """Find the pattern in a DataFrame; made for `df.transform`.

        Parameters
        ----------
        frame : DataFrame
            Of Spark; or of pandas, or a table of Arrow, which the active session then reads.
        partition_by, order_by : str, Column, or list of these, optional
            SQL texts, such as "ts DESC, id", or Columns, such as `F.col("ts").desc()`.
        hints : mapping, optional
            Options of planning and running; see `trellis.planning.hints.Hints`.

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
        frame = frame_of("the first argument of match", frame)
        keys = key_texts(partition_by, frame), key_texts(order_by, frame)
        query = QueryBuilder.query(self, *keys)
        with self._errors_about(*keys), warm(query):
            planned = plan_on(query, frame, Session(frame.sparkSession), Hints.of(hints))
            require_worker_python(frame.sparkSession)
            return planned.run()

    def explain(
        self,
        frame: Rows,
        partition_by: Keys = None,
        order_by: Keys = None,
        hints: Args | None = None,
        analyze: bool = False,
    ) -> str:
        """Say how the pattern would be found in a DataFrame; as `trellis.explain`."""
        frame = frame_of("the first argument of explain", frame)
        keys = key_texts(partition_by, frame), key_texts(order_by, frame)
        query = QueryBuilder.query(self, *keys)
        with self._errors_about(*keys), warm(query):
            planned = plan_on(query, frame, Session(frame.sparkSession), Hints.of(hints), counted=analyze)
            result = planned.run() if analyze else None
        return explain_all([planned], result)

    def why(
        self,
        frame: Rows,
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
        frame = frame_of("the first argument of why", frame)
        keys = key_texts(partition_by, frame), key_texts(order_by, frame)
        query = QueryBuilder.query(self, *keys)
        with self._errors_about(*keys), warm(query):
            session = Session(frame.sparkSession)
            return why_on(query, frame, session, Hints.of(hints), sample=sample, nearest=nearest)

    @contextmanager
    def _errors_about(self, *keys: TextKeys) -> Iterator[None]:
        """Errors show the piece that they are about, not the whole text, which the user never wrote."""
        whole = QueryBuilder.text(self, *keys)
        try:
            with errors_about(whole):
                yield
        except TrellisError as error:
            if error.text == whole:
                point_into_piece(error, self._pieces(*keys))
            raise

    def query(self, partition_by: Keys = None, order_by: Keys = None) -> Query:
        """The query, checked; Columns among the keys must be names, perhaps with an order.

        Examples
        --------
        >>> import trellis as tr
        >>> print(tr.pattern("A B").query(order_by="ts DESC").order_by[0])
        ts DESC NULLS LAST
        """
        return QueryBuilder.query(self, plain_texts(partition_by), plain_texts(order_by))

    def text(self, partition_by: Keys = None, order_by: Keys = None) -> str:
        """The query as the body of a MATCH_RECOGNIZE clause.

        Examples
        --------
        >>> import trellis as tr
        >>> print(tr.pattern("A B").text(order_by=["ts DESC", "id"]))
        ORDER BY ts DESC, id
        PATTERN (A B)
        """
        return QueryBuilder.text(self, plain_texts(partition_by), plain_texts(order_by))


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
