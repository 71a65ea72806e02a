"""Many patterns at once through Spark: partitions, slices, statistics, plans, streams, and what is wrong."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import trellis as tr
from naive_workloads import match_all
from trellis.errors import BindingError, QuerySyntaxError, TrellisWarning, UnsupportedError, WorkloadError
from workload_cases import Case
from workload_traps import TRAPS, Trap

connect = pytest.mark.connect

SCHEMA = "id int, type string, time int, x int, y int, k int"
COLUMNS = ("id", "type", "time", "x", "y", "k")
PATTERNS = {
    "rise": "PATTERN SEQ(A a, B b, C c) WHERE { a.x < b.x and b.x < c.x } WITHIN 8",
    "near": "PATTERN SEQ(A a, B b, C c) WHERE { a.x < b.x } WITHIN 4",
    "both": "PATTERN AND(A a, B b) WHERE { [k] and a.y = b.y } WITHIN 5",
    "either": "PATTERN OR(SEQ(A a, B b), SEQ(B b, C c)) WHERE { a.y = b.y and b.x > c.x } WITHIN 6",
    "many": "PATTERN SEQ(A a, B+ b[], C c) WHERE { b[i].x >= b[i-1].x and sum(b[].y) >= 2 } WITHIN 8",
    "quiet": "PATTERN SEQ(A a, ~(B b), C c) WHERE { b.x > a.x } WITHIN 7",
}


def made_rows(count: int, seed: int = 0) -> list[tuple[Any, ...]]:
    chance = random.Random(seed)
    return [
        (
            number,
            chance.choice("AAABBCCD"),
            number // 2,
            chance.choice([0, 1, 2, 3, 4, None]),
            chance.choice([0, 1, 2, None]),
            chance.choice([1, 1, 2]),
        )
        for number in range(count)
    ]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(made_rows(120), SCHEMA)


def found(frame: DataFrame) -> list[tuple[Any, ...]]:
    rows = frame.selectExpr("pattern", "match_number", "start", "end", "events.id AS ids").collect()
    return sorted((one.pattern, one.match_number, one.start, one.end, tuple(one.ids)) for one in rows)


# Some workloads that were worked out by hand; all of them run without Spark.
@pytest.mark.parametrize("trap", TRAPS[::4], ids=str)
def test_traps(spark: SparkSession, trap: Trap) -> None:
    case = Case(
        tuple(replace(one, within=("time", 1)) if one.within == ("time", 0) else one for one in trap.patterns),
        trap.rows,
    )
    rows = [tuple(row.get(name) for name in COLUMNS) for row in case.rows]
    frame = tr.match_all(case.texts, spark.createDataFrame(rows, SCHEMA), time=["time", "id"], time_limit=0.2)
    expected = match_all(case.patterns, case.rows, (), ("time", "id"))
    assert found(frame) == sorted(
        (one.pattern, one.match_number, one.start, one.end, tuple(event["id"] for event in one.events))
        for one in expected
    )


@connect
def test_plans_find_the_same(events: DataFrame) -> None:
    """With slices, with partitions of their own, by whatever plan: the matches are those of single patterns."""
    wanted = found(tr.match_all(PATTERNS, events, time=["time", "id"], optimize="none"))
    assert len({pattern for pattern, *_ in wanted}) == len(PATTERNS)
    for optimize in ("annealing", "merging"):
        shared = tr.match_all(PATTERNS, events, time=["time", "id"], optimize=optimize, time_limit=0.5)
        assert shared.columns == ["pattern", "match_number", "start", "end", "events"]
        assert found(shared) == wanted


def test_slices(events: DataFrame) -> None:
    timed = {name: text for name, text in PATTERNS.items() if "[k]" not in text}
    wanted = found(tr.match_all(timed, events, time=["time", "id"], time_limit=0.5))
    explained = tr.workload(timed).explain(events, time=["time", "id"], hints={"slices": 5})
    assert "slices" in explained
    assert found(tr.match_all(timed, events, time=["time", "id"], time_limit=0.5, hints={"slices": 5})) == wanted


@connect
def test_partitions(events: DataFrame) -> None:
    few = {"rise": PATTERNS["rise"], "many": PATTERNS["many"]}
    both = tr.match_all(few, events, partition_by="k", time=["time", "id"], time_limit=0.2)
    assert both.columns == ["k", "pattern", "match_number", "start", "end", "events"]
    for k in (1, 2):
        alone = tr.match_all(few, events.where(f"k = {k}"), time=["time", "id"], time_limit=0.2)
        assert found(both.where(f"k = {k}")) == found(alone)


def test_names_of_columns_and_types(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [("ann", "2024-05-01 10:00:00", {"kind": "go"}, 1.5), ("ann", "2024-05-01 10:00:20", {"kind": "stop"}, 2.5)],
        "who string, at string, what struct<kind: string>, size double",
    ).selectExpr("who", "CAST(at AS TIMESTAMP) AS at", "what", "size")
    text = "PATTERN SEQ(go a, stop b) WHERE { a.size < b.size } WITHIN 1 minute"
    (row,) = tr.match_all([text], frame, partition_by=["who"], type="what.kind", time="at").collect()
    assert (row.who, row.pattern, row.match_number) == ("ann", "p1", 1)
    assert (row.end - row.start).total_seconds() == 20
    assert [event.what.kind for event in row.events] == ["go", "stop"]


def test_a_file_and_a_text(spark: SparkSession, events: DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "desk.sase"
    path.write_text("-- what is watched\nnear: " + PATTERNS["near"] + ";\n`two words`: " + PATTERNS["both"] + ";")
    desk = tr.workload(path)
    assert list(desk.patterns) == ["near", "two words"]
    assert tr.workload(str(desk)) == desk
    assert {one.pattern for one in events.transform(desk.match, time=["time", "id"]).collect()} == {"near", "two words"}


def test_adding_leaves_the_plan_of_the_others(events: DataFrame) -> None:
    def nodes(workload: tr.Workload) -> set[str]:
        return {node.text for node in workload.plan(events, time=["time", "id"]).nodes}

    desk = tr.workload({name: PATTERNS[name] for name in ("rise", "near", "many")})
    before = nodes(desk)
    more = desk.add(quiet=PATTERNS["quiet"])
    assert before <= nodes(more)
    assert nodes(more.remove("quiet")) == before
    assert len(more) == 4 and len(desk) == 3
    wanted = found(tr.match_all(dict(more.patterns), events, time=["time", "id"], optimize="none"))
    assert found(more.match(events, time=["time", "id"])) == wanted
    with pytest.raises(BindingError, match="There is a pattern quiet already"):
        more.add(quiet=PATTERNS["rise"])
    with pytest.raises(BindingError, match="There is no pattern loud"):
        more.remove("loud")


@connect
def test_explain_counts_what_is_there(events: DataFrame, tmp_path: Path) -> None:
    desk = tr.workload({name: PATTERNS[name] for name in ("rise", "near")})
    text = desk.explain(events, time=["time", "id"], analyze=True)
    types = {name: events.where(f"type = '{name}'").count() for name in "ABC"}
    for name, count in types.items():
        (line,) = [line for line in text.splitlines() if f"  {name} a " in line and "found" in line]
        assert f"found {count:,}" in line
    assert "shared by rise, near" in text
    graph = desk.plan(events, time=["time", "id"], analyze=True)
    assert {node.label.split()[-1]: node.found for node in graph.nodes if node.label.endswith(("A", "B", "C"))} == types
    tr.plot_plan(graph, tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").read_text().startswith("<svg")


def test_statistics_come_from_the_events_or_a_sample(spark: SparkSession) -> None:
    """The rare type is joined first, whichever that is."""

    def first_join(frame: DataFrame, **more: Any) -> str:
        desk = tr.workload({"p": "PATTERN AND(A a, B b, C c) WITHIN 20"})
        graph = desk.plan(frame, **more)
        return next(node.label.partition(" ")[2] for node in graph.nodes if "(" in node.label)

    def frame_of(kinds: str) -> DataFrame:
        return spark.createDataFrame([(kind, number) for number, kind in enumerate(kinds)], "type string, time int")

    assert first_join(frame_of("AAAABBC" * 40)) == "AND(B, C)"
    assert first_join(frame_of("CCCCBBA" * 40)) == "AND(A, B)"
    assert first_join(frame_of("AAAABBC" * 40), sample=frame_of("CCCCBBA" * 40)) == "AND(A, B)"


def test_a_large_input_is_sampled(spark: SparkSession) -> None:
    frame = spark.range(400_000).selectExpr(
        "IF(id % 10 = 0, 'B', 'A') AS type", "timestamp_seconds(id) AS time", "id % 7 AS x"
    )
    graph = tr.workload({"p": "PATTERN SEQ(A a, B b) WHERE { a.x = b.x } WITHIN 100 seconds"}).plan(frame)
    estimates = {node.label.partition(" ")[2]: node.estimate for node in graph.nodes}
    assert estimates["A"] == pytest.approx(90, rel=0.2)
    assert estimates["B"] == pytest.approx(10, rel=0.2)
    assert estimates["SEQ(A, B)"] == pytest.approx(90 * 10 / 2 / 7, rel=0.5)


# ---- what is wrong ----


def test_every_bad_pattern_is_listed(events: DataFrame) -> None:
    bad = {
        **PATTERNS,
        "cut": "PATTERN SEQ(A a, B b WITHIN 5",
        "lost": "PATTERN SEQ(A a, B b) WHERE { a.z = b.z } WITHIN 5",
        "open": "PATTERN SEQ(A a, ~(B b))",
    }
    with pytest.raises(WorkloadError, match="3 of 9 patterns are wrong") as raised:
        tr.match_all(bad, events)
    assert [name for name, _ in raised.value.wrong] == ["cut", "lost", "open"]
    kinds = [type(error) for _, error in raised.value.wrong]
    assert kinds == [QuerySyntaxError, BindingError, BindingError]
    assert "line 1: PATTERN SEQ(A a, B b) WHERE { a.z = b.z }" in str(raised.value)
    assert "^" in str(raised.value)


def test_contradictions_are_warned_of(events: DataFrame) -> None:
    text = "PATTERN SEQ(A a, B b) WHERE { a.x < b.x and b.x < a.x } WITHIN 5"
    with pytest.warns(TrellisWarning, match="The conditions of never contradict each other"):
        frame = tr.match_all({"never": text, "near": PATTERNS["near"]}, events, time=["time", "id"])
    assert {one.pattern for one in frame.collect()} == {"near"}
    with pytest.warns(TrellisWarning, match="never"):
        assert tr.match_all({"never": text}, events).collect() == []


def test_options_that_are_wrong(events: DataFrame) -> None:
    for more, message in (
        ({"optimize": "magic"}, "There is no strategy magic"),
        ({"time_limit": -1}, "time_limit"),
        ({"partition_by": [1]}, "names of columns"),
        ({"partition_by": "Start"}, "a column Start already"),
        ({"types": ["A", "B"]}, "C"),
        ({"types": "ABC"}, "'ABC' is one text"),
        ({"sample": events.drop("x")}, "The sample has no column x"),
        ({"hints": {"plans": "lists"}}, "plans"),
    ):
        with pytest.raises((BindingError, WorkloadError), match=message):
            tr.match_all(PATTERNS, events, **more)  # type: ignore[arg-type]
    with pytest.raises(BindingError, match="no pattern"):
        tr.match_all({}, events)


# ---- streams ----


@pytest.mark.streaming
def test_on_a_stream(rocks: SparkSession, tmp_path: Path) -> None:
    rows = made_rows(90)
    timed = rocks.createDataFrame(rows, SCHEMA).selectExpr("* EXCEPT (time)", "timestamp_seconds(time) AS time")
    texts = {name: text.replace("WITHIN ", "WITHIN INTERVAL ") + " SECONDS" for name, text in PATTERNS.items()}
    timed.repartitionByRange(5, "id").sortWithinPartitions("id").write.json(str(tmp_path / "in"))
    stream = rocks.readStream.schema(timed.schema).option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    stream = stream.withWatermark("time", "30 seconds")
    live = tr.match_all(texts, stream, time=["time", "id"], sample=timed, time_limit=0.5)
    writer = live.writeStream.format("json").option("path", str(tmp_path / "out"))
    query = writer.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    query.awaitTermination()
    stored = rocks.read.schema(live.schema).json(str(tmp_path / "out"))
    given = {(one.pattern, tuple(event.id for event in one.events)) for one in stored.collect()}
    assert stored.where("match_number IS NOT NULL").count() == 0
    every = {(name, ids) for name, _, _, _, ids in found(tr.match_all(texts, timed, time=["time", "id"]))}
    # What comes within the delay of the watermark, and after it, is still open.
    assert given <= every
    settled = {one for one in every if max(one[1]) < 24}
    assert settled and settled <= given
    unbounded = {"all": "PATTERN SEQ(A a, B b)"}
    with pytest.raises(UnsupportedError, match="Nothing bounds how long"):
        tr.match_all(unbounded, stream)


def test_nothing_is_read_without_statistics(events: DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = tr.workload(PATTERNS).explain(
            events, time=["time", "id"], hints={"statistics": "off"}, optimize="sharing"
        )
    assert "strategy sharing" in text
