"""Queries on tables of Delta Lake and Apache Iceberg, beside the same ones on Parquet: `python program.py FOLDER JARS`.

Runs in an environment with a Spark that both have a release for. Prints a line for each thing that was right; anything
else ends it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import trellis as tr
from trellis import samples

DIPS = """
    SELECT * FROM {table} MATCH_RECOGNIZE (
        PARTITION BY ticker ORDER BY date
        MEASURES A.date AS start, last(UP.date) AS end, min(DOWN.close) AS low
        PATTERN (A DOWN{{3,}} UP{{3,}})
        DEFINE DOWN AS close < prev(close), UP AS close > prev(close)
    )
"""


def session(folder: Path, jars: str) -> SparkSession:
    """As docs/platforms.md says it, with the jars named, so that nothing is fetched."""
    settings = {
        "spark.jars": jars,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "ice"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",  # of a table of this size
        "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state."
        "RocksDBStateStoreProvider",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def rows(found: DataFrame) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in found.collect()), key=repr)


def check(spark: SparkSession, folder: Path) -> None:
    shares = spark.read.parquet(str(samples.path("stocks_daily")))
    wanted = rows(tr.sql(DIPS.format(table="{shares}"), shares=shares))
    assert len(wanted) > 50, len(wanted)
    first = shares.where("date < '2017-01-01'")
    for kind, name, by_version in (
        ("delta", "prices", "prices VERSION AS OF 0"),
        ("iceberg", "ice.db.prices", "ice.db.prices VERSION AS OF {version}"),
    ):
        first.writeTo(name).using(kind).create()
        shares.where("date >= '2017-01-01'").writeTo(name).append()
        assert rows(tr.sql(DIPS.format(table=name), spark=spark)) == wanted
        assert rows(tr.sql(DIPS.format(table="{t}"), t=spark.table(name))) == wanted
        print(f"{kind}: a table by name, and as a DataFrame")
        version = ""
        if kind == "iceberg":
            version = str(spark.sql(f"SELECT snapshot_id FROM {name}.snapshots ORDER BY committed_at").first()[0])
        before = f"(SELECT * FROM {by_version.format(version=version)})"
        assert rows(tr.sql(DIPS.format(table=before), spark=spark)) == rows(
            tr.sql(DIPS.format(table="{first}"), first=first)
        )
        print(f"{kind}: an earlier version")
        tr.sql(f"CREATE TABLE {name}_dips USING {kind} AS {DIPS.format(table=name)}", spark=spark)
        tr.sql(f"INSERT INTO {name}_dips {DIPS.format(table=name)}", spark=spark)
        assert rows(spark.table(f"{name}_dips")) == sorted([*wanted, *wanted], key=repr)
        print(f"{kind}: results written to a table")
        dips = tr.pattern("A DOWN{3,} UP{3,}").define(DOWN="close < prev(close)", UP="close > prev(close)")
        live = spark.readStream.table(name).selectExpr("ticker", "close", "timestamp(date) AS ts")
        live = live.withWatermark("ts", "1 day")
        dips = (
            tr.pattern("A DOWN{3,} UP{3,}")
            .define(DOWN="close < prev(close)", UP="close > prev(close)")
            .measures(start="A.ts", end="last(UP.ts)")
            .within("30 days")
        )
        query = (
            live.transform(dips.match, partition_by="ticker", order_by="ts")
            .writeStream.format("memory")
            .queryName(f"live_{kind}")
            .option("checkpointLocation", str(folder / f"checkpoint-{kind}"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        seen = spark.table(f"live_{kind}").count()
        assert seen > 50, seen
        print(f"{kind}: as a stream")


if __name__ == "__main__":
    here = Path(sys.argv[1])
    spark = session(here, sys.argv[2])
    spark.sparkContext.setLogLevel("ERROR")
    check(spark, here)
    spark.stop()
