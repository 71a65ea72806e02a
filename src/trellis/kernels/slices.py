"""The last pass over matches of slices: which of them a search through the whole series would have found."""

from __future__ import annotations

from trellis.kernels.arrays import Bools, Ints
from trellis.kernels.compile import kernel

__all__ = ["resolve_slices"]


@kernel
def resolve_slices(
    new_series: Bools,
    slices: Ints,
    starts: Ints,
    following: Ints,
    rows: Ints,
    state: Ints,
    numbers: Ints,
) -> int:
    """Number the matches on the way of the search, in order; 0 for the others.

    Matches come by series, slice and start. `state` is where the search stands (slice, row of it) and the number of
    the last match; it lives on from call to call. The answer is -1, or the match after which the search cannot go on.
    """
    for k in range(len(starts)):
        if new_series[k]:
            state[0] = slices[k]
            state[1] = 0
            state[2] = 0
        numbers[k] = 0
        if slices[k] < state[0] or (slices[k] == state[0] and starts[k] < state[1]):
            continue
        state[2] += 1
        numbers[k] = state[2]
        if following[k] < 0:
            return k
        # The halo of a slice is the beginning of the next one.
        beyond = following[k] >= rows[k]
        state[0] = slices[k] + 1 if beyond else slices[k]
        state[1] = following[k] - rows[k] if beyond else following[k]
    return -1
