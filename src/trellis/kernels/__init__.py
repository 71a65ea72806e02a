"""Arrays in, arrays out, compiled once with Numba. A query is data for these functions, never new code."""
