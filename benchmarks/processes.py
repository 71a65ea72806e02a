"""Processes of their own: for another number of cores, for memory that nothing else has touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["json_lines", "let_others_import"]


def let_others_import() -> None:
    """Let processes that begin after this one, Spark's workers among them, import this package."""
    paths = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    if paths[0] not in paths[1].split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)


def json_lines(module: str, *arguments: str) -> Iterator[dict[str, Any]]:
    """Run a module of this package in a new process, and read what it prints, a line of JSON at a time."""
    let_others_import()
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
