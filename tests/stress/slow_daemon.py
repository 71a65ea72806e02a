"""PySpark's daemon, but the third fork takes some seconds, as on a busy machine: for `spark.python.daemon.module`."""

from __future__ import annotations

import os
import time
from typing import Any

from pyspark import daemon


class SlowForks:
    """The module `os`, but for `fork`."""

    forks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fork(self) -> int:
        self.forks += 1
        if self.forks == 3:
            time.sleep(6)
        return os.fork()


daemon.os = SlowForks()  # type: ignore[attr-defined]

if __name__ == "__main__":
    daemon.manager()
