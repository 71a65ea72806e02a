"""`make matrix`: the wheel, installed in a fresh environment for each version of Python and of Spark, and tried there.

Each cell runs the quickstart, a stream, and a hundred queries whose answers the naive definitions gave. A table says
how it went; the exit code is 0 if every cell that ran was right, and at least one ran. `--python 3.12 --spark 4.1`
choose cells.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrix import environments
from matrix.environments import PYTHONS, SPARKS, Failed, Size

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LAID = (HERE / "cell.py", HERE / "queries.json", HERE.parent / "doc_pages.py", ROOT / "docs" / "quickstart.md")


@dataclass(frozen=True)
class Cell:
    """What became of one cell."""

    python: str
    spark: str
    outcome: str  # right, wrong, broken, no Python
    said: str = ""
    report: dict[str, Any] | None = None
    size: Size | None = None


def main(argv: Sequence[str] | None = None) -> int:
    chosen = _arguments(argv)
    folder = Path(chosen.folder or tempfile.mkdtemp(prefix="trellis-matrix-")).resolve()
    if folder.is_relative_to(ROOT):
        print("The environments must lie outside the checkout: choose another --folder.", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    wheels = Path(tempfile.mkdtemp(dir=folder, prefix="wheel-"))
    wheel = environments.build_wheel(ROOT, wheels, folder / "build.log")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB; logs are in {folder}", flush=True)
    cells = []
    for python in chosen.python or PYTHONS:
        for spark in chosen.spark or SPARKS:
            cells.append(try_cell(python, spark, wheel, folder, chosen))
            print(line_of(cells[-1]), flush=True)
    print("\n" + "\n".join(table(cells)))
    if chosen.write:
        Path(chosen.write).write_text("\n".join(table(cells)) + "\n", encoding="utf-8")
    return exit_code(cells)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make matrix", description=__doc__)
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only this version of Python; repeatable")
    parser.add_argument("--spark", action="append", choices=SPARKS, help="only this version of Spark; repeatable")
    parser.add_argument("--machine-code", action="store_true", help="the wheel with machine code, built in each cell")
    parser.add_argument("--keep", action="store_true", help="keep the environments")
    parser.add_argument("--seconds", type=float, default=1800, help="so long a cell may take; 1800 unless told")
    parser.add_argument("--folder", help="where environments and logs lie; a new one outside the checkout unless told")
    parser.add_argument("--write", help="write the table to this file, too")
    return parser.parse_args(argv)


def try_cell(python: str, spark: str, wheel: Path, folder: Path, chosen: argparse.Namespace) -> Cell:
    """Make the environment, and run what `cell.py` runs in it."""
    found = environments.interpreter(python)
    if found is None:
        return Cell(python, spark, "no Python", f"there is no Python {python} on the PATH, nor in pyenv: left out")
    place = folder / f"python{python}-spark{spark}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    log = place / "log.txt"
    try:
        inside = environments.create(found, place / "env", log)
        install = [inside, "-m", "pip", "install", "--quiet"]
        environments.run([*install, f"{wheel}[plot]", f"pyspark=={spark}.*"], log)
        if chosen.machine_code:
            made = environments.build_machine_code(ROOT, inside, place / "wheel", log)
            environments.run([*install, "--no-deps", "--force-reinstall", made], log)
        size = environments.size_of(place / "env")
        report = tried(inside, place, log, chosen.seconds)
    except (Failed, subprocess.TimeoutExpired) as error:
        return Cell(python, spark, "broken", str(error))
    finally:
        if not chosen.keep:
            shutil.rmtree(place / "env", ignore_errors=True)
    failed = report["failed"]
    (place / "failed.txt").write_text("\n\n".join(failed), encoding="utf-8")
    said = f"{len(failed)} went wrong, see {place / 'failed.txt'}; the first: {failed[0]}" if failed else ""
    return Cell(python, spark, "wrong" if failed else "right", said, report, size)


def tried(inside: Path, place: Path, log: Path, seconds: float) -> dict[str, Any]:
    """What `cell.py` says in this environment. Nothing of the checkout is in its reach."""
    for file in LAID:
        shutil.copy(file, place)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK_"))
    }
    environment["NUMBA_CACHE_DIR"] = str(place / "numba")  # nothing is compiled already
    started = time.monotonic()
    command = [inside, place / "cell.py", place]
    with log.open("a", encoding="utf-8") as file:
        running = subprocess.Popen(
            command, cwd=place, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        try:
            running.wait(timeout=seconds)
        finally:
            if running.poll() is None:  # its Java, too
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
    if not (place / "report.json").exists():
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise Failed(f"the cell ended after {time.monotonic() - started:.0f} s without a report: {lines[-1]}")
    report: dict[str, Any] = json.loads((place / "report.json").read_text(encoding="utf-8"))
    return report


def exit_code(cells: Sequence[Cell]) -> int:
    """0 if something ran, and all that ran was right. A missing interpreter is no fault."""
    outcomes = {cell.outcome for cell in cells} - {"no Python"}
    return 0 if outcomes == {"right"} else 1


def line_of(cell: Cell) -> str:
    head = f"Python {cell.python}, Spark {cell.spark}: {cell.outcome}"
    if cell.report:
        head += f", {cell.report['queries']} queries and the quickstart in {cell.report['seconds']} s"
    return f"{head}: {cell.said}" if cell.said else head


def table(cells: Sequence[Cell]) -> list[str]:
    """The cells as a table of Markdown."""
    lines = [
        "| Python | Spark | outcome | first query, s | all, s | installed, MB | PySpark, MB | ours, MB |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for cell in cells:
        report, size = cell.report or {}, cell.size
        sizes = (f"{size.whole:.0f}", f"{size.pyspark:.0f}", f"{size.ours:.1f}") if size else ("", "", "")
        values = (
            report.get("python", cell.python),
            report.get("spark", cell.spark),
            cell.outcome,
            report.get("first_seconds", ""),
            report.get("seconds", ""),
            *sizes,
        )
        lines.append(f"| {' | '.join(map(str, values))} |")
    largest = [cell.size.rest for cell in cells if cell.size is not None and cell.size.rest]
    if largest:
        lines += ["", f"The largest others: {', '.join(f'{name} {size:.0f} MB' for name, size in largest[-1])}."]
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
