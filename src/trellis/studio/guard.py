"""Who may speak to the studio: only pages that it gave out itself, to whom knows the address.

It listens on the loopback interface alone. That does not keep out other users of this machine, nor pages of strangers
in the browser of this one. So:

1. The path of every address begins with a random token. Without it there is nothing to see.
2. The Host must be this machine by its own name or number: a stranger's name that points here (DNS rebinding) is none.
3. A browser says where a request comes from, in Origin and Sec-Fetch-Site: that must be the studio itself.
4. What changes something is JSON, which a form of another page cannot send; no header allows other pages to read.
5. The page may load nothing from elsewhere, nor be framed, and tells nobody its address.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

__all__ = ["HEADERS", "Guard"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_LARGEST_BODY = 1 << 20

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer says. There are no cookies, and nobody else may read an answer."""


class Guard:
    """Lets through what may pass, with the token taken off its path; `port` is known once there is a socket."""

    def __init__(self, app: App, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        _, _, token_and_path = scope["path"].partition("/")
        _, slash, path = token_and_path.partition("/")
        inner = {**scope, "path": f"/{path}", "raw_path": None, "root_path": ""}
        if not slash:
            await _refuse(send, 404, "There is nothing here.")
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        await self._app(inner, receive, send_guarded)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host", "").lower() not in self._hosts:
            return 421, "This is not the address of the studio."
        given = scope["path"].split("/")[1].encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, self._token):
            return 404, "There is nothing here. The address of the studio, with its token, stands where it was started."
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") != headers["host"]:
            return 403, "Another page may not ask the studio."
        # A person who types the address or follows it from elsewhere gets the page, and only the page.
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and scope["path"].count("/") > 1 and not scope["path"].endswith("/"):
            return 403, "Another page may not ask the studio."
        if scope["method"] not in ("GET", "POST"):
            return 405, "The studio is asked by GET and POST."
        if scope["method"] == "POST":
            if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
                return 415, "The studio is asked in JSON."
            length = headers.get("content-length", "")
            if not length.isdecimal() or int(length) > _LARGEST_BODY:
                return 413, "That is too much."
        return None


async def _refuse(send: Send, status: int, text: str) -> None:
    body = f"{text}\n".encode()
    headers = {**HEADERS, "content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [(name.encode(), value.encode()) for name, value in headers.items()]})
    await send({"type": "http.response.body", "body": body})
