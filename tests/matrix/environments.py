"""Interpreters, fresh environments, and what lies in them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
SPARKS = ("4.0", "4.1", "4.2", "4.3")


class Failed(Exception):
    """A step did not work; the message is its last words."""


@dataclass(frozen=True)
class Size:
    """Megabytes of an environment: all of it, PySpark, and what Trellis laid there."""

    whole: float
    pyspark: float
    ours: float
    rest: tuple[tuple[str, float], ...] = ()  # the largest of the others


def interpreter(version: str) -> Path | None:
    """A Python of this version: this one, one on the PATH, or one of pyenv's."""
    if version == "{}.{}".format(*sys.version_info[:2]):
        return Path(sys.executable)
    homes = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    installed = [path / "bin" / "python" for home in homes for path in sorted(home.glob(f"{version}.*"), reverse=True)]
    named = shutil.which(f"python{version}")
    for candidate in [*([Path(named)] if named else []), *installed]:
        if _version(candidate) == version:  # a shim of pyenv may stand for a version that is not there
            return candidate
    return None


def _version(python: Path) -> str | None:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def run(command: Sequence[str | Path], log: Path, **options: object) -> None:
    """Run a step; what it says goes to the log."""
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(map(str, command))}\n")
        file.flush()
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        raise Failed(f"{_step(command)} ended with code {done.returncode}: {lines[-1]}")


def _step(command: Sequence[str | Path]) -> str:
    return " ".join([Path(command[0]).name, *map(str, command[1:4])])


def build_wheel(root: Path, folder: Path, log: Path) -> Path:
    """The wheel of pure Python."""
    environment = {**os.environ, "TRELLIS_MACHINE_CODE": "0"}
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, root]
    run(wheel, log, env=environment)
    (built,) = folder.glob("*.whl")
    return built


def build_machine_code(root: Path, python: Path, folder: Path, log: Path) -> Path:
    """A wheel with machine code for this environment, which holds what Trellis needs."""
    run([python, "-m", "pip", "install", "--quiet", "hatchling"], log)
    environment = {**os.environ, "TRELLIS_MACHINE_CODE": "1"}
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    run([python, "-m", "pip", "wheel", *options, root], log, env=environment)
    (built,) = folder.glob("*.whl")
    return built


def create(python: Path, folder: Path, log: Path) -> Path:
    """A fresh environment; the answer is its Python."""
    run([python, "-m", "venv", folder], log)
    return folder / "bin" / "python"


def size_of(environment: Path) -> Size:
    """How large it is."""
    (packages,) = (environment / "lib").glob("python*/site-packages")
    sizes = {path.name: _megabytes(path) for path in packages.iterdir()}
    ours = sum(size for name, size in sizes.items() if re.match(r"trellis($|_spark-)", name))
    rest = sorted(((size, name) for name, size in sizes.items() if name not in ("pyspark", "trellis")), reverse=True)
    return Size(
        _megabytes(environment), sizes.get("pyspark", 0.0), ours, tuple((name, size) for size, name in rest[:4])
    )


def _megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_symlink()]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6
