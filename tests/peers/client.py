"""Trino's HTTP protocol, as much of it as a comparison needs: send a statement, follow its pages, collect the rows."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

QUERY_SECONDS = 15  # the server gives a query up after so long
TIMEOUT_SECONDS = 2 * QUERY_SECONDS
_HEADERS = {
    "X-Trino-User": "peers",
    "X-Trino-Source": "trellis-peers",
    "X-Trino-Time-Zone": "UTC",
    "X-Trino-Session": f"query_max_execution_time={QUERY_SECONDS}s",
}


class TrinoError(Exception):
    """A statement failed on the server."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


@dataclass(frozen=True, slots=True)
class Result:
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Client:
    """One connection; a thread needs its own."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)

    def close(self) -> None:
        self._connection.close()

    def query(self, text: str) -> Result:
        page = self._ask("POST", "/v1/statement", text.encode())
        columns: tuple[str, ...] = ()
        rows: list[tuple[Any, ...]] = []
        while True:
            if "error" in page:
                raise TrinoError(page["error"]["errorName"], page["error"]["message"])
            if "columns" in page:
                columns = tuple(column["name"] for column in page["columns"])
            rows += [tuple(row) for row in page.get("data", ())]
            if "nextUri" not in page:
                return Result(columns, rows)
            page = self._ask("GET", urlsplit(page["nextUri"]).path)

    def _ask(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        try:
            self._connection.request(method, path, body, _HEADERS)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise OSError(f"the server does not answer: {error!r}") from error
        if response.status != 200:
            raise TrinoError(f"HTTP {response.status}", content.decode(errors="replace")[:200])
        page: dict[str, Any] = json.loads(content)
        return page
