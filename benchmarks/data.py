"""The folder of data that a benchmark reads; a quick run reads a few made-up rows instead."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.made_up import make_up

__all__ = ["data_folder"]

_VARIABLE = "TRELLIS_DATA"


@contextmanager
def data_folder(asked: argparse.Namespace, names: Sequence[str]) -> Iterator[Path]:
    """The folder that holds these Parquet files, or an error that says plainly what is missing."""
    if asked.quick:
        with tempfile.TemporaryDirectory(prefix="trellis-benchmark-") as folder:
            make_up(Path(folder), names)
            yield Path(folder)
        return
    files = ", ".join(f"{name}.parquet" for name in names)
    given = asked.data or os.environ.get(_VARIABLE)
    if not given:
        raise SystemExit(
            f"This benchmark reads {files}: pass the folder that holds them as --data, or name it in {_VARIABLE}. "
            "With --quick it runs on a few made-up rows."
        )
    missing = [name for name in names if not (Path(given) / f"{name}.parquet").exists()]
    if missing:
        raise SystemExit(
            f"There is no {missing[0]}.parquet in {given}. This benchmark reads {files}: pass the folder that holds "
            "them as --data. With --quick it runs on a few made-up rows."
        )
    yield Path(given)
