"""Queries checked, run and explained on a desk with real tables."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import trellis as tr
from studio.clients import Client, studio_on_loopback
from trellis.errors import BindingError, TrellisError, UnsupportedError
from trellis.studio import answers
from trellis.studio.desk import Desk
from trellis.studio.jobs import SparkJobs
from trellis.studio.questions import Question

TICKS = "symbol string, day int, price double, volume int, note string"
FALLS = """
SELECT * FROM ticks MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY day
    MEASURES A.day AS start, count(DOWN.*) AS falls
    PATTERN (A DOWN{2,})
    DEFINE DOWN AS price < prev(price)
)"""


def rows(partitions: int, days: int) -> list[tuple[str, int, float, int, str]]:
    return [(f"s{p}", day, float((day * 7 + p) % 11), day % 3, "x") for p in range(partitions) for day in range(days)]


def opened(spark: SparkSession, *, partitions: int = 4, days: int = 30, sample: int = 50_000) -> Desk:
    def opener(session: SparkSession, schemas: Mapping[str, StructType]) -> dict[str, DataFrame]:
        ticks = session.createDataFrame(rows(partitions, days), TICKS)
        events = session.createDataFrame(
            [("Order", 1, 7), ("Order", 2, 8), ("Payment", 4, 8)], "type string, time int, id int"
        )
        frames = {"ticks": ticks, "events": events}
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)
        return frames

    desk = Desk(sample_rows=sample)
    desk.open(spark.newSession(), opener)
    return desk


@pytest.fixture(scope="module")
def desk(spark: SparkSession) -> Desk:
    return opened(spark)


def run(desk: Desk, text: str, *, everything: bool = False, **options: Any) -> dict[str, dict[str, Any]]:
    """What a run tells, by event."""
    told: list[Mapping[str, Any]] = []
    answers.run(desk, Question(text, **options), told.append, everything=everything)
    return {str(event["event"]): dict(event) for event in told}


def bands(spec: dict[str, Any]) -> int:
    """How many matches the panels of a picture of lines show."""
    return sum(
        len(layer["data"]["values"])
        for view in spec["concat"]
        for layer in view["layer"][:1]
        if layer["mark"]["type"] == "rect"
    )


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "wrong", "cure"),
    [
        (FALLS.replace("prev(price)", "prev(prise)"), "prise", "price"),
        (FALLS.replace("DEFINE DOWN", "DEFINE DWON"), "DWON", ""),
        ("SELECT * FROM tocks MATCH_RECOGNIZE (ORDER BY day PATTERN (A))", None, ""),
        (FALLS + " WHERE nothing > 3", None, ""),
    ],
)
def test_what_does_not_fit_the_tables_is_found_without_a_job(
    desk: Desk, text: str, wrong: str | None, cure: str
) -> None:
    context = desk.whole.spark.sparkContext
    context.setJobGroup("checks", "checks")
    try:
        with pytest.raises(TrellisError) as caught:
            answers.check(desk, Question(text))
        answers.check(desk, Question(FALLS))
        answers.check(desk, Question(FALLS.replace("prev(price)", "(SELECT avg(price) FROM ticks)")))
        answers.check(desk, Question("PATTERN SEQ(Order o, ~(Payment p)) WHERE { [id] } WITHIN 10"))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    assert not context.statusTracker().getJobIdsForGroup("checks")
    if wrong is not None:
        span = caught.value.span
        assert span is not None and text[span.start : span.end] == wrong
        assert cure in (caught.value.cure or "")


@pytest.mark.spark
def test_a_run_gives_the_rows_of_the_query_and_a_picture_of_its_matches(desk: Desk) -> None:
    told = run(desk, FALLS)
    assert told["begun"]["parts"] == [{"table": "ticks", "rows": 120, "total": 120, "how": "all rows"}]
    assert told["begun"]["whole"]
    wanted = tr.sql(FALLS, spark=desk.whole.spark)
    assert [column["name"] for column in told["rows"]["columns"]] == wanted.columns
    assert [column["number"] for column in told["rows"]["columns"]] == [False, True, True]
    assert sorted(told["rows"]["rows"]) == sorted([str(value) for value in row] for row in wanted.collect())
    assert told["rows"]["total"] == wanted.count() == bands(told["picture"]["spec"])
    assert (told["picture"]["y"], told["picture"]["others"]) == ("price", ["price", "volume", "note"])
    assert list(told) == ["sampling", "begun", "matching", "rows", "picture"]


@pytest.mark.spark
def test_what_is_kept_for_a_run_is_let_go(desk: Desk) -> None:
    run(desk, FALLS)
    before = desk.whole.spark.sparkContext._jsc.getPersistentRDDs().size()
    for _ in range(2):
        run(desk, FALLS)
    assert desk.whole.spark.sparkContext._jsc.getPersistentRDDs().size() <= before


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "picture"),
    [
        (FALLS.replace("PATTERN", "ALL ROWS PER MATCH PATTERN"), True),
        (f"SELECT symbol, falls FROM ({FALLS}) WHERE falls > 1", True),
        (
            "SELECT X.day AS d FROM ticks CLUSTER BY symbol SEQUENCE BY day AS (X, *Y) "
            "WHERE Y.price < Y.previous.price",
            True,
        ),
        (
            "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY day MEASURES first(day) AS d "
            "PATTERN (A & B) DEFINE SEGMENT A AS window(2, 4), SEGMENT B AS last(price) - first(price) > 6)",
            True,
        ),
        (FALLS.replace("ORDER BY day", "ORDER BY note"), False),
        (FALLS.replace("PARTITION BY symbol", "PARTITION BY upper(symbol)"), False),
        (FALLS.replace("FROM ticks", "FROM {ticks}"), True),
        ("SELECT symbol, count(*) FROM ticks GROUP BY symbol", False),
        ("PATTERN SEQ(Order o, Payment p) WHERE { [id] } WITHIN 10", True),
        ("PATTERN SEQ(Order o, Payment p) WHERE { [id] } WITHIN 10 RETURN o.id AS paid", True),
    ],
    ids=["all rows", "around", "sequence", "segments", "no axis", "no keys", "braces", "plain", "events", "returned"],
)
def test_every_language_has_rows_and_a_picture_or_why_there_is_none(desk: Desk, text: str, picture: bool) -> None:
    told = run(desk, text)
    assert told["rows"]["total"] > 0
    assert ("spec" in told["picture"]) is picture
    if not picture:
        assert told["picture"]["none"].endswith(".")
    wanted = tr.sase(text, events=desk.whole.frames["events"]) if text.startswith("PATTERN") else None
    if wanted is None:
        frames = {"ticks": desk.whole.frames["ticks"]} if "{ticks}" in text else {}
        wanted = tr.sql(text, spark=desk.whole.spark, **frames)
    assert [column["name"] for column in told["rows"]["columns"]] == wanted.columns
    assert told["rows"]["total"] == wanted.count()


@pytest.mark.spark
def test_a_sample_has_whole_partitions_or_the_first_rows(spark: SparkSession) -> None:
    desk = opened(spark, partitions=40, days=30, sample=300)
    told = run(desk, FALLS)
    (part,) = told["begun"]["parts"]
    assert part["how"] == "whole partitions by symbol"
    assert 0 < part["rows"] <= 300 and part["rows"] % 30 == 0 and part["total"] == 1200
    assert not told["begun"]["whole"]
    everything = run(desk, FALLS, everything=True)
    assert everything["begun"]["whole"]
    assert everything["rows"]["total"] == tr.sql(FALLS, spark=desk.whole.spark).count() > told["rows"]["total"]
    alone = run(desk, FALLS.replace("PARTITION BY symbol", "").replace("ORDER BY day", "ORDER BY day, symbol"))
    assert alone["begun"]["parts"] == [
        {"table": "ticks", "rows": 300, "total": 1200, "how": "the first rows by day, symbol"}
    ]
    plain = run(desk, "SELECT count(*) AS n FROM ticks")
    assert (plain["rows"]["rows"], plain["begun"]["parts"][0]["how"]) == ([["300"]], "the first rows as they lie")


@pytest.mark.spark
def test_what_fails_while_it_runs_is_an_error_and_the_next_run_works(desk: Desk) -> None:
    endless = FALLS.replace("PATTERN", "AFTER MATCH SKIP TO FIRST A PATTERN")
    with pytest.raises(TrellisError):
        run(desk, endless)
    assert run(desk, FALLS)["rows"]["total"]


@pytest.mark.spark
def test_placeholders_and_events_name_tables_that_there_are(desk: Desk) -> None:
    with pytest.raises(BindingError, match="no table nothing"):
        answers.check(desk, Question(FALLS.replace("FROM ticks", "FROM {nothing}")))
    with pytest.raises(BindingError, match="no table nothing"):
        answers.check(desk, Question("PATTERN SEQ(A a)", events="nothing"))
    with pytest.raises(UnsupportedError):
        answers.check(desk, Question("DROP VIEW ticks"))


@pytest.mark.spark
def test_explain_tells_actual_counts(desk: Desk) -> None:
    told: list[Mapping[str, Any]] = []
    answers.explain(desk, Question(FALLS), told.append, everything=False)
    text = told[-1]["text"]
    assert "== Plan ==" in text
    assert "rows in                   120" in text


@pytest.mark.spark
@pytest.mark.parametrize(
    "text",
    [FALLS.replace("prev(price)", "prev(price) - 100"), "PATTERN SEQ(Payment p, Order o) WHERE { [id] } WITHIN 10"],
    ids=["rows", "events"],
)
def test_why_tells_what_failed(desk: Desk, text: str) -> None:
    assert run(desk, text)["rows"]["total"] == 0
    told: list[Mapping[str, Any]] = []
    answers.why(desk, Question(text), told.append, everything=False)
    report = told[-1]["report"]
    assert report["matches"] == 0
    assert report["rows"] == (120 if "ticks" in text else 3)
    assert report["funnel"]
    assert report["words"]["funnel"]


@pytest.fixture(scope="module")
def client(desk: Desk) -> Iterator[Client]:
    jobs = SparkJobs()
    jobs.open(desk.whole.spark)
    with studio_on_loopback(desk, jobs) as client:
        yield client


@pytest.mark.spark
def test_over_the_socket_a_failure_comes_in_words_and_the_server_lives_on(client: Client) -> None:
    told = client.events("api/run", text=FALLS.replace("prev(price)", "prev(prise)"))
    assert (told[-1]["event"], told[-1]["place"]["line"]) == ("failed", 6)
    told = [event["event"] for event in client.events("api/run", text=FALLS)]
    assert [event for event in told if event != "progress"][-3:] == ["rows", "picture", "done"]


@pytest.mark.spark
def test_a_long_run_can_be_cancelled_and_disturbs_no_other_tab(client: Client) -> None:
    long = "SELECT sum(a.id * b.id % 7) FROM range(0, 10000000, 1, 1) a CROSS JOIN range(0, 10000000, 1, 1) b"
    told: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: told.extend(client.events("api/run", text=long, tab="the long tab")))
    thread.start()
    time.sleep(1.5)
    other = client.events("api/run", text=FALLS, tab="another tab")
    assert other[-1]["event"] == "done"
    assert thread.is_alive()
    assert not client.post("api/cancel", tab="another tab")["cancelled"]
    assert client.post("api/cancel", tab="the long tab")["cancelled"]
    thread.join(20)
    assert not thread.is_alive()
    assert told[-1]["event"] == "cancelled"
    assert any(event["event"] == "progress" for event in told)
