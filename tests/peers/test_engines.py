"""Asking Trino from several threads, while some queries never end there."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from naive import NaiveQuery
from peers import engines
from peers.client import Result, TrinoError
from peers.compare import GIVEN_UP, Answer, is_given_up
from peers.engines import Trino

QUERY = NaiveQuery(
    pattern=("var", "A"),
    define=(),
    measures=(),
    partition_by=(),
    order_by=(("id", False, True),),
    rows_per_match="ONE",
)
SLOW = replace(QUERY, pattern=("var", "SLOW"))


class JammedByOne:
    """A server that is busy for ever with a slow query, and gives up all others until it is started anew."""

    port = 0

    def __init__(self) -> None:
        self.starts = 0
        self.asked = 0
        self._lock = threading.Lock()
        self._jammed = False

    def restart(self) -> None:
        assert self.asked == 0, "somebody is asking"
        self.starts += 1
        self._jammed = False

    def query(self, text: str) -> Result:
        with self._lock:
            self.asked += 1
            self._jammed |= "SLOW" in text
            jammed = self._jammed
        try:
            if jammed:
                raise TrinoError(GIVEN_UP, "Query exceeded the maximum execution time limit")
            return Result(("id",), [(1,)])
        finally:
            with self._lock:
                self.asked -= 1


def test_only_the_slow_query_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    server = JammedByOne()
    monkeypatch.setattr(engines, "Client", lambda port: server)
    trino = Trino(server)  # type: ignore[arg-type]
    queries = [SLOW if number % 10 == 3 else QUERY for number in range(60)]
    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(lambda query: trino(query, []), queries))
    assert [is_given_up(outcome) for outcome in outcomes] == [query is SLOW for query in queries]
    assert outcomes[0] == Answer(({"id": 1},))
    assert 6 <= server.starts <= 2 * 6


def test_a_server_that_does_not_answer_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(JammedByOne):
        def query(self, text: str) -> Result:
            if self.starts == 0:
                raise OSError("the server does not answer")
            return super().query(text)

    server = Silent()
    monkeypatch.setattr(engines, "Client", lambda port: server)
    assert Trino(server)(QUERY, []) == Answer(({"id": 1},))  # type: ignore[arg-type]
    assert server.starts == 1
