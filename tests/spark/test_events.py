"""Event patterns through Spark: partitions, types, structs, composition, and errors of workers."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import trellis
from some import some
from trellis.errors import BindingError, TrellisError

connect = pytest.mark.connect

STREAM = [
    ("Shelf", 1, 7, None),
    ("Shelf", 2, 8, None),
    ("Register", 3, 8, 2.5),
    ("Exit", 4, 7, None),
    ("Exit", 5, 8, None),
    ("Shelf", 6, None, None),
    ("Exit", 7, None, None),
]


@pytest.fixture
def stream(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(STREAM, "type string, time int, tag int, price double")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@connect
def test_shoplifting(stream: DataFrame) -> None:
    text = """
        PATTERN SEQ(Shelf a, ~(Register b), Exit c)
        WHERE skip_till_next_match(a, b, c) { [tag] }
        WITHIN 12 RETURN a.tag AS tag, c.time - a.time AS minutes"""
    assert rows(trellis.sase(text, events=stream)) == [("Match", 4, 7, 3)]


@connect
def test_a_match_is_an_event_with_the_events_in_it(stream: DataFrame) -> None:
    found = trellis.sase("PATTERN SEQ(Shelf a, (Register | Exit)+ b[]) WHERE { [tag] }", events=stream)
    assert found.columns == ["type", "time", "match_number", "start_time", "a", "b"]
    assert [
        (row.match_number, row.a.tag, [event.type for event in row.b]) for row in found.orderBy("time").collect()
    ] == [
        (1, 8, ["Register"]),
        (1, 7, ["Exit"]),
        (2, 8, ["Register", "Exit"]),
    ]
    # So it can be searched again.
    again = trellis.sase(
        "PATTERN SEQ(Match m, Match n) WHERE { n.a.tag = m.a.tag } RETURN m.time AS first", events=found
    )
    assert rows(again) == [("Match", 5, 3)]


@pytest.mark.parametrize("search", some(["auto", "apart", "backtrack"]))
def test_times_and_windows(spark: SparkSession, search: str) -> None:
    frame = spark.sql("""SELECT kind, timestamp'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, m) AS at, m
        FROM VALUES ('A', 0), ('B', 10), ('A', 15), ('B', 25), ('B', 26) AS v(kind, m)""")
    text = """PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match { } WITHIN 10 minutes
        RETURN a.m AS a, array_agg(b[].m) AS b"""
    found = trellis.sase(text, events=frame, type="kind", time="at", hints={"search": search})
    assert sorted((row.a, row.b) for row in found.collect()) == [(0, [10]), (15, [25])]


def test_functions_of_spark_and_parameters(stream: DataFrame) -> None:
    text = """
        PATTERN SEQ(Shelf a, Exit b)
        WHERE { [tag] and upper(b.type) like 'E%' and b.time - a.time >= :least }
        RETURN concat(a.type, '-', b.type) AS what, a.tag"""
    assert rows(trellis.sase(text, events=stream, args={"least": 3})) == [
        ("Match", 4, "Shelf-Exit", 7),
        ("Match", 5, "Shelf-Exit", 8),
    ]


def test_aggregates_that_only_spark_knows(stream: DataFrame) -> None:
    text = """PATTERN SEQ(Shelf a, (Register | Exit)+ b[]) WHERE { [tag] }
        RETURN bit_or(b[].time) AS bits, a.tag AS tag"""
    assert rows(trellis.sase(text, events=stream)) == [("Match", 3, 3, 8), ("Match", 4, 4, 7), ("Match", 5, 7, 8)]
    with pytest.raises(BindingError, match="one repeated component"):
        trellis.sase("PATTERN SEQ(Shelf a) RETURN bit_or(a.time) AS bits", events=stream)


def test_the_length_of_a_component_is_counted(stream: DataFrame) -> None:
    text = "PATTERN SEQ((Shelf | Exit)+ a[]) WHERE partition_contiguity {{ [tag] and {0} >= 2 }} RETURN {0} AS n"
    found = rows(trellis.sase(text.format("a.LEN"), events=stream))
    assert found == rows(trellis.sase(text.format("count(a[])"), events=stream))
    assert {row[-1] for row in found} == {2}


def test_type_and_time_may_be_fields(spark: SparkSession) -> None:
    rows_ = [("a", ("A", 1)), ("a", ("B", 3)), ("b", ("A", 2)), ("b", ("B", 9))]
    nested = spark.createDataFrame(rows_, "id string, payload struct<kind: string, ts: int>")
    text = "PATTERN SEQ(A a, B b) WHERE { [id] } WITHIN 5"
    found = trellis.sase(f"{text} RETURN a.id", events=nested, type="payload.kind", time="payload.ts")
    assert (found.columns, rows(found)) == (["kind", "ts", "id"], [("Match", 3, "a")])
    counts = trellis.progress(text, events=nested, type="payload.kind", time=["payload.ts", "id"], max_events=3)
    assert [row.component for row in counts.collect()] == ["A a", "B b"]
    # A column of that name goes before a field.
    dotted = nested.selectExpr("id", "payload.kind AS `payload.kind`", "payload.ts AS `payload.ts`")
    found = trellis.sase(f"{text} RETURN a.id", events=dotted, type="payload.kind", time="payload.ts")
    assert (found.columns, rows(found)) == (["payload.kind", "payload.ts", "id"], [("Match", 3, "a")])
    with pytest.raises(BindingError, match=r"The column payload\.ts holds values of the type int"):
        trellis.sase(text, events=nested, type="payload.ts", time="payload.ts")
    twice = spark.createDataFrame([(("A",), (1,))], "a struct<x: string>, b struct<x: int>")
    with pytest.raises(BindingError, match="are both called"):
        trellis.sase("PATTERN SEQ(A a)", events=twice, type="a.x", time="b.x")


@connect(thorough=True)
def test_builder(stream: DataFrame) -> None:
    stolen = (
        trellis.event_pattern("Shelf a", "~(Register b)", "Exit c")
        .same("tag")
        .where("c.time - a.time >= :least", "a.price is null or b.price > 1")
        .within(12)
        .returning({"the tag": "a.tag"}, minutes="c.time - a.time")
        .result_type("Stolen")
    )
    assert rows(stream.transform(stolen.match, args={"least": 3})) == [("Stolen", 4, 7, 3)]
    assert rows(stolen.match(stream, args={"least": 4})) == []
    renamed = stream.withColumnsRenamed({"type": "kind", "time": "at"})
    shelves = trellis.event_pattern("Shelf+ s[]").returning(n="count(s[])").non_overlapping()
    assert rows(renamed.transform(shelves.match, type="kind", time=["at", "tag"], hints={"search": "apart"})) == [
        ("Match", 1, 1),
        ("Match", 2, 1),
        ("Match", 6, 1),
    ]


def test_builder_explains_and_shows_its_text(stream: DataFrame) -> None:
    pattern = trellis.event_pattern("Shelf a", "Exit b").same("tag")
    explained = pattern.explain(stream, analyze=True)
    assert "keep_events" in explained and "matches                     2" in explained
    with pytest.raises(BindingError, match=r"price2(.|\n)*line 4:   AND b\.price2 > 1\n {14}\^") as caught:
        pattern.where("b.price2 > 1").match(stream)
    assert caught.value.text == pattern.where("b.price2 > 1").text()
    with pytest.raises(BindingError, match="events is not a DataFrame"):
        pattern.match([])  # type: ignore[arg-type]


def test_explain(stream: DataFrame) -> None:
    text = "PATTERN SEQ(Shelf a, Exit b) WHERE { [tag] }"
    explained = trellis.explain(text, events=stream, analyze=True)
    assert "skip till next match, all matches" in explained
    assert "keep_events" in explained and "matches                     2" in explained


def test_errors(stream: DataFrame) -> None:
    with pytest.raises(BindingError, match="price2"):
        trellis.sase("PATTERN SEQ(Shelf a) WHERE { a.price2 > 1 }", events=stream)
    with pytest.raises(BindingError, match="events is not a DataFrame"):
        trellis.sase("PATTERN SEQ(Shelf a)", events=[])  # type: ignore[arg-type]
    many = "PATTERN SEQ((Shelf | Exit | Register)+ a[]) WHERE skip_till_any_match { }"
    with pytest.raises(TrellisError, match="given up after 20 steps"):
        trellis.explain(many, events=stream, analyze=True, hints={"step_budget": 20})


@connect
def test_compressed_matches_are_listed_again(stream: DataFrame) -> None:
    text = "PATTERN SEQ(Shelf a, (Register | Exit)+ b[]) WHERE skip_till_any_match { }"
    listed = trellis.sase(text, events=stream)
    found = trellis.sase(text, events=stream, compressed=True)
    assert found.columns == ["type", "time", "matches", "nodes", "edges"]
    again = trellis.decompress(found)
    assert again.columns == ["type", "time", "a", "b"]
    assert rows(again.selectExpr("time", "a.time", "transform(b, x -> x.time)", "b[0]")) == rows(
        listed.selectExpr("time", "a.time", "transform(b, x -> x.time)", "b[0]")
    )
    dotted = trellis.decompress(found.withColumnRenamed("time", "at.time").withColumn("x", F.lit(5)))
    assert dotted.columns == ["type", "at.time", "x", "a", "b"] and dotted.count() == again.count()
    nothing = found.withColumn("edges", F.lit(None).cast(found.schema["edges"].dataType))
    assert trellis.decompress(nothing).count() == 0
    counted = trellis.sase(f"{text} RETURN b[b.LEN].tag, count(*) AS n", events=stream)
    assert rows(counted.select("time", "n")) == rows(found.select("time", "matches"))
    assert counted.schema["n"].dataType.simpleString() == "decimal(38,0)"


def test_compressed_matches_are_told_from_others(stream: DataFrame) -> None:
    with pytest.raises(BindingError, match="holds no compressed matches"):
        trellis.decompress(stream)
    found = trellis.sase("PATTERN SEQ(Shelf a, Exit time2)", events=stream, compressed=True)
    with pytest.raises(BindingError, match="two columns time2"):
        trellis.decompress(found.withColumnRenamed("time", "time2"))


def test_more_matches_than_anybody_counts(spark: SparkSession) -> None:
    frame = spark.range(130).selectExpr("'A' AS type", "id AS time")
    text = "PATTERN SEQ(A+ a[], A b) WHERE skip_till_any_match { b.time = 129 }"
    (row,) = trellis.sase(text, events=frame, compressed=True).collect()
    assert row.matches is None and len(row.nodes) < 600
    assert trellis.decompress(trellis.sase(text, events=frame, compressed=True)).limit(5).count() == 5
    with pytest.raises(TrellisError, match="more than 38 digits"):
        trellis.explain(f"{text} RETURN count(*) AS n", events=frame, analyze=True)


def test_a_month_has_no_fixed_length(spark: SparkSession) -> None:
    frame = spark.sql("""SELECT type, at, id FROM VALUES
        ('A', timestamp_ntz'2023-01-28 23:00:00', 1), ('A', timestamp_ntz'2023-01-31 01:00:00', 2),
        ('A', timestamp_ntz'2023-02-01 00:00:00', 3), ('B', timestamp_ntz'2023-02-28 12:00:00', 4)
        AS v(type, at, id)""")
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match { } WITHIN 1 month"
    found = trellis.sase(f"{text} RETURN a.id AS a", events=frame, time="at")
    counted = trellis.sase(f"{text} RETURN count(*) AS n", events=frame, time="at")
    assert sorted(row.a for row in found.collect()) == [1, 3]
    assert [row.n for row in counted.collect()] == [2]


@pytest.mark.parametrize(
    ("zone", "window", "first", "last"),
    [
        # The end of a month, then days: 29 February and one day.
        ("UTC", "1 month 1 day", "2024-01-31 00:00:00", "2024-03-01 00:00:00"),
        ("UTC", "1 month 1 day", "2023-01-31 00:00:00", "2023-03-01 00:00:00"),
        ("UTC", "1 year 1 hour 30 minutes", "2024-02-29 12:00:00", "2025-02-28 13:30:00"),
        ("UTC", "1 hour 30 minutes", "2024-02-28 23:00:00", "2024-02-29 00:30:00"),
        ("UTC", "1 month 30 hours", "2024-01-31 00:00:00", "2024-03-01 06:00:00"),
        # On 31 March 2024 clocks went from 2 to 3: months and days keep the hour, hours do not.
        ("Europe/Berlin", "1 month 2 days", "2024-02-29 12:00:00", "2024-03-31 12:00:00"),
        ("Europe/Berlin", "1 month 12 hours", "2024-02-29 22:00:00", "2024-03-30 10:00:00"),
        ("Europe/Berlin", "2 months 12 hours", "2024-01-30 20:00:00", "2024-03-31 09:00:00"),
        ("Europe/Berlin", "1 month 1 day 12 hours", "2024-02-29 20:00:00", "2024-03-31 09:00:00"),
    ],
)
def test_windows_of_several_units(spark: SparkSession, zone: str, window: str, first: str, last: str) -> None:
    kept = spark.conf.get("spark.sql.session.timeZone")
    assert kept is not None
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = spark.sql(f"""SELECT type, at, id FROM VALUES
            ('A', timestamp'{first}', 0), ('B', timestamp'{last}', 1), ('B', timestamp'{last}' + INTERVAL 1 SECOND, 2)
            AS v(type, at, id)""")
        text = f"PATTERN SEQ(A a, B b) WHERE skip_till_any_match {{ }} WITHIN {window} RETURN b.id AS b"
        assert [row.b for row in trellis.sase(text, events=frame, time="at").collect()] == [1]
        rows_ = f"ORDER BY at MEASURES last(B.id) AS b PATTERN (A B+) WITHIN INTERVAL {window} DEFINE B AS type = 'B'"
        matched = trellis.sql(f"SELECT b FROM {{frame}} MATCH_RECOGNIZE ({rows_})", frame=frame)
        assert [row.b for row in matched.collect()] == [1]
    finally:
        spark.conf.set("spark.sql.session.timeZone", kept)


def test_simultaneous_events_are_counted_as_they_are_listed(spark: SparkSession) -> None:
    frame = spark.range(20).selectExpr("IF(id % 2 = 0, 'B', 'A') AS type", "id DIV 2 AS time", "id")
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match { b.time = a.time }"
    listed = trellis.sase(f"{text} RETURN a.id AS a, b.id AS b", events=frame).count()
    timed = trellis.sase(f"{text} RETURN a.time AS a", events=frame).count()
    counted = trellis.sase(f"{text} RETURN count(*) AS n", events=frame).groupBy().sum("n").collect()[0][0]
    assert 0 < listed == timed == counted < 10


def test_whole_events_are_returned(stream: DataFrame) -> None:
    text = "PATTERN SEQ(Shelf a, (Register | Exit)+ b[]) WHERE { [tag] } RETURN a AS first, array_agg(b[]) AS others"
    text += ", b[1] AS second, b[b.LEN] AS last, struct(a.tag, b[1].tag AS other) AS tags"
    (found,) = trellis.sase(text, events=stream).where("size(others) = 2").collect()
    assert found.first.tag == 8 and [event.type for event in found.others] == ["Register", "Exit"]
    assert [found.second, found.last] == found.others
    assert found.tags.asDict() == {"tag": 8, "other": 8}


def test_what_is_wrong_with_names_and_types(spark: SparkSession, stream: DataFrame) -> None:
    with pytest.raises(BindingError, match="upper is a function"):
        trellis.sase("PATTERN SEQ(Shelf a) RETURN upper(a.type)", events=stream)
    assert trellis.sase("PATTERN SEQ(Shelf a) RETURN `upper`(a.tag)", events=stream).collect()[0].type == "upper"
    with pytest.raises(TrellisError, match="expected AS"):
        trellis.sase("PATTERN SEQ(Shelf a) RETURN count(*)", events=stream)
    with pytest.raises(BindingError, match="two columns match_number"):
        trellis.sase("PATTERN SEQ(Shelf match_number)", events=stream)
    with pytest.raises(BindingError, match="two columns type"):
        trellis.sase("PATTERN SEQ(Shelf type)", events=stream)
    with pytest.raises(BindingError, match="types of events are texts"):
        trellis.sase("PATTERN SEQ(`1` a)", events=spark.range(3).withColumnRenamed("id", "type"), time="type")
    assert "graph" in trellis.explain("PATTERN SEQ(Shelf a);", events=stream, compressed=True)
    assert "graph" in trellis.event_pattern("Shelf a").explain(stream, compressed=True)
    for name in ("Left", "Sum", "count"):
        left = trellis.event_pattern("Shelf a").returning(tag="a.tag").result_type(name)
        assert left.match(stream).first().type == name
    with pytest.raises(BindingError, match="no events of the type Shelv"):
        trellis.explain("PATTERN SEQ(Shelv a)", events=stream, types=["Shelf"])
