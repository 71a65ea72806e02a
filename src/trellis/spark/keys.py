"""Keys that are Column objects, as SQL texts.

PySpark has no public way from a Column to SQL: what it shows of one is nearly always SQL, and sometimes not. So the
text is taken for what it says only if Spark finds that both mean the same over the DataFrame; else it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from trellis.errors import ArgumentError
from trellis.spark.quiet import unlogged

__all__ = ["Key", "Keys", "Names", "key_texts", "name_of", "names_of", "plain_texts"]

Key: TypeAlias = str | Column
Keys: TypeAlias = "Key | Sequence[Key] | None"
Names: TypeAlias = "Key | Sequence[Key]"

_SHOWN = re.compile(r"Column<'(.*)'>", re.DOTALL)
_SORT = re.compile(r"(?P<key>.*?) (?P<way>ASC|DESC) NULLS (?P<nulls>FIRST|LAST)", re.DOTALL)
_CALL = re.compile(r"(?P<name>\w*|[*+/%<>=-]+)\((?P<arguments>[^()]*)\)")
_PLAIN = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def key_texts(keys: Keys, frame: DataFrame) -> str | list[str] | None:
    """Keys as SQL texts; Columns are looked at over the DataFrame."""
    if isinstance(keys, Column):
        keys = [keys]
    if keys is None or isinstance(keys, str) or not isinstance(keys, Sequence):
        return keys
    return [_text(key, frame) if isinstance(key, Column) else key for key in keys]


def plain_texts(keys: Keys) -> str | list[str] | None:
    """The same without a DataFrame: Columns must be names, perhaps with an order."""
    if isinstance(keys, Column):
        keys = [keys]
    if keys is None or isinstance(keys, str) or not isinstance(keys, Sequence):
        return keys
    return [_plain(key) if isinstance(key, Column) else key for key in keys]


def names_of(names: Names) -> str | list[str]:
    """Names of columns, where some may be given as Columns."""
    if isinstance(names, (str, Column)) or not isinstance(names, Sequence):
        return name_of(names)
    return [name_of(name) for name in names]


def name_of(column: Key) -> str:
    """The name of a column; what is neither a text nor a Column is refused where it is read."""
    if not isinstance(column, Column):
        return column
    shown, order = _parts(column)
    if order or not re.fullmatch(r"[^()'\"]+", shown):
        raise ArgumentError(
            f"{column} is not the name of a column.", cure="Name one, or add it first: df.withColumn('k', ...)."
        )
    return shown.strip("`")


def _text(key: Column, frame: DataFrame) -> str:
    shown, order = _parts(key)
    exact = [name for name in frame.columns if name == shown]
    for text in (*map(_quoted, exact), shown, _infix(shown), *([] if exact else [_quoted(shown)])):
        if _is_same(key, text, order, frame):
            return text + order
    raise ArgumentError(
        f"The key {key} cannot be written as SQL.",
        cure="Write it as a text, such as 'lower(name) DESC', or add a column: df.withColumn('k', ...), and name that.",
    )


def _infix(shown: str) -> str:
    """Classic PySpark shows operators as functions: `*(price, -1)` is `(price * -1)`."""
    parts: list[str] = []

    def settle(found: re.Match[str]) -> str:
        name, arguments = found["name"], found["arguments"]
        if not re.fullmatch(r"\w*", name) or name in ("and", "or"):
            arguments = f" {name} ".join(arguments.split(", "))
            name = ""
        parts.append(f"{name}({arguments})")
        return f"\0{len(parts) - 1}\0"

    while (changed := _CALL.sub(settle, shown)) != shown:
        shown = changed
    while "\0" in shown:
        shown = re.sub(r"\0(\d+)\0", lambda found: parts[int(found[1])], shown)
    return shown


def _is_same(key: Column, text: str, order: str, frame: DataFrame) -> bool:
    """Whether rows in the order of the key are rows in the order of the text."""
    try:
        with unlogged():
            written = F.expr(text)
            return frame.orderBy(key).sameSemantics(frame.orderBy(_ordered(written, order)))
    except PySparkException:
        return False


def _ordered(key: Column, order: str) -> Column:
    match order:
        case " ASC NULLS FIRST":
            return key.asc_nulls_first()
        case " ASC NULLS LAST":
            return key.asc_nulls_last()
        case " DESC NULLS FIRST":
            return key.desc_nulls_first()
        case " DESC NULLS LAST":
            return key.desc_nulls_last()
        case _:
            return key


def _plain(key: Column) -> str:
    shown, order = _parts(key)
    if not _PLAIN.fullmatch(shown):
        raise ArgumentError(
            f"The key {key} is no plain column.", cure="Write it as a text: 'lower(name) DESC'; match takes any Column."
        )
    return shown + order


def _parts(key: Column) -> tuple[str, str]:
    """What PySpark shows of a Column, and how it sorts."""
    found = _SHOWN.fullmatch(repr(key))
    shown = found[1] if found else ""
    sort = _SORT.fullmatch(shown)
    return (sort["key"], f" {sort['way']} NULLS {sort['nulls']}") if sort else (shown, "")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
