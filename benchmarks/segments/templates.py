"""The eleven segment query templates of the T-ReX paper (appendix E) as data: clauses and their parameter sets.

The columns are those that `data` gives: `tstamp` and `price` are the `date` and the `open` of sp500.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

__all__ = ["TEMPLATES", "TICKERS", "Parameters", "Template", "clause", "parameter_sets", "some_sets"]

Parameters = dict[str, float | int | str]

# The ticker that the OpenCEP templates look for, by dataset: one that trades nearly every minute.
TICKERS = {"nasdaq": "GOOG", "etf_minutes": "SPY"}

_MINUTES = (5, 20, 40, 60, 80, 100, 120)
_RATIOS = (0.925, 0.9, 0.875, 0.85, 0.825, 0.8, 0.775, 0.75, 0.725)


@dataclass(frozen=True, slots=True)
class Template:
    """A query template: where it runs, its clauses with :parameters, and the values of each parameter."""

    name: str
    datasets: tuple[str, ...]
    partition_by: tuple[str, ...]
    order_by: tuple[str, ...]
    pattern: str
    define: str
    values: Mapping[str, tuple[float | int, ...]]

    @property
    def dataset(self) -> str:
        """The dataset of the paper; OpenCEP's templates have a second, larger one."""
        return self.datasets[0]


def clause(template: Template) -> str:
    """The whole body of MATCH_RECOGNIZE, with its :parameters."""
    lines = [f"PARTITION BY {', '.join(template.partition_by)}"] if template.partition_by else []
    lines += [f"ORDER BY {', '.join(template.order_by)}", f"PATTERN ({template.pattern})", f"DEFINE {template.define}"]
    return "\n".join(lines)


def parameter_sets(template: Template, dataset: str | None = None) -> list[Parameters]:
    """All combinations of the listed values, the last parameter fastest; the ticker follows from the dataset."""
    dataset = dataset or template.dataset
    fixed: Parameters = {"ticker": TICKERS[dataset]} if dataset in TICKERS else {}
    return [
        {**fixed, **dict(zip(template.values, chosen, strict=True))} for chosen in product(*template.values.values())
    ]


def some_sets(sets: list[Parameters], count: int | None) -> list[Parameters]:
    """About so many, spread over all; None: all."""
    return sets if count is None else sets[:: max(1, len(sets) // count)]


_ALL = (
    Template(
        "v_shape",
        ("sp500",),
        ("ticker",),
        ("tstamp",),
        "((DN & W) (UP & W)) & WIN",
        """SEGMENT W   AS window(15, NULL),
       SEGMENT DN  AS linear_regression_r2_signed(DN.tstamp, DN.price) <= :down_r2_max,
       SEGMENT UP  AS linear_regression_r2_signed(UP.tstamp, UP.price) >= :up_r2_min,
       SEGMENT WIN AS window(1, :total)""",
        {"down_r2_max": (-0.7,), "up_r2_min": (0.7, 0.9, 1.0), "total": (30, 60, 90)},
    ),
    Template(
        "head_shldr",
        ("sp500",),
        ("ticker",),
        ("tstamp",),
        """((UP1 & W)
          (((DN1 & W) (UP2 & W & NECK_TO_HEAD)) & SHOULDER_TO_HEAD)
          (((DN2 & W & HEAD_TO_NECK) (UP3 & W)) & HEAD_TO_SHOULDER)
          (DN3 & W)) & WIN""",
        """SEGMENT W AS window(3, 10),
       SEGMENT UP1 AS linear_regression_r2_signed(UP1.tstamp, UP1.price) >= :t,
       SEGMENT UP2 AS linear_regression_r2_signed(UP2.tstamp, UP2.price) >= :t,
       SEGMENT UP3 AS linear_regression_r2_signed(UP3.tstamp, UP3.price) >= :t,
       SEGMENT DN1 AS linear_regression_r2_signed(DN1.tstamp, DN1.price) <= -:t,
       SEGMENT DN2 AS linear_regression_r2_signed(DN2.tstamp, DN2.price) <= -:t,
       SEGMENT DN3 AS linear_regression_r2_signed(DN3.tstamp, DN3.price) <= -:t,
       SEGMENT NECK_TO_HEAD     AS last(NECK_TO_HEAD.price) / first(NECK_TO_HEAD.price) > :r1,
       SEGMENT HEAD_TO_NECK     AS first(HEAD_TO_NECK.price) / last(HEAD_TO_NECK.price) > :r1,
       SEGMENT SHOULDER_TO_HEAD AS last(SHOULDER_TO_HEAD.price) / first(SHOULDER_TO_HEAD.price) > :r2,
       SEGMENT HEAD_TO_SHOULDER AS first(HEAD_TO_SHOULDER.price) / last(HEAD_TO_SHOULDER.price) > :r2,
       SEGMENT WIN AS window(1, :total)""",
        {"t": (0.7,), "total": (40, 60, 80), "r1": (1.1, 1.15), "r2": (1.0, 1.05, 1.11)},
    ),
    Template(
        "outlier",
        ("sp500",),
        ("ticker",),
        ("tstamp",),
        "(UP1 OUTLIER UP2) & WIN",
        """OUTLIER AS zscore(OUTLIER.price, :context) > :z_min,
       SEGMENT UP1 AS linear_regression_r2_signed(UP1.tstamp, UP1.price) >= :up_r2_min,
       SEGMENT UP2 AS linear_regression_r2_signed(UP2.tstamp, UP2.price) >= :up_r2_min,
       SEGMENT WIN AS window(1, :total)""",
        {"up_r2_min": (0.7,), "total": (30,), "context": (15, 20, 25), "z_min": (2.61, 2.63, 2.65)},
    ),
    Template(
        "rebound",
        ("covid",),
        ("county",),
        ("tstamp",),
        "(UP1 (((DOWN & FALL) UP2) & RISE)) & WIN",
        """SEGMENT FALL AS last(FALL.confirmed) / first(FALL.confirmed) < :fall,
       SEGMENT RISE AS last(RISE.confirmed) / first(RISE.confirmed) > :rise,
       SEGMENT UP1  AS linear_regression_r2_signed(UP1.tstamp, UP1.confirmed) >= :t,
       SEGMENT UP2  AS linear_regression_r2_signed(UP2.tstamp, UP2.confirmed) >= :t,
       SEGMENT DOWN AS linear_regression_r2_signed(DOWN.tstamp, DOWN.confirmed) <= -:t,
       SEGMENT WIN  AS window(0, 60)""",
        {"t": (0.7,), "fall": (0.4, 0.6, 0.8), "rise": (3, 4, 5)},
    ),
    Template(
        "cld_wave",
        ("weather_daily",),
        ("city",),
        ("tstamp",),
        "(W1 (DOWN & FALL & W2) W1) & UP_MK & WIN",
        """SEGMENT W1 AS true, SEGMENT W2 AS window(1, 5),
       SEGMENT FALL AS last(FALL.temp) - first(FALL.temp) < -:fall_diff,
       SEGMENT DOWN AS linear_regression_r2_signed(DOWN.tstamp, DOWN.temp) <= -:down_r2_min,
       SEGMENT UP_MK AS mann_kendall_test(UP_MK.temp) >= 3.0,
       SEGMENT WIN AS window(25, 30)""",
        {"fall_diff": (16, 18, 20), "down_r2_min": (0.85, 0.9, 0.95)},
    ),
    Template(
        "rptd_pttrn",
        ("taxi",),
        (),
        ("tstamp",),
        "((W1 (UP & RISE & W2) W3 (DOWN & FALL & W2) W1) & WIN){:k}",
        """SEGMENT W1 AS true, SEGMENT W2 AS window(20), SEGMENT W3 AS window(4), SEGMENT WIN AS window(48),
       SEGMENT UP   AS linear_regression_r2_signed(UP.tstamp, UP.rides) >= :t,
       SEGMENT DOWN AS linear_regression_r2_signed(DOWN.tstamp, DOWN.rides) <= -:t,
       SEGMENT RISE AS last(RISE.rides) / first(RISE.rides) > :rise,
       SEGMENT FALL AS last(FALL.rides) / first(FALL.rides) < 1 / :rise""",
        {"t": (0.7,), "rise": (3, 4, 5), "k": (1, 2, 3, 4)},
    ),
    Template(
        "limit_sell",
        ("sp500",),
        ("ticker",),
        ("tstamp",),
        "RISE & WIN & ~(FALL W)",
        """SEGMENT W AS true,
       SEGMENT RISE AS last(RISE.price) / first(RISE.price) > :rise,
       SEGMENT FALL AS last(FALL.price) / first(FALL.price) < :fall,
       SEGMENT WIN AS window(1, :total)""",
        {"rise": (2.0,), "fall": (0.7, 0.8, 0.9), "total": (15, 30, 60)},
    ),
    Template(
        "OpenCEP_Q1",
        ("nasdaq", "etf_minutes"),
        (),
        ("tstamp", "ticker"),
        "(A1 W (A2 & INC1) W (A3 & INC2)) & WIN",
        """SEGMENT W AS true, A1 AS A1.ticker = :ticker, A2 AS A2.ticker = :ticker, A3 AS A3.ticker = :ticker,
       INC1 AS INC1.peak > A1.peak, INC2 AS INC2.peak > A2.peak,
       SEGMENT WIN AS window(tstamp, 0, :total, MINUTE)""",
        {"total": _MINUTES},
    ),
    Template(
        "OpenCEP_Q2",
        ("nasdaq", "etf_minutes"),
        (),
        ("tstamp", "ticker"),
        "(((A1 W A2) & FALL)+) & WIN",
        """SEGMENT W AS true, A1 AS A1.ticker = :ticker, A2 AS A2.ticker = :ticker,
       SEGMENT FALL AS last(FALL.peak) < first(FALL.peak),
       SEGMENT WIN AS window(tstamp, 0, :total, MINUTE)""",
        {"total": _MINUTES},
    ),
    Template(
        "AFA_Q1",
        ("sp500",),
        ("ticker",),
        ("tstamp",),
        "((LARGE_FALL & W) ((((FALL & W)+ (RISE & W)+){:K}) & EQ)) & WIN",
        """SEGMENT W AS window(2),
       SEGMENT LARGE_FALL AS last(LARGE_FALL.price) / first(LARGE_FALL.price) < :ratio,
       SEGMENT FALL AS last(FALL.price) < first(FALL.price),
       SEGMENT RISE AS last(RISE.price) > first(RISE.price),
       SEGMENT EQ AS equal_up_down_ticks(EQ.price),
       SEGMENT WIN AS window(0, 30)""",
        {"K": (5,), "ratio": _RATIOS},
    ),
    Template(
        "AFA_Q2",
        ("sp500",),
        ("ticker",),
        ("tstamp",),
        "((LARGE_FALL & W) ((FALL & W)+ (RISE & W)+)+) & RECOVER & WIN",
        """SEGMENT W AS window(2), SEGMENT WIN AS window(0, 30),
       SEGMENT LARGE_FALL AS last(LARGE_FALL.price) / first(LARGE_FALL.price) < :ratio,
       SEGMENT FALL AS last(FALL.price) < first(FALL.price), SEGMENT RISE AS last(RISE.price) > first(RISE.price),
       SEGMENT RECOVER AS last(RECOVER.price) >= first(RECOVER.price)""",
        {"ratio": _RATIOS},
    ),
)

TEMPLATES = {template.name: template for template in _ALL}
