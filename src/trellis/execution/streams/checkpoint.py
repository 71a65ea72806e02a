"""Whether a query may go on from what another run has kept.

1. Series are told apart by the same keys, and their rows stand in the same order.
2. What decides where a search stands has not changed: everything but measures.
3. Measures find what they read: the columns of the rows that are kept, the rows before a match that they look back at,
   the number of the last match.

Measures that need less, or look further ahead, need nothing that was not kept.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from trellis.algebra.plan import StreamSpec
from trellis.errors import UnsupportedError

__all__ = ["check_query", "check_types", "describe_spec"]

_ANEW = "or begin with a new checkpoint."


def describe_spec(spec: StreamSpec) -> dict[str, Any]:
    """What a later run must know of the query that has kept rows."""
    looked_back = spec.remembered
    return {
        "query": spec.query,
        "columns": dict(spec.columns),
        "keys": list(spec.keys),
        "order": list(spec.order),
        "ties": spec.ties,
        **({} if looked_back is None else {"before": looked_back.rows, "numbers": looked_back.numbers}),
    }


def check_query(head: dict[str, Any], spec: StreamSpec) -> None:
    """Refuse to go on where a query would read what was not kept. Of what `head` does not tell, nothing is refused."""
    if head["query"] != spec.query:
        raise UnsupportedError(
            f"The checkpoint belongs to another query. It was\n{head['query']}\nand now is\n{spec.query}",
            cure=f"Only measures may change. Run the query that it belongs to, {_ANEW}",
        )
    for what, name, now in (("PARTITION BY", "keys", spec.keys), ("ORDER BY", "order", spec.order)):
        was = head.get(name, list(now))
        if was != list(now):
            raise UnsupportedError(
                f"The checkpoint belongs to a query with other keys: {what} {_listed(was)}, and now {_listed(now)}.",
                cure=f"Use the keys that it had, {_ANEW}",
            )
    kept = set(head["columns"].values())
    missing = sorted({text for _, text in spec.columns} - kept - {spec.ties})
    if missing:
        raise UnsupportedError(
            f"The query reads {', '.join(missing)}, which the checkpoint has not kept.",
            cure=f"Leave out what reads it, {_ANEW}",
        )
    if spec.ties and spec.ties not in kept:
        raise UnsupportedError(
            "Rows of one time are put in order by a hash of the columns that a query reads. That was "
            f"{head.get('ties') or 'another one'}, and now is {spec.ties}.",
            cure=f"Let the measures read the columns that they read before, and drop these from the result, {_ANEW}",
        )
    if spec.remembered is not None and "before" in head:
        _check_remembered(head["before"], head["numbers"], spec.remembered.rows, spec.remembered.numbers)


def _check_remembered(rows: int, numbers: bool, more_rows: int, more_numbers: bool) -> None:
    if more_rows > rows:
        raise UnsupportedError(
            f"The measures look back at {_rows(more_rows)} before a match (PREV), "
            f"and the checkpoint has kept {_rows(rows)}.",
            cure=f"Look back at {'no more than ' if rows else ''}{_rows(rows)}, {_ANEW}",
        )
    if more_numbers and not numbers:
        raise UnsupportedError(
            "The measures read MATCH_NUMBER(), and the matches that were found so far were not counted.",
            cure=f"Leave it out, {_ANEW}",
        )


def check_types(kept: pa.Schema, new: pa.Schema, spec: StreamSpec) -> None:
    """Refuse rows whose columns have other types than those that were kept."""
    for name, text in spec.columns:
        was, now = kept.field(name).type, new.field(name).type
        if _plain(was) != _plain(now):
            raise UnsupportedError(
                f"The rows that the checkpoint has kept have {text} of the type {was}, and now it is {now}.",
                cure=f"Cast it to the type that it had, before the pattern, {_ANEW}",
            )


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type without what depends on the session: the zone of times, and how long texts may be."""
    if pa.types.is_timestamp(type_):
        return pa.timestamp(type_.unit, "UTC" if type_.tz else None)
    if pa.types.is_large_string(type_):
        return pa.string()
    if pa.types.is_large_binary(type_):
        return pa.binary()
    if pa.types.is_struct(type_):
        return pa.struct([(field.name, _plain(field.type)) for field in type_])
    if pa.types.is_map(type_):
        return pa.map_(_plain(type_.key_type), _plain(type_.item_type))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.list_(_plain(type_.value_type))
    return type_


def _listed(keys: list[str] | tuple[str, ...]) -> str:
    return ", ".join(keys) or "nothing"


def _rows(number: int) -> str:
    return f"{number or 'no'} row{'' if number == 1 else 's'}"
