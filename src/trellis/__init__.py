"""Trellis finds patterns in ordered rows, on Apache Spark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis import errors
    from trellis.api import (
        EventPattern,
        RowPattern,
        Workload,
        decompress,
        event_pattern,
        explain,
        match_all,
        pattern,
        progress,
        sase,
        sql,
        sqlts,
        why,
        workload,
    )
    from trellis.execution.warmup import warmup
    from trellis.plots import plot, plot_plan, show
    from trellis.running import on_progress, progress_bar
    from trellis.segment_functions import segment_function
    from trellis.streams import stream_progress, watch

__version__ = "0.1.0"
__all__ = [
    "EventPattern",
    "RowPattern",
    "Workload",
    "decompress",
    "errors",
    "event_pattern",
    "explain",
    "match_all",
    "on_progress",
    "pattern",
    "plot",
    "plot_plan",
    "progress",
    "progress_bar",
    "sase",
    "segment_function",
    "show",
    "sql",
    "sqlts",
    "stream_progress",
    "warmup",
    "watch",
    "why",
    "workload",
]

_HOMES = {
    "EventPattern": "trellis.api",
    "RowPattern": "trellis.api",
    "Workload": "trellis.api",
    "decompress": "trellis.api",
    "event_pattern": "trellis.api",
    "explain": "trellis.api",
    "match_all": "trellis.api",
    "on_progress": "trellis.running",
    "pattern": "trellis.api",
    "plot": "trellis.plots",
    "plot_plan": "trellis.plots",
    "progress": "trellis.api",
    "progress_bar": "trellis.running",
    "sase": "trellis.api",
    "segment_function": "trellis.segment_functions",
    "show": "trellis.plots",
    "sql": "trellis.api",
    "sqlts": "trellis.api",
    "stream_progress": "trellis.streams",
    "warmup": "trellis.execution.warmup",
    "watch": "trellis.streams",
    "why": "trellis.api",
    "workload": "trellis.api",
}


def __getattr__(name: str) -> object:
    # Looked up when first used: every Python worker imports this package, and needs neither parser nor plots.
    if name == "errors":
        return import_module("trellis.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'trellis' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    # What a user may use, without the parts of the package that happen to be loaded.
    return [*__all__, "__version__"]
