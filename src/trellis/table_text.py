"""Rows as a table that a person reads on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["counted", "table_text"]

_WIDEST = 60
_NULL = "NULL"


def table_text(names: Sequence[str], rows: Iterable[Sequence[str | None]], right: Sequence[bool]) -> Iterator[str]:
    """The lines of a table: the names, a rule, the rows. Columns in `right` are flush right, as numbers should be."""
    head = [_shown(name) for name in names]
    body = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(head, *body, strict=True)]
    for line in (head, ["-" * width for width in widths], *body):
        cells = (_padded(cell, width, end) for cell, width, end in zip(line, widths, right, strict=True))
        yield "  ".join(cells).rstrip()


def counted(number: int, thing: str = "row") -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _shown(cell: str | None) -> str:
    """A cell on one line and of bounded width; nothing in it can steer the terminal."""
    if cell is None:
        return _NULL
    safe = cell if cell.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in cell)
    return safe if len(safe) <= _WIDEST else safe[: _WIDEST - 1] + "…"


def _padded(cell: str, width: int, right: bool) -> str:
    room = " " * (width - _width(cell))
    return room + cell if right else cell + room


def _width(cell: str) -> int:
    """How many places of a terminal a text takes: East Asian letters take two, combining marks none."""
    if cell.isascii():
        return len(cell)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in cell)
