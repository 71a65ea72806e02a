"""The eleven segment query templates of the T-ReX paper, as bodies of MATCH_RECOGNIZE."""

_R2 = "linear_regression_r2_signed({0}.tstamp, {0}.{1})"


def _up(variable: str, column: str = "price", bound: str = ":t") -> str:
    return f"SEGMENT {variable} AS {_R2.format(variable, column)} >= {bound}"


def _down(variable: str, column: str = "price", bound: str = "-:t") -> str:
    return f"SEGMENT {variable} AS {_R2.format(variable, column)} <= {bound}"


TEMPLATES = {
    "v_shape": f"""PARTITION BY ticker ORDER BY tstamp
    PATTERN (((DN & W) (UP & W)) & WIN)
    DEFINE SEGMENT W AS window(15, NULL), {_down("DN", bound=":down_r2_max")}, {_up("UP", bound=":up_r2_min")},
           SEGMENT WIN AS window(1, :total)""",
    "head_shldr": f"""PARTITION BY ticker ORDER BY tstamp
    PATTERN (((UP1 & W)
              (((DN1 & W) (UP2 & W & NECK_TO_HEAD)) & SHOULDER_TO_HEAD)
              (((DN2 & W & HEAD_TO_NECK) (UP3 & W)) & HEAD_TO_SHOULDER)
              (DN3 & W)) & WIN)
    DEFINE SEGMENT W AS window(3, 10), {_up("UP1")}, {_up("UP2")}, {_up("UP3")},
           {_down("DN1")}, {_down("DN2")}, {_down("DN3")},
           SEGMENT NECK_TO_HEAD     AS last(NECK_TO_HEAD.price) / first(NECK_TO_HEAD.price) > :r1,
           SEGMENT HEAD_TO_NECK     AS first(HEAD_TO_NECK.price) / last(HEAD_TO_NECK.price) > :r1,
           SEGMENT SHOULDER_TO_HEAD AS last(SHOULDER_TO_HEAD.price) / first(SHOULDER_TO_HEAD.price) > :r2,
           SEGMENT HEAD_TO_SHOULDER AS first(HEAD_TO_SHOULDER.price) / last(HEAD_TO_SHOULDER.price) > :r2,
           SEGMENT WIN AS window(1, :total)""",
    "outlier": f"""PARTITION BY ticker ORDER BY tstamp
    PATTERN ((UP1 OUTLIER UP2) & WIN)
    DEFINE OUTLIER AS zscore(OUTLIER.price, :context) > :z_min, {_up("UP1", bound=":up_r2_min")},
           {_up("UP2", bound=":up_r2_min")}, SEGMENT WIN AS window(1, :total)""",
    "rebound": f"""PARTITION BY country ORDER BY tstamp
    PATTERN ((UP1 (((DOWN & FALL) UP2) & RISE)) & WIN)
    DEFINE SEGMENT FALL AS last(FALL.confirmed) / first(FALL.confirmed) < :fall,
           SEGMENT RISE AS last(RISE.confirmed) / first(RISE.confirmed) > :rise,
           {_up("UP1", "confirmed")}, {_up("UP2", "confirmed")}, {_down("DOWN", "confirmed")},
           SEGMENT WIN  AS window(0, 60)""",
    "cld_wave": f"""PARTITION BY city ORDER BY tstamp
    PATTERN ((W1 (DOWN & FALL & W2) W1) & UP_MK & WIN)
    DEFINE SEGMENT W1 AS true, SEGMENT W2 AS window(1, 5),
           SEGMENT FALL AS last(FALL.temp) - first(FALL.temp) < -:fall_diff,
           {_down("DOWN", "temp", "-:down_r2_min")},
           SEGMENT UP_MK AS mann_kendall_test(UP_MK.temp) >= 3.0,
           SEGMENT WIN AS window(25, 30)""",
    "rptd_pttrn": f"""PARTITION BY zone ORDER BY tstamp
    PATTERN (((W1 (UP & RISE & W2) W3 (DOWN & FALL & W2) W1) & WIN){{:k}})
    DEFINE SEGMENT W1 AS true, SEGMENT W2 AS window(20), SEGMENT W3 AS window(4), SEGMENT WIN AS window(48),
           {_up("UP", "rides")}, {_down("DOWN", "rides")},
           SEGMENT RISE AS last(RISE.rides) / first(RISE.rides) > :rise,
           SEGMENT FALL AS last(FALL.rides) / first(FALL.rides) < 1 / :rise""",
    "limit_sell": """PARTITION BY ticker ORDER BY tstamp
    PATTERN (RISE & WIN & ~(FALL W))
    DEFINE SEGMENT W AS true,
           SEGMENT RISE AS last(RISE.price) / first(RISE.price) > :rise,
           SEGMENT FALL AS last(FALL.price) / first(FALL.price) < :fall,
           SEGMENT WIN AS window(1, :total)""",
    "OpenCEP_Q1": """ORDER BY tstamp
    PATTERN ((A1 W (A2 & INC1) W (A3 & INC2)) & WIN)
    DEFINE SEGMENT W AS true, A1 AS A1.ticker = 'GOOG', A2 AS A2.ticker = 'GOOG', A3 AS A3.ticker = 'GOOG',
           INC1 AS INC1.peak > A1.peak, INC2 AS INC2.peak > A2.peak,
           SEGMENT WIN AS window(tstamp, 0, :total, MINUTE)""",
    "OpenCEP_Q2": """ORDER BY tstamp
    PATTERN ((((A1 W A2) & FALL)+) & WIN)
    DEFINE SEGMENT W AS true, A1 AS A1.ticker = 'GOOG', A2 AS A2.ticker = 'GOOG',
           SEGMENT FALL AS last(FALL.peak) < first(FALL.peak),
           SEGMENT WIN AS window(tstamp, 0, :total, MINUTE)""",
    "AFA_Q1": """PARTITION BY ticker ORDER BY tstamp
    PATTERN (((LARGE_FALL & W) ((((FALL & W)+ (RISE & W)+){:K}) & EQ)) & WIN)
    DEFINE SEGMENT W AS window(2),
           SEGMENT LARGE_FALL AS last(LARGE_FALL.price) / first(LARGE_FALL.price) < :ratio,
           SEGMENT FALL AS last(FALL.price) < first(FALL.price),
           SEGMENT RISE AS last(RISE.price) > first(RISE.price),
           SEGMENT EQ AS equal_up_down_ticks(EQ.price),          -- as many rising as falling steps
           SEGMENT WIN AS window(0, 30)""",
    "AFA_Q2": """PARTITION BY ticker ORDER BY tstamp
    PATTERN (((LARGE_FALL & W) ((FALL & W)+ (RISE & W)+)+) & RECOVER & WIN)
    DEFINE SEGMENT W AS window(2), SEGMENT WIN AS window(0, 30),
           SEGMENT LARGE_FALL AS last(LARGE_FALL.price) / first(LARGE_FALL.price) < :ratio,
           SEGMENT FALL AS last(FALL.price) < first(FALL.price), SEGMENT RISE AS last(RISE.price) > first(RISE.price),
           SEGMENT RECOVER AS last(RECOVER.price) >= first(RECOVER.price)""",
}
