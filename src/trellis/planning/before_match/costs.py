"""What a query costs with and without a prefilter (equations 5 to 7 of Zhu, Huang and Chaudhuri, PVLDB 16(5)).

The paper weighs its two halves by one factor, omega: what a test of the matcher costs in units of the prefilter's. Here
both are in nanoseconds, which `benchmarks/calibration` measures: moving rows to the matcher costs more
than matching them, so the constants of the way there stand beside those of the paper.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from trellis.algebra.prefilter import Form, Prefilter
from trellis.algebra.statistics import RowStatistics
from trellis.planning.before_match.sizes import joined_rows, kept_share, symbol_rows

__all__ = ["PrefilterCosts", "default_prefilter_costs", "prefilter_cost", "query_cost"]


@dataclass(frozen=True, slots=True)
class PrefilterCosts:
    """Nanoseconds on one core: `scan` a row, `mask` one into its two pairs of buckets.

    `probe` a row for its bucket, `join` for each row that goes into a join and `meet` for each combination in it,
    `keep` for each bucket found; `move` a row to the matcher (exchange, sort, Arrow), `test` one condition there;
    `job` for each further Spark job.
    """

    scan: float
    mask: float
    probe: float
    join: float
    meet: float
    keep: float
    move: float
    test: float
    job: float


@cache
def default_prefilter_costs() -> PrefilterCosts:
    """The constants that come with the package."""
    text = files("trellis.planning.before_match").joinpath("costs.json").read_text(encoding="utf-8")
    values = json.loads(text)
    return PrefilterCosts(**{field.name: float(values[field.name]) for field in fields(PrefilterCosts)})


def prefilter_cost(
    prefilter: Prefilter, statistics: RowStatistics, costs: PrefilterCosts, seen: float = 1.0
) -> tuple[float, float]:
    """Nanoseconds for finding the buckets and for looking up the rows, on all cores; and the rows that are left.

    Only a share `seen` of the rows is looked up.
    """
    rows = statistics.rows
    kept = rows * kept_share(prefilter, statistics, seen)
    found = 0.0
    if prefilter.form is Form.MASKS:
        found += rows * costs.scan + symbol_rows(prefilter, statistics) * costs.mask
    else:
        for component in prefilter.components:
            met, fitting = joined_rows(component, prefilter, statistics)
            shares = [statistics.shares.get(prefilter.symbols[number].variable, 1.0) for number in component.symbols]
            found += len(shares) * rows * costs.scan + sum(shares) * rows * costs.join
            found += met * costs.meet + fitting * costs.keep
    looked_up = rows * (costs.scan + seen * costs.probe) + kept * costs.keep
    return (found + looked_up) / statistics.cores + costs.job, kept


def query_cost(
    rows: float,
    statistics: RowStatistics,
    costs: PrefilterCosts,
    tests: float,
    tasks: float,
) -> float:
    """Nanoseconds for moving rows to the matcher and matching them there, with so many `tests` of conditions each.

    So many tasks share the work, as far as there are cores for them.
    """
    return rows * (costs.move + tests * costs.test) / max(1.0, min(tasks, statistics.cores))
