"""What kinds of functions there are, as Spark sees them."""

from __future__ import annotations

from enum import Enum

__all__ = ["AGGREGATES", "FunctionKind"]

# Aggregates that need not be asked for: the language knows them, as it knows operators. Of every other function Spark
# says whether it is one. `first` and `last` are not here: in a row pattern they navigate.
AGGREGATES = frozenset(
    "any any_value approx_count_distinct array_agg avg bool_and bool_or collect_list collect_set count count_if every "
    "kurtosis listagg max max_by mean median min min_by mode percentile product skewness some std stddev stddev_pop "
    "stddev_samp string_agg sum var_pop var_samp variance".split()
)


class FunctionKind(Enum):
    """What Spark makes of a call: a value of each row, or something else.

    A `GENERATOR` makes several rows of one (or drops some), a `WINDOW` function needs OVER. `REFUSED` is a call that
    Spark does not accept at all: an unknown function, a wrong type.
    """

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    GENERATOR = "generator"
    WINDOW = "window"
    REFUSED = "refused"
