"""Measure row pattern queries against what Spark needs for the same rows. Prints Markdown.

python benchmarks/row_patterns.py                                       all sections, full size
python benchmarks/row_patterns.py --only v_shape,latency --scale 0.02   a quick look
python benchmarks/row_patterns.py --write docs/benchmarks/row_patterns.md
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench import Bench, spark_session
from costs import first_query, hopeless, latency, memory, one_series
from report import Section, machine, summary, write_page
from throughput import all_rows, batch_sizes, profile, tiny_series, v_shape

_SECTIONS = {
    section.__name__: section
    for section in (
        v_shape,
        tiny_series,
        all_rows,
        batch_sizes,
        latency,
        first_query,
        one_series,
        hopeless,
        memory,
        profile,
    )
}


def main() -> None:
    """Run the sections that were asked for."""
    asked = _arguments()
    names = asked.only.split(",") if asked.only else list(_SECTIONS)
    unknown = [name for name in names if name not in _SECTIONS]
    if unknown:
        raise SystemExit(f"There is no section {unknown[0]}; the sections are {', '.join(_SECTIONS)}.")
    written: list[tuple[str, str]] = []
    sections: list[Section] = []
    with tempfile.TemporaryDirectory(prefix="trellis-benchmark-") as folder:
        spark = spark_session(Path(folder))
        bench = Bench(spark, Path(folder), asked.scale, asked.repeats)
        try:
            for name in names:
                print(f"{name} …", file=sys.stderr, flush=True)
                caption, began = machine(asked.scale), time.perf_counter()
                sections.append(_SECTIONS[name](bench))
                print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
                written.append((name, sections[-1].text(caption)))
                print(written[-1][1], flush=True)
        finally:
            spark.stop()
    bars = summary(sections)
    print(bars.text(machine(asked.scale)))
    if asked.write:
        whole = [(bars.name, bars.text(machine(asked.scale)))] if set(names) == set(_SECTIONS) else []
        write_page(asked.write, whole + written)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"sections, with commas between: {', '.join(_SECTIONS)}")
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the rows, for a quick look")
    parser.add_argument("--repeats", type=int, default=5, help="timed rounds, after one that is not timed")
    parser.add_argument("--write", type=Path, help="also put each section between its marks on this page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
