"""The samples are there, small, sorted, and described."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from trellis import samples
from trellis.errors import BindingError

KEYS = {
    "accesses": ["user", "ts"],
    "repairs": ["job", "step"],
    "sensors": ["sensor", "ts"],
    "stocks_daily": ["ticker", "date"],
    "taxi": ["ts"],
    "visits": ["session", "step"],
    "weather_daily": ["city", "day"],
}


@pytest.mark.parametrize("name", samples.NAMES)
def test_sample(name: str) -> None:
    table = pq.read_table(samples.path(name))
    keys = list(zip(*(table[key].to_pylist() for key in KEYS[name]), strict=True))
    assert keys == sorted(set(keys)), "sorted, and no key twice"
    assert samples.__doc__ is not None
    assert f"| `{name}` | {table.num_rows:,} |".replace(",", " ") in samples.__doc__
    readme = (samples.path(name).parent / "README.md").read_text("utf-8")
    section = readme.split(f"## {name}\n")[1].split("\n## ")[0]
    assert all(f"`{column}`" in section for column in table.column_names)
    assert "Source: " in section


def test_together_they_are_small() -> None:
    assert sum(samples.path(name).stat().st_size for name in samples.NAMES) < 300_000


def test_unknown_name() -> None:
    with pytest.raises(
        BindingError, match="The samples are accesses, repairs, sensors, stocks_daily, taxi, visits, weather_daily"
    ):
        samples.path("nothing")
