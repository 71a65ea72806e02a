"""Which Python will the workers run on? Asked before a query runs, so that the answer is a sentence.

A program that is started as `env/bin/python program.py`, without activating the environment, has its workers on the
`python3` of the PATH, without the packages of the environment. Its first match would end in a page of trace.

Where a local Spark was started from this process, the Python of its workers is known, and can be asked. Elsewhere
nothing is asked, and what is not known for sure is no problem.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from trellis.errors import ResourceError

__all__ = ["problem_with", "require_worker_python"]

_NEEDED = ("trellis", "numba", "numpy", "pyarrow")
_QUESTION = f"""
import sys
from importlib.util import find_spec
missing = [name for name in {_NEEDED!r} if find_spec(name) is None]
if missing:
    print("has no package " + missing[0])
else:
    import trellis
    print("has Python %d.%d and trellis %s" % (sys.version_info[0], sys.version_info[1], trellis.__version__))
"""
_PATIENCE = 30.0
_SETTING = "spark.sql.execution.pyspark.python"
# With any of these, packages may reach the workers in another way.
_SENT_ALONG = ("spark.submit.pyFiles", "spark.files", "spark.archives", "spark.executorEnv.PYTHONPATH")
# Interpreters that were asked and fit. Others are asked again: they may have been mended.
_fitting: set[str] = set()


def require_worker_python(spark: SparkSession) -> None:
    """Make sure that the workers of a local Spark can run a match.

    Raises
    ------
    ResourceError
        Their Python has no Trellis, or another one. The message names the cure.
    """
    classic = hasattr(spark, "sparkContext")
    if not (classic or "SPARK_LOCAL_REMOTE" in os.environ) or not sys.executable:
        return
    master = spark.conf.get("spark.master", None) or ""
    if not master.startswith("local") or master.startswith("local-cluster"):
        return
    named = spark.conf.get(_SETTING, None)
    python = named or (spark.sparkContext.pythonExec if classic else _of_a_local_server())
    problem = problem_with(python)
    if problem is None or _sent_along(spark, classic):
        return
    cure = f"Before Spark starts, activate your environment, or set PYSPARK_PYTHON to {sys.executable}."
    if named:
        cure = f"Set {_SETTING} to {sys.executable}."
    found = shutil.which(python) or python
    name = python if found == python else f"{python} ({found})"
    raise ResourceError(f"Spark would run its Python workers on {name}, which {problem}.", cure=cure)


def problem_with(python: str) -> str | None:
    """Why workers could not run on this Python, as the end of a sentence; None if they can, or if nobody knows."""
    found = shutil.which(python)
    if found is None:
        # A path may lead somewhere from where workers are started.
        return "is not on the PATH" if os.path.basename(python) == python else None
    if _is_this(Path(found)) or found in _fitting:
        return None
    try:
        told = subprocess.run(
            [found, "-c", _QUESTION], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        return f"does not start: {error.strerror}"
    if told.returncode != 0:
        return f"cannot import trellis: {(told.stderr.strip().splitlines() or ['it ended'])[-1]}"
    answer = (told.stdout.strip().splitlines() or [""])[-1]
    own = f"has Python {sys.version_info[0]}.{sys.version_info[1]} and trellis {_own_version()}"
    if answer == own:
        _fitting.add(found)
        return None
    return answer if answer.startswith("has no package") else f"{answer}, while this program {own}"


def _is_this(python: Path) -> bool:
    """Whether it is the interpreter of this process, by whatever name (`python`, `python3`) of its environment."""
    own = Path(sys.executable)
    return python == own or (python.absolute().parent == own.absolute().parent and python.resolve() == own.resolve())


def _of_a_local_server() -> str:
    """The Python of workers of a Spark Connect server that this process started."""
    return os.environ.get("PYSPARK_PYTHON") or os.environ.get("PYSPARK_DRIVER_PYTHON") or "python3"


def _sent_along(spark: SparkSession, classic: bool) -> bool:
    return any(spark.conf.get(name, None) for name in _SENT_ALONG) or (classic and bool(spark.sparkContext.listFiles))


def _own_version() -> str:
    # The package is loaded, or this module would not be; to import it here would be a circle.
    return str(sys.modules["trellis"].__version__)
