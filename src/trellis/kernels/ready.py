"""Machine code that a wheel brings along, so that a first query need not wait for the compiler.

A wheel for one version of Python and one kind of processor holds what `trellis warmup` compiles (`hatch_build.py`).
It is used where Numba is of the version that made it and the processor has what it was made for; elsewhere, and in a
pure wheel, Numba compiles, once on a machine.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import numba
from llvmlite import binding
from numba.core.caching import FunctionCache, IndexDataCacheFile

__all__ = ["FOLDER", "MANIFEST", "PROCESSORS", "STAMP", "ReadyCache", "is_ready", "made_for", "ready_key", "suits"]

FOLDER = Path(__file__).parent / "machine_code"
MANIFEST = "made_for.json"
# What wheels are made for: the name that LLVM has for it, and the features that it implies. Nearly every server since
# 2013 has these; machine code for more would be of no use on many machines.
PROCESSORS = {"x86_64": ("x86-64-v3", ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"))}


def _stamp() -> str:
    """Kernels call each other across files, so that a change of one may change the code of all."""
    content = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        content.update(source.read_bytes())
    return content.hexdigest()


STAMP = _stamp()


def made_for(features: Iterable[str]) -> dict[str, object]:
    """What machine code that is made here needs elsewhere, beside features of the processor."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "numba": numba.__version__,
        "features": list(features),
    }


def suits(needed: Mapping[str, object], features: Mapping[str, bool]) -> bool:
    """Whether machine code that needs this runs here, on a processor with such features."""
    wanted = needed["features"]
    assert isinstance(wanted, list)
    return needed == made_for(wanted) and all(features.get(feature, False) for feature in wanted)


@lru_cache(maxsize=1)
def is_ready() -> bool:
    """Whether there is machine code for this machine."""
    try:
        needed = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
    except OSError:
        return False
    return suits(needed, binding.get_host_cpu_features())


def ready_key(signature: object) -> tuple[object, str]:
    """What machine code is found by: unlike Numba's own key, it does not name the processor of one machine."""
    return signature, "ready"


class ReadyCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, that looks into the wheel first."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self._ready_file = IndexDataCacheFile(str(FOLDER), self._impl.filename_base, STAMP)

    def _load_overload(self, signature: object, context: object) -> object:
        found = self._ready_file.load(ready_key(signature))
        if found is None:
            return super()._load_overload(signature, context)
        return self._impl.rebuild(context, found)
