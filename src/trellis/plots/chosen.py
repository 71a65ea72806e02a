"""The events that matches with gaps chose, one row each, out of the structs in which `sase` returns them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import DataFrame as SparkFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructType

from trellis.errors import BindingError
from trellis.plots.frames import Frame, bring, quoted

__all__ = ["Lane", "chosen_events", "lanes_of"]

_NUMBER = "match_number"


@dataclass(frozen=True, slots=True)
class Lane:
    """A variable: a column that holds one event (a struct), or with `repeated` an array of them."""

    variable: str
    repeated: bool
    fields: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.variable}[]" if self.repeated else self.variable


def lanes_of(matches: Frame, x: str, kind: str, keys: Sequence[str]) -> list[Lane]:
    """The variables of the matches, in order: the columns whose values have a time `x` and a type `kind`."""
    found = _pandas_lanes(matches) if isinstance(matches, pd.DataFrame) else _spark_lanes(matches)
    lanes = [lane for lane in found if {x, kind} <= set(lane.fields)]
    # An empty frame of pandas does not know its types.
    if not lanes and not (isinstance(matches, pd.DataFrame) and matches.empty):
        raise BindingError(
            f"The matches have no column that holds events with {x!r} and {kind!r}.",
            cure="Leave RETURN out of the event pattern: then its matches have all of their events. Decompress "
            "compressed ones. For matches of rows, name the column to draw in y=.",
        )
    for lane in lanes:
        for key in keys:
            if key not in lane.fields:
                raise BindingError(
                    f"The events in column {lane.variable!r} of the matches have no {key!r}.",
                    cure=f"They have {', '.join(lane.fields)}.",
                )
    return lanes


def chosen_events(
    matches: Frame, lanes: Sequence[Lane], x: str, kind: str, keys: Sequence[str], limit: int
) -> pd.DataFrame:
    """The events of all matches, those of one match in order.

    The columns are `match`, which tells matches apart, `number`, which a reader sees, `lane`, `x`, `type`, and one for
    each key: `key0` and so on.
    """
    names = {"x": x, "type": kind, **{f"key{number}": key for number, key in enumerate(keys)}}
    columns = ["match", "number", "lane", *names]
    if isinstance(matches, pd.DataFrame):
        rows = pd.DataFrame(_pandas_events(matches, lanes, list(names.values())), columns=columns)
    else:
        rows = bring(_spark_events(matches, lanes, names), columns, limit, "events of the matches")
    if keys and len(rows):
        _check_one_series(rows, keys)
    return rows


def _check_one_series(rows: pd.DataFrame, keys: Sequence[str]) -> None:
    for number, key in enumerate(keys):
        if (rows.groupby("match")[f"key{number}"].nunique(dropna=False) > 1).any():
            raise BindingError(
                f"There are matches whose events differ in {key!r}, so they are in no single panel.",
                cure="Name columns in by= in which the events of a match agree, such as those in [...], or none.",
            )


# -------------------------------------------------------------------------------------------------------------- Spark


def _spark_lanes(matches: SparkFrame) -> Iterator[Lane]:
    for column in matches.schema:
        kind = column.dataType
        repeated = isinstance(kind, ArrayType)
        event = kind.elementType if isinstance(kind, ArrayType) else kind
        if isinstance(event, StructType):
            yield Lane(column.name, repeated, tuple(event.names))


def _spark_events(matches: SparkFrame, lanes: Sequence[Lane], names: Mapping[str, str]) -> SparkFrame:
    """Unpacked by Spark, so that times become pandas' times as those of other columns do."""

    def event(at: Column, lane: int) -> Column:
        fields = [at.getField(field).alias(name) for name, field in names.items()]
        return F.struct(F.lit(lane).alias("lane"), *fields)

    def events(lane: Lane, number: int) -> Column:
        column = matches[quoted(lane.variable)]
        # A match that timed out has no event in some lanes.
        there = column if lane.repeated else F.filter(F.array(column), lambda at: at.isNotNull())
        return F.transform(there, lambda at: event(at, number))

    number = matches[_NUMBER] if _NUMBER in matches.columns else F.lit(None).cast("int")
    arrays = [events(lane, place) for place, lane in enumerate(lanes)]
    # Numbers of matches count from one in each partition, so they alone do not tell matches apart.
    whole = matches.select(
        F.monotonically_increasing_id().alias("match"), number.alias("number"), F.concat(*arrays).alias("events")
    )
    return whole.select("match", "number", F.explode("events").alias("event")).select("match", "number", "event.*")


# ------------------------------------------------------------------------------------------------------------- pandas


def _pandas_lanes(matches: pd.DataFrame) -> Iterator[Lane]:
    for name in matches.columns:
        for value in matches[name]:
            events = list(_events(value))
            if events:
                yield Lane(str(name), _fields(value) is None, tuple(map(str, events[0])))
                break


def _pandas_events(matches: pd.DataFrame, lanes: Sequence[Lane], fields: Sequence[str]) -> Iterator[list[Any]]:
    numbers = matches[_NUMBER] if _NUMBER in matches.columns else [None] * len(matches)
    columns = [matches[lane.variable] for lane in lanes]
    for match, (number, *values) in enumerate(zip(numbers, *columns, strict=True)):
        for lane, value in enumerate(values):
            for event in _events(value):
                yield [match, number, lane, *(event[field] for field in fields)]


def _events(value: Any) -> Iterator[Mapping[str, Any]]:
    """The events in a value: of a struct itself, of an array its elements, of anything else none."""
    fields = _fields(value)
    if fields is not None:
        yield fields
    elif hasattr(value, "__iter__") and not isinstance(value, str | bytes):
        yield from (event for event in map(_fields, value) if event is not None)


def _fields(value: Any) -> Mapping[str, Any] | None:
    """A struct, which pandas holds as a Row or as a dictionary."""
    if isinstance(value, Mapping):
        return value
    return value.asDict() if hasattr(value, "asDict") else None
