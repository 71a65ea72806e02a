"""What the comparison needs, and how it speaks to a server; a real one is started by `make peers` alone."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from peers import server
from peers.client import Client, Result, TrinoError


def java(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch()
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n', encoding="utf-8")
    return folder


@pytest.mark.parametrize(("version", "release"), [("25", 25), ("25.0.1", 25), ("17.0.15", 17), ("1.8.0_402", 8)])
def test_the_release_of_a_java(tmp_path: Path, version: str, release: int) -> None:
    assert server.java_release(java(tmp_path / "jdk", version)) == release


def test_a_folder_without_java_has_no_release(tmp_path: Path) -> None:
    assert server.java_release(tmp_path) is None


def test_the_first_java_that_is_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = java(tmp_path / "old", "17.0.15"), java(tmp_path / "new", "25.0.1")
    monkeypatch.setattr(server, "java_homes", lambda: iter([tmp_path / "none", old, new]))
    assert server.find_java() == new / "bin" / "java"


def test_java_homes_begin_with_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA25_HOME", str(tmp_path / "a"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "b"))
    assert list(server.java_homes())[:2] == [tmp_path / "a", tmp_path / "b"]


def test_a_missing_java_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "java_homes", lambda: iter([java(tmp_path / "old", "17.0.15")]))
    with pytest.raises(server.Missing, match=r"needs Java 25 or newer, found only Java 17 in .*JAVA25_HOME"):
        server.find_java()


def test_a_missing_maven_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "CACHE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(server.Missing, match=r"no `mvn` on the PATH: install Maven, or put io\.trino"):
        server.fetch()


def test_a_failing_maven_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\necho '[ERROR] Could not resolve the artifact'\nexit 1\n", encoding="utf-8")
    maven.chmod(0o755)
    monkeypatch.setattr(server, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(server.Missing, match=r"could not fetch .* from Maven Central: .*Could not resolve"):
        server.fetch()


# ---------------------------------------------------------------------------------------------------- the protocol


@pytest.fixture
def port() -> Iterator[int]:
    """A server that answers a good statement in three pages, and any other with an error."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if text == "good":
                self.reply({"nextUri": self.page(1)})
            else:
                self.reply({"error": {"errorName": "SYNTAX_ERROR", "message": f"not {text}"}})

        def do_GET(self) -> None:
            columns = [{"name": "a"}, {"name": "b"}]
            if self.path == "/v1/statement/1":
                self.reply({"columns": columns, "data": [[1, None]], "nextUri": self.page(2)})
            elif self.path == "/v1/statement/2":
                self.reply({"columns": columns, "data": [[2, "x"]]})

        def page(self, number: int) -> str:
            return f"http://127.0.0.1:{self.server.server_port}/v1/statement/{number}"  # type: ignore[attr-defined]

        def reply(self, page: dict[str, Any]) -> None:
            body = json.dumps(page).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        listener.daemon_threads = True
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        yield listener.server_port
        listener.shutdown()
        thread.join()


def test_rows_come_in_pages(port: int) -> None:
    with closing(Client(port)) as client:
        assert client.query("good") == Result(("a", "b"), [(1, None), (2, "x")])


def test_an_error_has_a_name(port: int) -> None:
    with closing(Client(port)) as client, pytest.raises(TrinoError, match="SYNTAX_ERROR: not bad"):
        client.query("bad")


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(OSError, match="does not answer"):
        Client(server.free_port()).query("good")
