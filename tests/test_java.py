"""The sentence that a user without a fitting Java reads."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from trellis import java
from trellis.errors import ResourceError


def a_java(folder: Path, version: str | None) -> Path:
    """A home whose bin/java shows this version, or fails."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    shown = f"echo 'openjdk version \"{version}\" 2025-04-15' >&2" if version else "exit 1"
    program.write_text(f"#!/bin/sh\n{shown}\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    return folder


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.1"])
def test_new_enough(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, version)))
    assert java.java_problem() is None


@pytest.mark.parametrize(("version", "feature"), [("1.8.0_412", 8), ("11.0.2", 11)])
def test_too_old(version: str, feature: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, version)))
    problem = java.java_problem()
    assert problem is not None
    assert f"is Java {feature}: install Java 17" in problem


def test_missing_everywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_session_is_running", lambda: False)
    with pytest.raises(ResourceError, match="no working `java` on the PATH") as caught:
        java.require_java()
    assert "\n" not in str(caught.value)


def test_a_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    problem = java.java_problem()
    assert problem is not None
    assert "nowhere, which has no working bin/java" in problem


def test_not_asked_with_a_remote_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("SPARK_REMOTE", "sc://cluster")
    java.require_java()


def test_runs_as_a_script_without_the_package(tmp_path: Path) -> None:
    environment = {"JAVA_HOME": str(a_java(tmp_path, None)), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-I", java.__file__], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "install Java 17" in done.stderr
