"""`trellis studio`: the tables that were named and those that ship with Trellis, on a page of this machine."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from trellis import samples
from trellis.cli.failures import describe
from trellis.cli.session import open_session, wants_local
from trellis.cli.tables import Table, locate, open_table
from trellis.studio import Desk, serve

__all__ = ["serve_studio"]


def serve_studio(args: Namespace) -> None:
    """Serve the studio until Ctrl-C."""
    args.master = args.master or "local[*]"  # a server of Spark Connect is not asked, whatever the environment says
    args.remote = None
    args.conf = [("spark.scheduler.mode", "FAIR"), *args.conf]  # a run on all rows shall not hold up one on a sample
    named = {table.name.lower() for table in args.tables}
    shipped = [Table(name, str(samples.path(name)), "parquet") for name in samples.NAMES if name not in named]
    here = wants_local(args)
    tables = [locate(table, local=here) for table in args.tables]
    tables += [locate(table, local=True) for table in shipped] if here else []

    def open_all(spark: SparkSession, schemas: Mapping[str, StructType]) -> dict[str, DataFrame]:
        return {table.name: open_table(spark, table, schemas.get(table.name)) for table in tables}

    desk = Desk(dict(args.param), dict(args.hint), args.sample)
    serve(
        desk,
        open_session(args),
        open_all,
        shipped=frozenset(table.name for table in shipped),
        described=lambda error: describe(error)[1],
        tell=lambda line: print(line, flush=True),
        port=args.port,
        browser=not args.no_browser,
    )
