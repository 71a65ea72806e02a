"""Wheels with machine code: with `TRELLIS_MACHINE_CODE=1`, what `trellis warmup` compiles goes into the wheel.

Such a wheel is for one version of Python, one system and one kind of processor; without that, a wheel is pure Python.
The build needs what Trellis needs, so it runs without isolation: `make wheel`.
"""

from __future__ import annotations

import json
import os
import pickle
import platform
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCES = Path(__file__).parent / "src"
# Machine code calls nothing of the system's libraries that Numba does not look up by name when it is loaded, so it
# runs wherever Numba's own wheels do.
_PLATFORMS = {"Linux": "manylinux_2_17"}


class MachineCode(BuildHookInterface[Any]):
    """Compiles all kernels into a folder of the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is written."""
        if version == "editable" or os.environ.get("TRELLIS_MACHINE_CODE", "0") == "0":
            return
        self._folder = tempfile.TemporaryDirectory()
        made = Path(self._folder.name) / "made"
        compile_into(made)
        build_data["pure_python"] = False
        python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        build_data["tag"] = f"{python}-{python}-{_PLATFORMS[platform.system()]}_{platform.machine()}"
        build_data["force_include"][str(made)] = "trellis/kernels/machine_code"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when the wheel is written."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def compile_into(folder: Path) -> None:
    """Compile all kernels, and write them where `trellis.kernels.ready` reads them."""
    sys.path.insert(0, str(_SOURCES))
    from trellis.kernels.ready import MANIFEST, PROCESSORS, made_for

    if platform.machine() not in PROCESSORS or platform.system() not in _PLATFORMS:
        raise RuntimeError(f"There are no wheels with machine code for {platform.system()} on {platform.machine()}.")
    processor, features = PROCESSORS[platform.machine()]
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "PYTHONPATH": str(_SOURCES),
            "NUMBA_CACHE_DIR": cache,
            "NUMBA_CPU_NAME": processor,
            "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in features),
        }
        code = "from trellis.execution.warmup import warmup; warmup()"
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        for index in sorted(Path(cache).rglob("*.nbi")):
            if _is_called(index):
                _take(index, folder)
    (folder / MANIFEST).write_text(json.dumps(made_for(features)) + "\n", encoding="utf-8")


def _is_called(index: Path) -> bool:
    """Whether Python calls the function: the code of those that only kernels call is within that of kernels."""
    module, _, rest = index.name.partition(".")
    function = getattr(import_module(f"trellis.kernels.{module}"), rest.partition("-")[0])
    return "no_cpython_wrapper" not in function.targetoptions


def _take(index: Path, folder: Path) -> None:
    """Copy what was compiled of one function, under a key that holds on other machines."""
    from trellis.kernels.ready import ready_key

    with index.open("rb") as file:
        version = pickle.load(file)
        stamp, overloads = pickle.loads(file.read())
    found = {ready_key(signature): name for (signature, _, _), name in overloads.items()}
    with (folder / index.name).open("wb") as file:
        pickle.dump(version, file, protocol=-1)
        file.write(pickle.dumps((stamp, found), protocol=-1))
    for name in found.values():
        (folder / name).write_bytes((index.parent / name).read_bytes())
