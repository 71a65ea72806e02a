"""How kernels are compiled: once for each machine, cached on disk, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

__all__ = ["inlined", "kernel"]

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile on the first call and keep the machine code on disk.

    Division by zero follows IEEE (`error_model="numpy"`): kernels test for it where SQL wants an error.
    """
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def inlined(function: F) -> F:
    """As `kernel`, for small functions on hot paths: LLVM puts them into their callers."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function)
    return compiled
