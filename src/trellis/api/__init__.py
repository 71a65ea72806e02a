"""The public functions: parse, plan, run. Each is wiring; the work is in the packages."""

from __future__ import annotations

from trellis.api.events import EventPattern, decompress, event_pattern, progress, sase
from trellis.api.rows import RowPattern, pattern
from trellis.api.statements import explain, sql, sqlts
from trellis.api.why import why
from trellis.api.workloads import Workload, match_all, workload

__all__ = [
    "EventPattern",
    "RowPattern",
    "Workload",
    "decompress",
    "event_pattern",
    "explain",
    "match_all",
    "pattern",
    "progress",
    "sase",
    "sql",
    "sqlts",
    "why",
    "workload",
]
