"""Is there a Java that Spark can run on? Asked before a local session starts, so that the answer is a sentence.

Without this check a missing Java shows as a stack trace of the gateway. This file uses the standard library alone and
also runs as a script (`python src/trellis/java.py`), before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["OLDEST_JAVA", "java_problem", "require_java"]

OLDEST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""

_CURE = (
    f"install Java {OLDEST_JAVA} or newer (Debian and Ubuntu: `apt install openjdk-17-jre-headless`, "
    "macOS: `brew install openjdk@17`, elsewhere: https://adoptium.net) and put it on the PATH or in JAVA_HOME"
)


def require_java() -> None:
    """Make sure that a local Spark session can start.

    Does nothing where no local Java is needed: with Spark Connect (`SPARK_REMOTE` is set), or when a session is
    running already.

    Raises
    ------
    ResourceError
        Java is missing or too old. The message is one sentence and names the cure.

    Examples
    --------
    >>> from trellis.java import require_java
    >>> require_java()
    """
    from trellis.errors import ResourceError

    if os.environ.get("SPARK_REMOTE") or _session_is_running():
        return
    problem = java_problem()
    if problem is not None:
        raise ResourceError(problem)


def java_problem() -> str | None:
    """What is wrong with the Java that Spark would start, as one sentence; None if nothing is."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java: str | None = str(Path(home) / "bin" / "java")
        where = f"JAVA_HOME is {home}, which has no working bin/java"
    else:
        java = shutil.which("java")
        where = "there is no working `java` on the PATH and JAVA_HOME is not set"
    found = _version(java) if java is not None else None
    if found is None:
        return f"Spark needs Java, but {where}: {_CURE}."
    if found < OLDEST_JAVA:
        return f"Spark 4 needs Java {OLDEST_JAVA} or newer, but {java} is Java {found}: {_CURE}."
    return None


def _version(java: str) -> int | None:
    """The feature release of this `java` (8, 17, 21), or None if it does not run."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    number = re.search(r'version "(?:1\.)?(\d+)', shown.stderr + shown.stdout)
    return int(number.group(1)) if number else None


def _session_is_running() -> bool:
    """Whether this process has a Spark session; without PySpark loaded it cannot."""
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


if __name__ == "__main__":
    sys.exit(java_problem())
