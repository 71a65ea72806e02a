"""Compressed matches, listed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, StructField, StructType

from trellis.errors import BindingError
from trellis.execution.events.decompress import Decompress

__all__ = ["decompress_matches"]


def decompress_matches(frame: DataFrame) -> DataFrame:
    """A row for each match: what stood beside the graph, then a column for each variable."""
    schema = frame.schema
    nodes, edges = schema["nodes"] if "nodes" in schema.names else None, "edges" in schema.names
    kind = None if nodes is None else nodes.dataType
    if not edges or not isinstance(kind, ArrayType) or not isinstance(kind.elementType, StructType):
        raise BindingError(
            "The DataFrame holds no compressed matches: it has no columns nodes and edges.",
            cure="Pass the result of trellis.sase(..., compressed=True).",
        )
    carried = [field for field in schema if field.name not in ("matches", "nodes", "edges")]
    taken = {field.name.lower() for field in carried}
    for field in kind.elementType:
        if field.name.lower() in taken:
            raise BindingError(
                f"The result would have two columns {field.name}: there is a component of this name.",
                cure=f"Rename the column first: withColumnRenamed({field.name!r}, ...).",
            )
    # Spark reads the names of columns as paths, so there must be no dots in them.
    plain = {name: f"__{number}" for number, name in enumerate(schema.names)}
    task = Decompress(tuple(plain[field.name] for field in carried), plain["nodes"], plain["edges"])
    variables = [StructField(field.name, field.dataType) for field in kind.elementType]
    result = StructType([*(StructField(plain[field.name], field.dataType) for field in carried), *variables])
    listed = frame.toDF(*plain.values()).mapInArrow(task, result)
    return listed.toDF(*(field.name for field in (*carried, *variables)))
