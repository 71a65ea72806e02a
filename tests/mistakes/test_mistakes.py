"""A hundred mistakes that users make: their messages stand in the files beside this one.

`TRELLIS_WRITE_MISTAKES=1 pytest --spark tests/mistakes` writes the messages anew; the difference is to be read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trellis as tr
from tests.mistakes.runner import Mistake, Outcome, corpus, make, names_cure, names_place, rewrite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MISTAKES = list(corpus())


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    from pyspark.sql import functions as F

    before = Path.cwd()
    os.chdir(folder := tmp_path_factory.mktemp("mistakes"))
    ticks = spark.createDataFrame(
        [("acme", 1, 9.0, 10), ("acme", 2, 7.0, 20), ("acme", 3, 8.0, 30)],
        "symbol string, ts int, price double, volume int",
    )
    events = spark.createDataFrame([("Order", 1, 7), ("Payment", 4, 8)], "type string, time int, id int")
    ticks.createOrReplaceTempView("ticks")
    events.createOrReplaceTempView("events")
    (folder / "ticks.csv").write_text("symbol,ts,price\nacme,1,9.0\nacme,2,7.0\n")
    (folder / "events.csv").write_text("type,time,id\nOrder,1,7\nPayment,4,8\n")
    (folder / "falls.sql").write_text(
        "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS start, last(ts) AS end PATTERN (A B)\n"
        "DEFINE B AS price < :most)"
    )
    names: dict[str, Any] = {"tr": tr, "F": F, "spark": spark, "ticks": ticks, "events": events}
    names["matches"] = tr.pattern("A B").measures(start="A.ts", end="B.ts").match(ticks, order_by="ts")
    spark.range(1).selectExpr("map(1, 2) AS m").createOrReplaceTempView("maps")
    names["stream"] = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "value AS price")
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tr.errors.TrellisWarning)
        for mistake in MISTAKES:
            found[mistake.file, mistake.title] = make(mistake, names)
    spark.catalog.dropTempView("maps")
    spark.catalog.dropTempView("ticks")
    spark.catalog.dropTempView("events")
    os.chdir(before)
    if os.environ.get("TRELLIS_WRITE_MISTAKES"):
        rewrite({key: outcome.message for key, outcome in found.items()})
    yield found


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: f"{Path(one.file).stem}: {one.title}")
def test_message(mistake: Mistake, outcomes: dict[Any, Outcome]) -> None:
    assert outcomes[mistake.file, mistake.title].message == mistake.message


def test_messages_name_place_and_cure(outcomes: dict[Any, Outcome]) -> None:
    lacking = []
    for mistake in MISTAKES:
        outcome = outcomes[mistake.file, mistake.title]
        missing = [
            what
            for what, there in (
                ("an error of Trellis", not outcome.message.startswith("!!")),
                ("place", names_place(mistake, outcome)),
                ("cure", names_cure(outcome)),
            )
            if not there
        ]
        if missing:
            lacking.append(f"{mistake.file}: {mistake.title}: no {', no '.join(missing)}")
    print(f"{len(MISTAKES)} mistakes, {len(lacking)} lacking\n" + "\n".join(lacking))
    assert len(MISTAKES) >= 100
    assert len(lacking) <= len(MISTAKES) // 20, "\n".join(lacking)
