from __future__ import annotations

import io
import socket
from argparse import Namespace
from typing import Any

import pytest

from trellis.cli import session
from trellis.cli.failures import Told
from trellis.errors import ResourceError


def arguments(**changed: Any) -> Namespace:
    plain: dict[str, Any] = {"master": None, "remote": None, "memory": None, "conf": [], "debug": False}
    return Namespace(**{**plain, **changed})


@pytest.fixture(autouse=True)
def no_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)


def test_by_default_spark_runs_here_and_says_nothing() -> None:
    settings = session._settings(arguments())
    assert settings["spark.master"] == "local[*]"
    assert settings["spark.ui.showConsoleProgress"] == settings["spark.ui.enabled"] == "false"
    assert settings["spark.log.level"] == "ERROR"
    assert settings["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.memory" not in settings


def test_options_and_conf() -> None:
    settings = session._settings(arguments(memory="4g", conf=[("spark.driver.host", "me"), ("a", "b")], debug=True))
    assert settings["spark.driver.memory"] == "4g"
    assert (settings["spark.driver.host"], settings["a"]) == ("me", "b")
    assert settings["spark.log.level"] == "WARN"


def test_a_cluster_keeps_its_network() -> None:
    settings = session._settings(arguments(master="spark://host:7077"))
    assert settings["spark.master"] == "spark://host:7077" and "spark.driver.host" not in settings


def test_where_spark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert session.wants_local(arguments())
    assert session.wants_local(arguments(master="local[2]"))
    assert not session.wants_local(arguments(master="yarn"))
    assert not session.wants_local(arguments(remote="sc://x"))
    monkeypatch.setenv("SPARK_REMOTE", "sc://y")
    assert session.remote_of(arguments()) == "sc://y" and not session.wants_local(arguments())
    assert session.remote_of(arguments(remote="sc://x")) == "sc://x"
    assert session.remote_of(arguments(master="local")) is None  # what is said wins over what is set


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "getproxies", dict)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        session._require_server(f"sc://127.0.0.1:{port}/;user_id=me")
    with pytest.raises(ResourceError, match=f"answers at sc://127.0.0.1:{port}: "):
        session._require_server(f"sc://127.0.0.1:{port}")
    with pytest.raises(ResourceError, match="answers at"):
        session._require_server("sc://127.0.0.1:port")
    session._require_server("local[2]")
    monkeypatch.setattr(session, "getproxies", lambda: {"https": "http://proxy"})
    session._require_server(f"sc://127.0.0.1:{port}")  # a proxy decides who is there


def test_a_death_is_told_with_the_last_words() -> None:
    log = io.BytesIO(b"WARNING: Using incubator modules\n\nToo small maximum heap\n\tat java.lang.Thread.run\n")
    told = session._told(ConnectionRefusedError("111"), log)
    assert str(told).startswith("The Java process of Spark ended too early. Too small maximum heap\n")


def test_a_death_by_memory() -> None:
    log = io.BytesIO(b"26/11/15 ERROR Executor: java.lang.OutOfMemoryError: Java heap space\n" + b"\tat x\n" * 9)
    assert "--memory" in str(
        session._told(Exception(": x.y.Z: Job 0 cancelled because SparkContext was shut down"), log)
    )


def test_an_error_that_cannot_be_read_any_more() -> None:
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError

    assert "ended too early" in str(session._told(Unreadable(), io.BytesIO()))


def test_any_other_error_is_described_while_spark_lives() -> None:
    told = session._told(Exception(": java.lang.IllegalStateException: no"), io.BytesIO())
    assert isinstance(told, Told) and str(told) == "no"
