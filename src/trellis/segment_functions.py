"""Segment functions that users bring along: registered here by name, used in DEFINE and MEASURES of segment queries."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from trellis.algebra.functions import AGGREGATES
from trellis.algebra.segments import Price
from trellis.analysis.segments import SEGMENT_FUNCTIONS
from trellis.errors import BindingError
from trellis.execution.segments.functions import UserFunction

__all__ = ["registered", "segment_function"]

_FUNCTIONS: dict[str, UserFunction] = {}
_GROWTH = {"constant": 0, "linear": 1, "quadratic": 2}
_RESERVED = {*SEGMENT_FUNCTIONS, *AGGREGATES, "first", "last", "prev", "next", "window"}


def segment_function(
    name: str,
    *,
    evaluate: Callable[..., Any] | None = None,
    index: Callable[..., Any] | None = None,
    lookup: Callable[..., Any] | None = None,
    cost: str | float | None = None,
    arguments: int = 1,
) -> None:
    """Register a function of segments, for use in segment queries of this Python process.

    Functions are vectorised: they get the columns of all rows and arrays of segments, and give an array of numbers.

    Parameters
    ----------
    name : str
        The name in queries; case does not matter. A function of that name is replaced.
    evaluate : callable, optional
        `evaluate(columns, starts, ends)`: one float for each segment, NaN for no value. `columns` is a list of float
        arrays (NaN for NULL), one for each argument; a segment has the rows `starts[i]` to `ends[i]`, both included.
    index, lookup : callable, optional
        The same in two steps: `index(columns, offsets)` is called once for many stretches of rows (stretch `k` has the
        rows `offsets[k]` to `offsets[k + 1] - 1`: a series, or a part of one), `lookup(built, starts, ends)` for
        arrays of segments in them. With both ways the optimizer chooses. A value may depend on the rows of its segment
        only.
    cost : str or float, optional
        How the time of `evaluate` grows with the rows of a segment: `"constant"`, `"linear"` (default) or
        `"quadratic"`, measured now; or the nanoseconds for each row.
    arguments : int
        How many columns the function takes.

    Examples
    --------
    >>> import numpy as np
    >>> import trellis as tr
    >>> def spread(columns, starts, ends):
    ...     return np.array([np.ptp(columns[0][s : e + 1]) for s, e in zip(starts, ends)])
    >>> tr.segment_function("spread", evaluate=spread)
    """
    key = name.lower()
    if not re.fullmatch(r"[a-z_]\w*", key) or key in _RESERVED:
        raise BindingError(
            f"A segment function cannot be called {name}.",
            cure="Choose a plain name that no function of Trellis has.",
        )
    if (index is None) != (lookup is None):
        raise BindingError("index and lookup belong together.", cure="Pass both, or neither.")
    if evaluate is None and index is None:
        raise BindingError(
            f"The segment function {name} has no code.", cure="Pass evaluate=..., or index=... and lookup=... ."
        )
    if not isinstance(arguments, int) or arguments < 1:
        raise BindingError(
            f"A segment function takes at least one argument, not {arguments!r}.", cure="Pass arguments=1, or more."
        )
    if isinstance(cost, str) and cost not in _GROWTH:
        raise BindingError(
            f"There is no cost {cost!r}.", cure=f"Choose one of {', '.join(_GROWTH)}, or a number of nanoseconds."
        )
    growth = cost if isinstance(cost, str) else "linear"
    price = float(cost) if isinstance(cost, (int, float)) else _measured(evaluate, arguments, growth)
    _FUNCTIONS[key] = UserFunction(key, evaluate, index, lookup, arguments, Price(growth, price, index is not None))


def registered() -> dict[str, UserFunction]:
    """All functions, by their names in lower case."""
    return dict(_FUNCTIONS)


def _measured(evaluate: Callable[..., Any] | None, arguments: int, growth: str) -> float:
    """Nanoseconds for each segment, row or square of rows: tried on random numbers."""
    if evaluate is None:
        return 100.0
    rows, length = 512, 32
    columns = [np.random.default_rng(0).normal(size=rows) for _ in range(arguments)]
    starts = np.arange(64, dtype=np.int64)
    try:
        began = time.perf_counter_ns()
        evaluate(columns, starts, starts + length - 1)
        taken = time.perf_counter_ns() - began
    except Exception:  # the function may need other data; it is asked again in earnest
        return 100.0
    price: float = taken / len(starts) / length ** _GROWTH[growth]
    return max(price, 0.01)
