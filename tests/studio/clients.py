"""What the tests of the studio share: a studio on loopback without Spark, and somebody who asks it."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from trellis.studio.desk import Desk, Table
from trellis.studio.runs import Runs
from trellis.studio.server import Studio, failure_told
from trellis.studio.serving import Address, listening


class NoJobs:
    """A cluster without jobs."""

    def claim(self, run: str, pool: str) -> None: ...

    def progress(self, run: str) -> tuple[int, int]:
        return 0, 0

    def end(self, run: str) -> None: ...


class Client:
    """Asks over a real socket."""

    def __init__(self, address: Address) -> None:
        self.address = address

    def ask(
        self,
        method: str,
        path: str,
        values: object = None,
        headers: dict[str, str] | None = None,
        token: str | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """The status, headers and body of an answer; the path is below the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=20)
        body = None if values is None else json.dumps(values)
        sent = {"Content-Type": "application/json"} if values is not None else {}
        secret = self.address.token if token is None else token
        connection.request(method, f"/{secret}/{path}", body, {**sent, **(headers or {})})
        answer = connection.getresponse()
        told = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return told

    def post(self, path: str, **values: Any) -> Any:
        """A question in JSON, and the answer."""
        status, _, body = self.ask("POST", path, values)
        assert status in (200, 400), body
        return json.loads(body)

    def events(self, path: str, **values: Any) -> list[dict[str, Any]]:
        """All that a run tells."""
        status, _, body = self.ask("POST", path, {"tab": "a tab of tests", **values})
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]


@contextlib.contextmanager
def studio_on_loopback(desk: Desk | None = None, jobs: Any = None) -> Iterator[Client]:
    """A studio; without a desk, one without Spark whose only table is `ticks`."""
    if desk is None:
        columns = [("symbol", "string"), ("day", "int"), ("price", "double")]
        desk = Desk(tables={"ticks": Table("ticks", columns, shipped=False)})
    failure = partial(failure_told, lambda error: f"described: {type(error).__name__}")
    address = Address(0)
    studio = Studio(desk, Runs(jobs or NoJobs(), failure), failure)
    with listening(studio, address):
        yield Client(address)
