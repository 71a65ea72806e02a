"""The public functions: parse, plan, run. Each is wiring; the work is in the packages."""

from __future__ import annotations

from trellis.api.events import EventPattern, decompress, event_pattern, progress, sase
from trellis.api.rows import RowPattern, pattern
from trellis.api.statements import explain, sql, sqlts

__all__ = [
    "EventPattern",
    "RowPattern",
    "decompress",
    "event_pattern",
    "explain",
    "pattern",
    "progress",
    "sase",
    "sql",
    "sqlts",
]
