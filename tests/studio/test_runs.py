"""Runs: one for each tab, ended by newer ones of the same tab and by nobody else."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from studio.clients import NoJobs
from trellis.studio.runs import Run, Runs


class Slow(NoJobs):
    """Jobs that go on until they are ended, each in the thread of its run."""

    def __init__(self) -> None:
        self.ended: dict[str, threading.Event] = {}
        self.pools: list[str] = []

    def claim(self, run: str, pool: str) -> None:
        self.pools.append(pool)
        self.ended.setdefault(run, threading.Event())

    def end(self, run: str) -> None:
        self.ended.setdefault(run, threading.Event()).set()

    def job(self, run: Run) -> None:
        if self.ended[run.id].wait(10):
            self.ended[run.id].clear()
            raise RuntimeError("the job was cancelled")


def failure(error: BaseException, text: str) -> dict[str, Any]:
    return {"problem": f"{type(error).__name__} in {text}"}


async def told(runs: Runs, run: Run) -> list[str]:
    return [json.loads(line)["event"] async for line in runs.lines(run)]


def go(story: Callable[[], Any]) -> Any:
    return asyncio.run(asyncio.wait_for(story(), 20))


def test_a_run_tells_in_order_and_ends() -> None:
    async def story() -> list[str]:
        runs = Runs(NoJobs(), failure)
        return await told(runs, runs.start("a", "q", "sample", lambda run: run.tell({"event": "rows"})))

    assert go(story) == ["run", "rows", "done"]


def test_a_failure_is_told_and_the_next_run_works() -> None:
    def fail(run: Run) -> None:
        raise ValueError("secret")

    async def story() -> tuple[list[str], list[str]]:
        runs = Runs(NoJobs(), failure)
        first = await told(runs, runs.start("a", "q", "sample", fail))
        return first, await told(runs, runs.start("a", "q", "sample", lambda run: None))

    assert go(story) == (["run", "failed"], ["run", "done"])


def test_a_newer_run_of_a_tab_ends_the_older_and_leaves_other_tabs_alone() -> None:
    async def story() -> tuple[list[str], list[str], list[str]]:
        jobs = Slow()
        runs = Runs(jobs, failure)
        old = runs.start("a", "q", "sample", jobs.job)
        other = runs.start("b", "q", "all", jobs.job)
        reading = [asyncio.create_task(told(runs, old)), asyncio.create_task(told(runs, other))]
        await asyncio.sleep(0.2)
        new = runs.start("a", "q", "sample", lambda run: None)
        newest = await told(runs, new)
        older = await reading[0]
        assert not other.cancelled.is_set()
        assert not runs.cancel("a")
        assert not runs.cancel("b", old.id)
        assert runs.cancel("b", other.id)
        assert sorted(jobs.pools) == ["all", "sample", "sample"]
        return older, newest, await reading[1]

    assert go(story) == (["run", "cancelled"], ["run", "done"], ["run", "cancelled"])


def test_a_run_whose_page_is_gone_ends() -> None:
    async def story() -> bool:
        jobs = Slow()
        runs = Runs(jobs, failure)
        run = runs.start("a", "q", "sample", jobs.job)
        lines = runs.lines(run)
        await anext(lines)
        await lines.aclose()
        until = time.monotonic() + 5
        while not run.ended.is_set() and time.monotonic() < until:
            await asyncio.sleep(0.05)
        return run.ended.is_set()

    assert go(story)


def test_a_cancelled_run_that_is_between_two_jobs_ends_at_the_next() -> None:
    async def story() -> list[str]:
        jobs = Slow()
        runs = Runs(jobs, failure)

        def work(run: Run) -> None:
            time.sleep(0.4)  # planning: no job to end
            jobs.job(run)

        run = runs.start("a", "q", "sample", work)
        reading = asyncio.create_task(told(runs, run))
        await asyncio.sleep(0.1)
        runs.cancel("a", run.id)
        return await reading

    assert go(story) == ["run", "cancelled"]
