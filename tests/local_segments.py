"""Segment queries without Spark, with every choice of the physical plan forced that a test forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import local
from trellis.algebra.query import Query
from trellis.algebra.segments import Choices


def run(
    clause: str | Query,
    rows: Sequence[local.Row],
    schema: Sequence[tuple[str, str]],
    args: Mapping[str, object] | None = None,
    choices: Choices | None = None,
    batch_rows: int = 1000,
    **hints: object,
) -> list[dict[str, Any]]:
    """The result of a clause over rows."""
    forced = {name: value for name, value in asdict(choices or Choices()).items() if value}
    return local.run(clause, rows, schema, args=args, batch_rows=batch_rows, **forced, **hints)
