"""How kernels are compiled: in a wheel, or once for each machine, cached on disk; without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

from trellis.kernels.ready import STAMP, ReadyCache, is_ready

__all__ = ["inlined", "inner", "kernel", "spliced"]

F = TypeVar("F", bound=Callable[..., object])

# Kernels allocate nothing: without reference counts they compile in half the time. The types of arguments are settled
# by the first call, so callers pass the same types always: int64, and arrays that are contiguous and writable.
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INNER = {**_OPTIONS, "no_cpython_wrapper": True}


def kernel(function: F) -> F:
    """Compile on the first call and keep the machine code on disk, if no wheel brought it. Arrays come from the caller.

    Division by zero follows IEEE (`error_model="numpy"`): kernels test for it where SQL wants an error.
    """
    compiled = _compiled(function, _OPTIONS)
    if is_ready() and hasattr(compiled, "_cache"):
        compiled._cache = ReadyCache(function)
        compiled._cache._cache_file._source_stamp = STAMP
    return compiled


def inner(function: F) -> F:
    """As `kernel`, for functions that only kernels call."""
    return _compiled(function, _INNER)


def inlined(function: F) -> F:
    """As `inner`, for small functions on hot paths: LLVM puts them into their callers."""
    return _compiled(function, {**_INNER, "forceinline": True})


def spliced(function: F) -> F:
    """For functions that call large ones: Numba puts their code into their callers before anything is compiled.

    Every function that is compiled by itself compiles all that it calls once more.
    """
    return _compiled(function, {**_INNER, "inline": "always"})


def _compiled(function: F, options: dict[str, object]) -> F:
    # Some versions of Numba are typed, but not for the options that start with an underscore.
    compile_with: Callable[..., Callable[[F], F]] = numba.njit
    try:
        compiled = compile_with(**options)(function)
    except RuntimeError:
        # No folder to keep machine code in (a read-only installation without a home): compile in every process.
        return compile_with(**{**options, "cache": False})(function)
    # Numba looks for changes in the file of a function alone, but the machine code holds what the function calls, too.
    index = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if index is not None:
        index._source_stamp = STAMP
    return compiled
