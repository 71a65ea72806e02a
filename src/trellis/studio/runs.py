"""Runs of queries: each in a thread of its own, one for each tab; a newer run of a tab ends the older one."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Cancelled", "Cluster", "Run", "Runs"]

_PERIOD = 0.2


class Cancelled(Exception):
    """Nobody wants the answer any more."""


class Cluster(Protocol):
    """What runs need of Spark: all jobs of a thread belong to a run, are counted, and can be ended."""

    def claim(self, run: str, pool: str) -> None:
        """Jobs of this thread belong to that run from now on."""

    def progress(self, run: str) -> tuple[int, int]:
        """How many tasks of a run are done, of how many that are known."""

    def end(self, run: str) -> None:
        """End the jobs of a run that are running."""


@dataclass(eq=False, slots=True)
class Run:
    """A run: what it told so far waits in a queue for the page that asked."""

    tab: str
    id: str
    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[Mapping[str, Any] | None] = field(default_factory=asyncio.Queue)
    cancelled: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def tell(self, event: Mapping[str, Any] | None) -> None:
        """Hand an event to the page; the place to stop at where a run was cancelled."""
        if self.cancelled.is_set() and event is not None:
            raise Cancelled
        self._put(event)

    def _put(self, event: Mapping[str, Any] | None) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.queue.put_nowait, event)


@dataclass(slots=True)
class Runs:
    """All runs. `failure` makes of an exception what the page shows."""

    cluster: Cluster
    failure: Callable[[BaseException, str], Mapping[str, Any]]
    _of_tabs: dict[str, Run] = field(default_factory=dict)

    def start(self, tab: str, text: str, pool: str, work: Callable[[Run], None]) -> Run:
        """Run something for a tab; what it ran before is cancelled. Call this in the event loop."""
        self.cancel(tab)
        run = Run(tab, f"studio-{secrets.token_hex(8)}", asyncio.get_running_loop())
        self._of_tabs[tab] = run
        thread = threading.Thread(target=self._work, args=(run, text, pool, work), name=run.id, daemon=True)
        thread.start()
        return run

    def cancel(self, tab: str, run: str | None = None) -> bool:
        """End the run of a tab, if it is that one; whether there was one."""
        found = self._of_tabs.get(tab)
        if found is None or (run is not None and found.id != run):
            return False
        self._end(found)
        return True

    def cancel_all(self) -> None:
        """End all runs."""
        for run in list(self._of_tabs.values()):
            self._end(run)

    async def lines(self, run: Run) -> AsyncIterator[bytes]:
        """What a run tells, a line of JSON for each event, with its progress in between; leaving it ends the run."""
        told: tuple[int, int] | None = None
        try:
            yield _line({"event": "run", "run": run.id})
            while True:
                try:
                    event = await asyncio.wait_for(run.queue.get(), _PERIOD)
                except asyncio.TimeoutError:
                    counts = await asyncio.to_thread(self.cluster.progress, run.id)
                    if counts != told and counts[1]:
                        told = counts
                        yield _line({"event": "progress", "done": counts[0], "total": counts[1]})
                    continue
                if event is None:
                    return
                yield _line(event)
        finally:
            self._end(run)
            if self._of_tabs.get(run.tab) is run:
                del self._of_tabs[run.tab]

    def _work(self, run: Run, text: str, pool: str, work: Callable[[Run], None]) -> None:
        try:
            self.cluster.claim(run.id, pool)
            work(run)
            run.tell({"event": "done"})
        except Cancelled:
            run._put({"event": "cancelled"})
        except BaseException as error:
            if run.cancelled.is_set():
                run._put({"event": "cancelled"})
            else:
                run._put({"event": "failed", **self.failure(error, text)})
        finally:
            run.ended.set()
            run.tell(None)

    def _end(self, run: Run) -> None:
        """A run that is between two jobs has none to end, and starts another: so this is done until it has ended."""
        if run.ended.is_set() or run.cancelled.is_set():
            return
        run.cancelled.set()

        def insist() -> None:
            while True:
                self.cluster.end(run.id)
                if run.ended.wait(0.2):
                    return

        threading.Thread(target=insist, name=f"{run.id}-end", daemon=True).start()


def _line(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
