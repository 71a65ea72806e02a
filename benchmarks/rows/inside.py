"""What a Python worker does, run in this process, part by part."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pyarrow as pa

from benchmarks.shipments import Shipment
from trellis.execution import loading, match_reader, task
from trellis.execution.rows import matcher

__all__ = ["parts_of"]

# The parts of a worker's work, and the functions that do them. Time within a nested function counts for that one alone.
_PARTS: dict[str, list[tuple[object, str]]] = {
    "chunk building": [(task, "read_chunks")],
    "loading slots": [(loading, "load_slots")],
    "kernel: conditions": [(match_reader, "evaluate_columns")],
    "kernel: search": [(matcher, "find_matches")],
    "kernel: measures": [(match_reader, name) for name in ("label_rows", "find_places", "find_aggregates")],
    "outputs": [(match_reader, "write_outputs")],
}


class _Clock:
    """Time by part; a stack, so that a part does not count what its inner parts count."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._switch()
        self._open.append(name)
        try:
            yield
        finally:
            self._switch()
            self._open.pop()

    def _switch(self) -> None:
        now = time.perf_counter()
        if self._open:
            name = self._open[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


def parts_of(shipment: Shipment, batches: list[pa.RecordBatch]) -> dict[str, float]:
    """The seconds of each part of a worker's work over batches, in one thread."""
    clock = _Clock()
    with ExitStack() as patches:
        for part, places in _PARTS.items():
            for owner, name in places:
                timed = _timed(clock, part, getattr(owner, name))
                patches.enter_context(mock.patch.object(owner, name, timed))
        with clock.part("everything else"):
            shipment.run(batches)
    return {part: clock.seconds.get(part, 0.0) for part in (*_PARTS, "everything else")}


def _timed(clock: _Clock, part: str, function: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        with clock.part(part):
            result = function(*arguments, **options)
        return stepwise(result) if isinstance(result, Iterator) else result

    def stepwise(items: Iterator[Any]) -> Iterator[Any]:
        while True:
            with clock.part(part):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    return call
