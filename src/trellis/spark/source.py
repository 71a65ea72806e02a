"""A DataFrame as planning sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField

from trellis.analysis.schema import Schema
from trellis.analysis.source import Source
from trellis.spark.session import Session
from trellis.spark.statistics import survey_source
from trellis.spark.stream import watermark_of

__all__ = ["is_padded", "source_of"]


def source_of(
    frame: DataFrame, session: Session, functions: Mapping[str, int], qualifier: tuple[str, ...] = ()
) -> Source:
    """What planning may ask of a DataFrame.

    `functions` are the registered functions of segments, `qualifier` is what may stand before columns in keys.
    """
    conf = session.spark.conf
    columns = tuple((field.name, field.dataType.simpleString()) for field in frame.schema)
    padded = frozenset(field.name for field in frame.schema if is_padded(field))
    lengths = tuple((field.name, length) for field in frame.schema if (length := _length(field)) is not None)
    return Source(
        schema=Schema(columns, conf.get("spark.sql.caseSensitive", "false") == "true", qualifier, padded, lengths),
        types_of=partial(session.types_of, frame),
        kinds_of=partial(session.kinds_of, frame),
        parameters=session.args,
        constant=session.constant,
        survey=partial(survey_source, frame, session),
        watermark=watermark_of(frame) if frame.isStreaming else None,
        is_registered=session.is_registered,
        is_function=session.has_function,
        function_names=session.functions,
        functions=functions,
        lenient=conf.get("spark.sql.ansi.enabled", "true") != "true",
    )


def _length(field: StructField) -> int | None:
    """The length of a column of type CHAR."""
    found = re.fullmatch(r"char\((\d+)\)", str(field.metadata.get("__CHAR_VARCHAR_TYPE_STRING", "")))
    return int(found[1]) if found else None


def is_padded(field: StructField) -> bool:
    """Whether a column, or a field of it, is of type CHAR: Spark shows it as STRING, and says so in the metadata."""
    return '"char(' in field.json()
