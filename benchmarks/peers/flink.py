"""Flink SQL from PyPI, in an environment and a process of its own: installed when asked, stopped by its process id."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.timing import say

__all__ = ["VERSION", "Flink", "FlinkError", "MissingFlinkError", "find_flink", "install_flink", "started"]

VERSION = "2.3.0"
HOME = Path(__file__).resolve().parents[2] / ".peers" / "flink"
"""Its environment."""

# Without what only Python functions within Flink need, Beam above all.
_PACKAGES = (f"apache-flink=={VERSION}", f"apache-flink-libraries=={VERSION}", "py4j==0.10.9.7", "ruamel.yaml>=0.18.4")
_READY = HOME / f".ready-{VERSION}"
_PROGRAM = Path(__file__).with_name("flink_program.py")
_MEMORY = "-Xmx4g"  # as much as Spark has
_STOP_SECONDS = 30


class MissingFlinkError(Exception):
    """Flink is not here; the message says what to do."""


class FlinkError(Exception):
    """Flink did not run a statement."""


def find_flink() -> Path:
    """The Python of Flink's environment."""
    if not _READY.exists():
        raise MissingFlinkError(f"Flink {VERSION} is not installed: --install-flink puts it into .peers/flink, 400 MB.")
    return HOME / "bin" / "python"


def install_flink() -> Path:
    """The Python of Flink's environment, which is made if it is not there."""
    if _READY.exists():
        return find_flink()
    say(f"installing {', '.join(_PACKAGES)} into {HOME}")
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(HOME)],
        [str(HOME / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", *_PACKAGES],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise MissingFlinkError(f"Flink {VERSION} could not be installed: {said[-1] if said else command}")
    _READY.touch()
    return find_flink()


@dataclass(frozen=True, slots=True)
class Flink:
    """A Flink that waits for statements."""

    process: subprocess.Popen[str]
    log: Path

    def run(self, statement: str) -> None:
        """Run a statement to its end."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(statement) + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        if "problem" in answer:
            raise FlinkError(f"{answer['problem'].splitlines()[0]}\n{statement}")

    def answer(self) -> dict[str, Any]:
        """What it says next."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise FlinkError(f"Flink has ended: {self.log.read_text()[-2000:]}")
        read: dict[str, Any] = json.loads(line)
        return read


@contextmanager
def started(python: Path, folder: Path, cores: int = 2) -> Iterator[Flink]:
    """A cluster in one process, on loopback alone, in streaming mode; it is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "flink.log"
    environment = {**os.environ, "FLINK_LOG_DIR": str(folder), "JVM_ARGS": _MEMORY}
    environment.pop("PYTHONPATH", None)
    with log.open("w") as said:
        process = subprocess.Popen(
            [str(python), str(_PROGRAM), str(cores)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env=environment,
            start_new_session=True,
        )
    flink = Flink(process, log)
    try:
        flink.answer()
        yield flink
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    """The end of its input is the end of the program; if not, its own group of processes is ended, Java with it."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
