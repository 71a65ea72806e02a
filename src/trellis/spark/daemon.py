"""Workers that start with the kernels loaded: set `spark.python.daemon.module` to the name of this module.

Spark forks the Python workers of an executor from one process, which has nothing of theirs: each worker imports numpy,
Arrow and Numba and loads the kernels for itself. This process does it once, for all workers.
"""

from __future__ import annotations

import traceback

from pyspark.daemon import manager

import trellis.execution.task  # noqa: F401 - workers import it by the name that Spark sends
from trellis.execution.warmup import warmup

__all__: list[str] = []

if __name__ == "__main__":
    try:
        warmup()
    except Exception:  # other Python functions need these workers, too
        traceback.print_exc()
    manager()
