"""`make peers`: random queries to Trellis and to Trino; every difference is explained, or printed as a small case."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice

from peers import server
from peers.client import Client
from peers.compare import Answer, Outcome
from peers.demonstrations import report
from peers.engines import Engine, Trellis, TrellisOnSpark, Trino
from peers.known import KNOWN
from peers.queries import Case, cases
from peers.trial import Difference, Verdict, agrees, answers, compare_spark, judge, replies, smallest
from peers.trino_text import statement
from properties.render import render_clause

THREADS = 3  # that wait for Trino
SHOWN = 10  # unexplained differences that are minimised and printed


@dataclass
class Tally:
    queries: int = 0
    tables: int = 0
    rows: int = 0
    refused: int = 0
    given_up: int = 0
    on_spark: int = 0
    known: Counter[str] = field(default_factory=Counter)
    unexplained: list[Difference] = field(default_factory=list)

    def add(self, verdict: Verdict) -> None:
        self.queries += not verdict.given_up
        self.given_up += verdict.given_up
        self.tables += verdict.tables
        self.rows += verdict.rows
        self.refused += verdict.refused
        self.known.update(verdict.known)
        self.unexplained += verdict.unexplained[:1]  # one table of a query is enough

    def __str__(self) -> str:
        known = sum(self.known.values())
        return (
            f"{self.queries} queries on {self.tables} tables, {self.rows} rows, {self.refused} tables refused by both, "
            f"{known} known differences, {len(self.unexplained)} unexplained, {self.given_up} queries given up by Trino"
        )


def main() -> int:
    arguments = argparse.ArgumentParser(prog="make peers", description=__doc__)
    arguments.add_argument("--queries", type=int, default=10_000, help="how many different query texts")
    arguments.add_argument("--skip", type=int, default=0, help="how many of them to leave out, to go on with a run")
    arguments.add_argument("--spark", type=int, default=500, help="how many of them also go through Spark")
    arguments.add_argument("--tables", type=int, default=8, help="random tables for each query")
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    print(f"seed {chosen.seed}: {chosen.queries} queries, {chosen.spark} of them on Spark, {chosen.tables} tables each")
    started = time.monotonic()
    try:
        with server.running() as trino:
            seconds = time.monotonic() - started
            print(f"Trino {server.VERSION} on 127.0.0.1:{trino.port} after {seconds:.0f} s", flush=True)
            with closing(Client(trino.port)) as client:
                print("\n".join(["known differences:", *report(client)]), flush=True)
            return compare(chosen, Trino(trino))
    except server.Missing as missing:
        print(missing, file=sys.stderr)
        return 2


@contextmanager
def threads() -> Iterator[ThreadPoolExecutor]:
    """Nobody waits for them after Ctrl-C: one may hang on a query until the server is stopped."""
    pool = ThreadPoolExecutor(THREADS)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def compare(chosen: argparse.Namespace, trino: Trino) -> int:
    started = time.monotonic()
    tally = Tally()
    with TrellisOnSpark() as spark, threads() as pool:
        trellis = Trellis(spark)
        waiting: deque[tuple[Case, list[Outcome], Future[dict[int, Outcome]]]] = deque()

        def settle(most: int) -> None:
            while len(waiting) > most:
                case, ours, theirs = waiting.popleft()
                tally.add(judge(case, ours, theirs.result()))

        for number, case in enumerate(islice(cases(chosen.seed, chosen.tables), chosen.skip, chosen.queries)):
            ours = answers(trellis, case)
            if number < chosen.spark:
                tally.unexplained += compare_spark(case, ours, spark)
                tally.on_spark += 1
            waiting.append((case, ours, pool.submit(replies, case, ours, trino)))
            settle(4 * THREADS)
            if number % 250 == 249:
                print(f"{time.monotonic() - started:6.0f} s: {tally}", flush=True)
        settle(0)
        print(f"\n{tally}; {tally.on_spark} queries also on Spark; {time.monotonic() - started:.0f} s")
        for known in KNOWN:
            print(f"  {tally.known[known.name]:5} queries: {known.name}: {known.reason}")
        engines: dict[str, Engine] = {"Trellis": trellis, "Trellis on Spark": spark, "Trino": trino}
        for difference in tally.unexplained[:SHOWN]:
            left, right = (engines[name] for name in difference.between)
            print(shown(smallest(difference, left, right)), flush=True)
    return 1 if tally.unexplained else 0


def shown(difference: Difference) -> str:
    query, rows = difference.query, difference.rows
    right = {True: "as the naive matcher", False: "unlike the naive matcher", None: "too large for the naive matcher"}
    lines = ["", "-" * 100, render_clause(query), *(f"  {row}" for row in rows)]
    for name, outcome in zip(difference.between, (difference.ours, difference.theirs), strict=True):
        lines.append(f"{name}, {right[agrees(query, rows, outcome)]}:")
        lines += [f"  {row}" for row in outcome.rows] if isinstance(outcome, Answer) else [f"  {outcome}"]
    return "\n".join([*lines, "", statement(query, rows)])


if __name__ == "__main__":
    sys.exit(main())
