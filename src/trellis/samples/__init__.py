"""Small tables to try queries on, some real, some made up; they ship with the package. Sources and licences: README.md.

| name | rows | series | order | columns |
| --- | --- | --- | --- | --- |
| `accesses` | 3 090 | `user` | `ts` | `action`; the log of a site: made up |
| `repairs` | 2 746 | `job` | `step` | `ts`, `activity`, `technician`; the log of a workshop: made up |
| `sensors` | 8 565 | `sensor` | `ts` | `value`: temperatures of six rooms, every ten minutes, °C: made up |
| `weather_daily` | 14 955 | `city` | `day` | `temp`: mean temperature of the day, °C; 12 US cities, 2014–2017 |
| `stocks_daily` | 6 060 | `ticker` | `date` | `close` (USD), `volume` (shares); 12 US shares, 2016–2018 |
| `taxi` | 4 416 | – | `ts` | `rides`: New York taxi rides in each half hour, November 2014 to January 2015 |
| `visits` | 4 809 | `session` | `step` | `ts`, `event`, `product`, `price`; visits to a shop: made up, see README.md |
"""

from __future__ import annotations

from pathlib import Path

from trellis.errors import BindingError

__all__ = ["NAMES", "path"]

NAMES = ("accesses", "repairs", "sensors", "stocks_daily", "taxi", "visits", "weather_daily")
"""The names that `path` knows."""


def path(name: str) -> Path:
    """Where the sample of this name lies: a Parquet file that Spark, pandas and pyarrow can read.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    BindingError
        There is no sample of that name.

    Examples
    --------
    >>> from trellis import samples
    >>> samples.path("taxi").name
    'taxi.parquet'
    """
    if name not in NAMES:
        raise BindingError(f"There is no sample called {name!r}.", cure=f"The samples are {', '.join(NAMES)}.")
    return Path(__file__).parent / f"{name}.parquet"
