"""A Trino server: fetched once from Maven Central, bound to loopback, stopped by its process id."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from peers.client import Client, TrinoError

VERSION = "476"  # the newest server archive on Maven Central
OLDEST_JAVA = 25
ARTIFACT = "trino-server-core"  # the server without connectors: tables stand in the statements
CACHE = Path(__file__).resolve().parents[2] / ".peers"
START_SECONDS = 180
STOP_SECONDS = 30

CONFIG = """\
node.environment=peers
node.id=peers
node.bind-ip=127.0.0.1
node.internal-address=127.0.0.1
coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port={port}
discovery.uri=http://127.0.0.1:{port}
plugin.dir={folder}/plugin
catalog.config-dir={folder}/catalog
web-ui.enabled=false
query.max-history=20
query.min-expire-age=5s
"""


class Missing(Exception):
    """Something that this comparison needs is not there; the message says what, and what to do."""


# ---------------------------------------------------------------------------------------------------- what it needs


def find_java() -> Path:
    """A `java` that Trino runs on: JAVA25_HOME, JAVA_HOME, the PATH, then the usual folders."""
    seen = []
    for home in java_homes():
        release = java_release(home)
        if release is None:
            continue
        if release >= OLDEST_JAVA:
            return home / "bin" / "java"
        seen.append(f"Java {release} in {home}")
    found = f"found only {', '.join(dict.fromkeys(seen))}" if seen else "found none"
    raise Missing(
        f"Trino {VERSION} needs Java {OLDEST_JAVA} or newer, {found}: install one (https://adoptium.net) and name its "
        "folder in JAVA25_HOME. Spark can keep its own Java."
    )


def java_homes() -> Iterator[Path]:
    for name in ("JAVA25_HOME", "JAVA_HOME"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parents[1]
    yield from sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)
    yield from sorted(Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home"), reverse=True)


def java_release(home: Path) -> int | None:
    """The feature release of the Java in this folder, from its `release` file; None if there is none."""
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    number = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    return int(number[1]) if number and (home / "bin" / "java").exists() else None


def fetch() -> Path:
    """The folder of the unpacked server, downloaded if it is not there."""
    folder = CACHE / f"{ARTIFACT}-{VERSION}"
    if folder.is_dir():
        return folder
    archive = CACHE / f"{ARTIFACT}-{VERSION}.tar.gz"
    if not archive.exists():
        download(archive)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch, tarfile.open(archive) as packed:
        packed.extractall(scratch, filter="data")
        # In one step, so that a broken run leaves no half of a server.
        (Path(scratch) / folder.name).rename(folder)
    return folder


def download(archive: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing(
            f"{archive.name} is fetched by Maven from Maven Central, and there is no `mvn` on the PATH: install Maven, "
            f"or put io.trino:{ARTIFACT}:{VERSION}:tar.gz into {archive.parent} yourself."
        )
    archive.parent.mkdir(exist_ok=True)
    print(f"fetching io.trino:{ARTIFACT}:{VERSION}:tar.gz (190 MB) into {archive.parent}", flush=True)
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
    options = [f"-Dartifact=io.trino:{ARTIFACT}:{VERSION}:tar.gz", f"-DoutputDirectory={archive.parent}"]
    done = subprocess.run([maven, "-B", "-q", goal, *options], capture_output=True, text=True)
    if done.returncode or not archive.exists():
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise Missing(f"Maven could not fetch {archive.name} from Maven Central: {lines[0] if lines else done.stdout}")


# ---------------------------------------------------------------------------------------------------- the process


class Server:
    """A process of Trino on a port of its own."""

    def __init__(self, command: list[str], folder: Path, port: int) -> None:
        self.port = port
        self._command = command
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(CACHE / "server.log", "wb") as log:
            # Its own session: Ctrl-C reaches this process alone, which then stops the server.
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        await_start(self._process, self.port)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def restart(self) -> None:
        """Begin anew, without waiting for queries that have no end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.start()


@contextmanager
def running() -> Iterator[Server]:
    """A server for the body of a `with`. It is stopped however the body ends."""
    java, home = find_java(), fetch()
    with tempfile.TemporaryDirectory(prefix="trino-") as scratch, ended_by_sigterm():
        port = free_port()
        folder = Path(scratch)
        for name in ("plugin", "catalog", "etc"):
            (folder / name).mkdir()
        config = folder / "etc" / "config.properties"
        config.write_text(CONFIG.format(port=port, folder=folder), encoding="utf-8")
        command = [
            str(java),
            "-Xmx2G",
            "-Djdk.attach.allowAttachSelf=true",
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            f"-Dconfig={config}",
            "-cp",
            str(home / "lib" / "*"),
            "io.trino.server.TrinoServer",
        ]
        server = Server(command, folder, port)
        try:
            server.start()
            yield server
        finally:
            server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end this process as an exception, so that `finally` runs."""

    def end(signum: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + signum)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def await_start(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            with closing(Client(port)) as client:
                client.query("SELECT 1")
            return
        except (OSError, TrinoError):
            time.sleep(0.5)
    lines = (CACHE / "server.log").read_text(encoding="utf-8", errors="replace").splitlines()
    raise RuntimeError(f"Trino did not start within {START_SECONDS} s; its log ends\n" + "\n".join(lines[-20:]))
