"""All benchmarks: the question that each answers, about how long that takes, and where it is written."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from benchmarks.options import announce, check

__all__ = ["BENCHMARKS", "Benchmark", "find", "listing"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark. Its module has `add_options`, which gets a parser, and `run`, which gets what was asked for."""

    name: str
    module: str
    takes: str
    question: str

    def parser(self) -> argparse.ArgumentParser:
        """Its command line."""
        module = self._module()
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks {self.name}",
            description=f"{self.question} Takes {self.takes} at full size.\n\n{module.__doc__}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_options(parser)
        return parser

    def run(self, words: list[str]) -> None:
        """Read the options and measure."""
        announce(words)
        parser = self.parser()
        self._module().run(check(parser, parser.parse_args(words)))

    def _module(self) -> Any:
        return import_module(self.module)


BENCHMARKS = (
    Benchmark(
        "rows",
        "benchmarks.rows.run",
        "about 10 minutes",
        "How long do row patterns take beside what Spark itself needs for the same rows, and how much memory?",
    ),
    Benchmark(
        "segments",
        "benchmarks.segments.run",
        "about 10 minutes",
        "Does the optimizer choose good plans for segment patterns, and how fast are they beside automata?",
    ),
    Benchmark(
        "events",
        "benchmarks.events.run",
        "about 10 minutes",
        "How fast are event patterns, what do merged runs gain, and how do they compare with `lag`?",
    ),
    Benchmark(
        "sqlts",
        "benchmarks.sqlts.run",
        "about 10 minutes",
        "How many tests does a search save that skips, how much time, and where does it not pay?",
    ),
    Benchmark(
        "workloads",
        "benchmarks.workloads.run",
        "some hours",
        "What do hundreds of event patterns gain from a shared plan, beside other ways to plan them?",
    ),
    Benchmark(
        "streams",
        "benchmarks.streams.run",
        "about 25 minutes",
        "How fast are patterns on streams beside the same ones on tables and in Flink, and what is kept of idle keys?",
    ),
    Benchmark(
        "prefilter",
        "benchmarks.prefilter.run",
        "about 3 hours",
        "What do prefilters, row elimination and slices save, and does the cost model choose them well?",
    ),
    Benchmark(
        "studio",
        "benchmarks.studio.run",
        "about 5 minutes",
        "How soon does the studio show an error that is typed, and the picture of a query on a sample?",
    ),
    Benchmark(
        "why",
        "benchmarks.why.run",
        "about 10 minutes",
        "How long does it take to ask why nothing matched, beside the query itself?",
    ),
    Benchmark(
        "calibration.segments",
        "benchmarks.calibration.segments",
        "about 2 minutes",
        "What does each step of a segment operator cost on this machine?",
    ),
    Benchmark(
        "calibration.prefilter",
        "benchmarks.calibration.prefilter",
        "about 5 minutes",
        "What does each step of a prefilter cost on this machine?",
    ),
    Benchmark(
        "baselines",
        "benchmarks.baselines.run",
        "about 10 minutes",
        "Are the automata right that segment patterns are measured against, and how fast are they?",
    ),
)


def find(name: str) -> Benchmark:
    """A benchmark by its name."""
    for benchmark in BENCHMARKS:
        if benchmark.name == name:
            return benchmark
    raise SystemExit(f"There is no benchmark {name}; there are {', '.join(one.name for one in BENCHMARKS)}.")


def listing() -> str:
    """A line for each benchmark."""
    names = max(len(one.name) for one in BENCHMARKS)
    times = max(len(one.takes) for one in BENCHMARKS)
    lines = [f"{one.name:{names}}  {one.takes:{times}}  {one.question}" for one in BENCHMARKS]
    return "\n".join(lines)
