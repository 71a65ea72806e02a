"""From a Spark session that starts to a page that answers, and to its end."""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import socket
import tempfile
import threading
import time
import warnings
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from trellis.errors import ResourceError, TrellisWarning
from trellis.execution.warmup import warmup
from trellis.studio.answers import warm_up
from trellis.studio.desk import Desk, Opener
from trellis.studio.guard import Guard
from trellis.studio.jobs import SparkJobs
from trellis.studio.runs import Runs
from trellis.studio.server import Studio, application, drawing_library, failure_told, missing_packages

if TYPE_CHECKING:
    import uvicorn

__all__ = ["Address", "listening", "serve"]

_PATIENCE = 10.0


class Address:
    """A socket on the loopback interface, and the secret that the address of the page holds."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind(("127.0.0.1", port))
        except OSError as problem:
            self.socket.close()
            raise ResourceError(
                f"Port {port} cannot be had: {problem.strerror}.", cure="Leave --port out: a free one is chosen."
            ) from None
        self.port = int(self.socket.getsockname()[1])

    def __str__(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.token}/"


@contextlib.contextmanager
def listening(studio: Studio, address: Address) -> Iterator[None]:
    """The page answers inside this block, in a thread of its own."""
    import uvicorn

    guarded = Guard(application(studio), address.token, address.port)
    # Logs would hold addresses, and with them the token.
    config = uvicorn.Config(
        guarded,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=60,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([address.socket],), name="trellis-studio", daemon=True)
    thread.start()
    try:
        _wait_for(server, thread)
        yield
    finally:
        studio.runs.cancel_all()
        server.should_exit = True
        thread.join(_PATIENCE)
        address.socket.close()


def serve(
    desk: Desk,
    session: AbstractContextManager[SparkSession],
    opener: Opener,
    *,
    shipped: frozenset[str],
    described: Callable[[BaseException], str],
    tell: Callable[[str], None],
    port: int = 0,
    browser: bool = True,
) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    desk : Desk
        What the tabs share.
    session : context manager
        Starts Spark, and stops it at the end.
    opener : callable
        Opens the tables in a session of it.
    shipped : frozenset of str
        Which of them come with Trellis.
    described : callable
        What an exception of Spark or Python means, in words.
    tell : callable
        Prints a line.
    port : int
        Where to listen; 0 chooses a free port.
    browser : bool
        Whether to show the page in the browser.

    Raises
    ------
    ResourceError
        A package is missing, or the port is taken.
    """
    missing = missing_packages()
    if missing is not None:
        raise missing
    warnings.simplefilter("ignore", TrellisWarning)  # the page shows them
    jobs = SparkJobs()
    failure = partial(failure_told, described)
    studio = Studio(desk, Runs(jobs, failure), failure)
    address = Address(port)
    with contextlib.suppress(KeyboardInterrupt), listening(studio, address), contextlib.ExitStack() as stack:
        tell(f"Trellis Studio: {address}")
        tell("Ctrl-C ends it.")
        threading.Thread(target=drawing_library, name="trellis-studio-drawing", daemon=True).start()
        if browser:
            stack.enter_context(_shown(address))
        spark = stack.enter_context(session)
        jobs.open(spark)
        studio.phase = "opening the tables"
        desk.open(spark, opener, shipped)
        studio.phase = "waking up Spark's workers"
        _prepare(studio)
        while True:
            time.sleep(3600)


def _prepare(studio: Studio) -> None:
    """Count the tables, and load what a first query needs, before somebody waits for it."""

    def work() -> None:
        with contextlib.suppress(Exception):  # what is wrong shows itself where it is asked for
            for name in list(studio.desk.tables):
                studio.desk.count(name)
            warmup()
            warm_up(studio.desk)
        studio.phase, studio.awake = "ready", True

    threading.Thread(target=work, name="trellis-studio-prepare", daemon=True).start()


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    until = time.monotonic() + _PATIENCE
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until:
            raise ResourceError("The page does not start.")
        time.sleep(0.01)


@contextlib.contextmanager
def _shown(address: Address) -> Iterator[None]:
    """Open the page in the browser.

    What a browser is started with, every user of the machine can list. So that is a file that only this user can read,
    and it leads on to the address.
    """
    folder = Path(tempfile.mkdtemp(prefix="trellis-studio-"))  # for this user alone
    page = folder / "studio.html"
    try:
        descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            to = html.escape(str(address), quote=True)
            file.write(f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={to}">\n')
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
        yield
    finally:
        page.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
