"""The jobs of Spark that belong to a run: counted while they run, and ended when nobody wants them."""

from __future__ import annotations

import contextlib

from pyspark.sql import SparkSession

__all__ = ["SparkJobs"]


class SparkJobs:
    """The jobs of one Spark session; before `open` there are none."""

    def __init__(self) -> None:
        self._spark: SparkSession | None = None

    def open(self, spark: SparkSession) -> None:
        """From now on jobs run in this session."""
        self._spark = spark

    def claim(self, run: str, pool: str) -> None:
        """Jobs of this thread belong to that run; those of different pools share the machine fairly."""
        if self._spark is not None:
            context = self._spark.sparkContext
            context.setJobGroup(run, "studio", interruptOnCancel=True)
            context.setLocalProperty("spark.scheduler.pool", pool)

    def progress(self, run: str) -> tuple[int, int]:
        """How many tasks of a run are done, of how many that Spark knows of."""
        if self._spark is None:
            return 0, 0
        done = total = 0
        with contextlib.suppress(Exception):  # a session that ends must not break a page
            tracker = self._spark.sparkContext.statusTracker()
            for job in tracker.getJobIdsForGroup(run):
                told = tracker.getJobInfo(job)
                for number in told.stageIds if told is not None else ():
                    stage = tracker.getStageInfo(number)
                    if told is not None and stage is not None:
                        skipped = told.status == "SUCCEEDED"  # a stage whose output was there already
                        done += stage.numTasks if skipped else stage.numCompletedTasks
                        total += stage.numTasks
        return done, total

    def end(self, run: str) -> None:
        """End the jobs of a run that are running now."""
        if self._spark is not None:
            with contextlib.suppress(Exception):
                self._spark.sparkContext.cancelJobGroup(run)
