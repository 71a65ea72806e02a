"""Rows of a result as texts for the page, made by Spark."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, NumericType, StructType

__all__ = ["MOST_ROWS", "rows_of"]

MOST_ROWS = 1_000
_WIDEST = 400


def rows_of(result: DataFrame) -> dict[str, Any]:
    """The first rows as texts, None for NULL; how many rows there are, and which columns hold numbers."""
    numbered = result.toDF(*(f"c{number}" for number in range(len(result.columns))))
    fields = list(zip(numbered.columns, result.schema, strict=True))
    texts = numbered.select(*(_text(name, one.dataType).alias(name) for name, one in fields))
    table = texts.limit(MOST_ROWS + 1).toArrow()
    columns = [column.to_pylist() for column in table.columns]
    rows = [list(row) for row in zip(*columns, strict=True)][:MOST_ROWS]
    total = table.num_rows if table.num_rows <= MOST_ROWS else result.count()
    return {
        "columns": [
            {"name": one.name, "type": one.dataType.simpleString(), "number": isinstance(one.dataType, NumericType)}
            for _, one in fields
        ],
        "rows": rows,
        "total": total,
    }


def _text(name: str, kind: DataType) -> Column:
    if isinstance(kind, BinaryType):
        text = F.hex(name)
    elif isinstance(kind, ArrayType | MapType | StructType):
        text = F.to_json(name)
    else:
        text = F.col(name).cast("string")
    return F.substring(text, 1, _WIDEST)
