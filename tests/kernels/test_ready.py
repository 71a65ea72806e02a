"""Machine code in wheels: made once, found on machines that it suits, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numba
import pytest

from trellis.kernels import ready

ROOT = Path(__file__).parents[2]
FEATURES = {"avx2": True, "fma": True, "avx512f": False}
# All kernels, and a search, in a process of its own.
SEARCH = """
import local
from trellis.execution.warmup import warmup
from trellis.kernels.ready import FOLDER, is_ready

warmup()
rows = [{"t": t, "x": x} for t, x in enumerate([3, 2, 1, 2, 3, 3])]
clause = (
    "ORDER BY t MEASURES first(A.t) AS a, last(UP.t) AS b PATTERN (A DOWN+ UP+) "
    "DEFINE DOWN AS x < prev(x), UP AS x > prev(x)"
)
print(local.run(clause, rows, [("t", "int"), ("x", "int")]))
print(is_ready(), FOLDER)
"""


def test_what_machine_code_needs() -> None:
    needed = ready.made_for(["avx2", "fma"])
    assert ready.suits(needed, FEATURES)
    assert not ready.suits(ready.made_for(["avx2", "avx512f"]), FEATURES)
    assert not ready.suits(ready.made_for(["avx2", "unheard_of"]), FEATURES)
    for other in ({"numba": "0.1"}, {"system": "Plan 9"}, {"machine": "vax"}):
        assert not ready.suits({**needed, **other}, FEATURES)


def test_a_checkout_has_none() -> None:
    assert not ready.is_ready()


@pytest.mark.thorough
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_wheel_needs_no_compiler(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", str(ROOT)]
    made = {**os.environ, "TRELLIS_MACHINE_CODE": "1"}
    subprocess.run([*command, "--wheel-dir", str(tmp_path)], env=made, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert f"-cp{sys.version_info[0]}{sys.version_info[1]}-" in wheel.name
    package, cache = tmp_path / "package", tmp_path / "cache"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(package)
    cache.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package), str(ROOT / "tests")]),
        "NUMBA_CACHE_DIR": str(cache),
    }
    done = subprocess.run([sys.executable, "-c", SEARCH], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == f"True {package / 'trellis' / 'kernels' / 'machine_code'}"
    assert "'a': 0, 'b': 4" in done.stdout
    assert "compiling" not in done.stderr
    assert not [file for file in cache.rglob("*") if file.is_file()], "something was compiled"
