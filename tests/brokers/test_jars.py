"""What is said where jars or Java cannot be had, and which connector is taken; nothing is fetched here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brokers import broker, jars


def fake_maven(folder: Path, *lines: str) -> None:
    maven = folder / "mvn"
    maven.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    maven.chmod(0o755)


def test_a_missing_maven_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(jars.Missing, match=r"kafka_2\.13:\S+ is fetched by Maven, and there is no `mvn` on the PATH"):
        jars.broker_jars()


def test_a_failing_maven_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_maven(tmp_path, "echo '[ERROR] Could not resolve'", "exit 1")
    monkeypatch.setattr(jars, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(jars.Missing, match=r"could not fetch \S+ from Maven Central: .*Could not resolve"):
        jars.broker_jars()
    assert not list((tmp_path / "cache").iterdir())


def test_what_is_there_is_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = 'for option; do case "$option" in -DoutputDirectory=*) folder="${option#*=}";; esac; done'
    fake_maven(tmp_path, copy, 'mkdir "$folder"', 'touch "$folder/kafka-clients-1.jar" "$folder/scala-library-1.jar"')
    monkeypatch.setattr(jars, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    first = jars.broker_jars()
    monkeypatch.setenv("PATH", "")
    assert [jar.name for jar in first] == ["kafka-clients-1.jar", "scala-library-1.jar"] and jars.broker_jars() == first


def test_the_connector_is_that_of_the_spark_or_else_one_that_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def fetch(*artifacts: str) -> list[Path]:
        asked.append(artifacts)
        if artifacts[0].endswith(":9.9.9"):
            raise jars.Missing("not there")
        return [tmp_path / "spark-sql-kafka-0-10_2.13.jar", tmp_path / "scala-library.jar"]

    monkeypatch.setattr(jars, "fetch", fetch)
    assert jars.connector_jars("4.2.0") == jars.connector_jars("9.9.9") == [tmp_path / "spark-sql-kafka-0-10_2.13.jar"]
    assert asked == [(f"{jars.CONNECTOR}:4.2.0",), (f"{jars.CONNECTOR}:9.9.9",), jars.OTHERWISE]


def test_a_missing_java_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(jars.Missing, match="needs Java"):
        broker.java()


def test_ports_differ() -> None:
    assert len(set(broker.free_ports(5))) == 5


def test_a_broker_that_ends_at_once_shows_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("no such setting\n", encoding="utf-8")
    process = subprocess.Popen(["/bin/sh", "-c", "exit 1"])
    process.wait()
    with pytest.raises(RuntimeError, match="no such setting"):
        broker.await_start(process, broker.free_ports(1)[0], log)
