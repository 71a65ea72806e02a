"""The first part of a plan: rows are dropped, projected, exchanged and sorted, until a search can read them."""

from __future__ import annotations

import re
from collections import Counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from trellis.algebra import expression as e
from trellis.algebra.plan import Plan
from trellis.spark.counts import Counts
from trellis.spark.neighbours import sort_and_keep
from trellis.spark.pairs import add_pairs, sort_column
from trellis.spark.prefilter import apply_prefilter
from trellis.spark.row_slices import add_row_slices
from trellis.spark.session import Session
from trellis.spark.slices import add_slices

__all__ = ["prepare", "project_input"]


def prepare(plan: Plan, frame: DataFrame, session: Session, counts: Counts | None = None) -> DataFrame:
    """The columns that the search reads, of the rows that it must see, series by series in order."""
    frame = _drop_rows(plan, frame, session)
    if counts is not None:
        named = [(f"__k{number}", key) for number, key in enumerate((*plan.partition_keys, *plan.order_keys))]
        counts.count_ties(session.project(frame, named))
    projected = _project(plan, frame, session)
    if counts is not None and plan.neighbours is None:
        projected = counts.watch(projected, "rows in")
    slices, spec = plan.before.slices, plan.scan.slices
    if slices is not None and spec is not None:
        if slices.rows is None:
            projected = add_slices(projected, slices, spec)
        else:
            projected = add_row_slices(projected, slices, spec, plan.scan.keys[:-1])
    keys = [F.col(name) for name in plan.scan.keys]
    exchanged = projected.repartition(*keys) if keys else projected.repartition(1)
    if plan.neighbours is not None:
        kept = sort_and_keep(exchanged, plan, session)
        return kept if counts is None else counts.watch(kept, "rows in")
    order = [sort_column(*key) for key in plan.sorted_by]
    return (exchanged.sortWithinPartitions(*order) if order else exchanged).select(*plan.shipped)


def project_input(plan: Plan, frame: DataFrame, session: Session) -> DataFrame:
    """The columns of a plan, of the rows that nothing drops before the exchange."""
    return _project(plan, _drop_rows(plan, frame, session), session)


def _drop_rows(plan: Plan, frame: DataFrame, session: Session) -> DataFrame:
    before = plan.before
    if before.prefilter is not None:
        frame = apply_prefilter(frame, before.prefilter, _read_names(plan, frame), session)
    if before.keep is not None:
        frame = session.where(frame, before.keep)
    return frame


def _project(plan: Plan, frame: DataFrame, session: Session) -> DataFrame:
    if plan.pairs is not None:
        frame = add_pairs(frame, plan.pairs, session)
    return session.project(frame, plan.projected)


def _read_names(plan: Plan, frame: DataFrame) -> list[str]:
    """The columns that are read after the prefilter: columns that nobody reads may have one name."""
    if plan.pairs is not None:
        return frame.columns
    expressions = [expression for _, expression in plan.projected]
    expressions += [*plan.partition_keys, *([] if plan.before.keep is None else [plan.before.keep])]
    read = {node.path[0] for expression in expressions for node in e.walk(expression) if isinstance(node, e.Column)}
    texts = [
        part
        for expression in expressions
        for node in e.walk(expression)
        if isinstance(node, e.Raw)
        for part in node.parts
        if isinstance(part, str)
    ]
    # Text that only Spark understands may name columns, too; but none that has its name twice.
    names = Counter(name.lower() for name in frame.columns)

    def is_named(name: str) -> bool:
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        return names[name.lower()] == 1 and any(word.search(text) for text in texts)

    return [name for name in frame.columns if name in read or is_named(name)]
