"""Measure what is taken away before the match: prefilters, row elimination, slices. Prints Markdown.

python benchmarks/prefilter.py --data FOLDER --work FOLDER --keep figures.jsonl                 everything: hours
python benchmarks/prefilter.py … --only speed --instances 2 --scale 0.1                         a quick look
python benchmarks/prefilter_report.py figures.jsonl --write docs/benchmarks/prefilter.md        write the page again

Every run is kept at once. A run that is broken off goes on where it stopped.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench import spark_session
from prefilter_cores import cores
from prefilter_data import BOUND, FULL_ROWS, SEED, Choices, choices_of, generate, rows_of, sample_path
from prefilter_keep import Keep, Record, read_records
from prefilter_report import page, write_page
from prefilter_runs import Runner, say
from prefilter_sections import SECTIONS
from report import machine

_ALL = ("cores", *SECTIONS)
_TABLES = ("real", "generated")


def main() -> None:
    """Measure, then print or write the page."""
    asked = _arguments()
    names = _listed(asked.only, _ALL, "section")
    tables = _listed(asked.tables, _TABLES, "table")
    sample = sample_path(asked.data)
    choices = choices_of(sample, asked.bound)
    keep = Keep(asked.keep)
    paths = {name: _path(name, sample, asked) for name in tables}
    keep.add(Record("about", "", "machine", "", facts={"text": machine(asked.scale), "sections": list(names)}))
    for name, path in paths.items():
        _describe(keep, name, path, choices)
    if "cores" in names:
        # Before this process has a Spark of its own.
        for name, path in paths.items():
            if name == "generated" or asked.tables:
                cores(keep, path, name, asked.runs)
    names = [name for name in names if name != "cores"]
    if names:
        _measure(asked, names, paths, keep, choices)
    records = read_records(asked.keep)
    if asked.write:
        write_page(records, asked.write)
    else:
        print(page(records, plots=False))


def _measure(asked: argparse.Namespace, names: list[str], paths: dict[str, Path], keep: Keep, choices: Choices) -> None:
    with tempfile.TemporaryDirectory(prefix="trellis-benchmark-") as folder:
        spark = spark_session(Path(folder))
        try:
            sample = spark.read.parquet(str(sample_path(asked.data)))
            runners = {table: Runner(path, table, keep, choices, sample) for table, path in paths.items()}
            for name in names:
                section = SECTIONS[name]
                for table, runner in runners.items():
                    # A table that was asked for by name is measured in every section.
                    if table in section.tables or asked.tables:
                        section.run(runner, asked.instances or section.instances)
        finally:
            spark.stop()


def _path(name: str, sample: Path, asked: argparse.Namespace) -> Path:
    if name == "real":
        return sample
    say("making the generated table, if it is not there …")
    return generate(sample, asked.work, round(asked.rows * asked.scale), asked.seed)


def _describe(keep: Keep, name: str, path: Path, choices: Choices) -> None:
    facts: dict[str, object] = {
        "rows": rows_of(path),
        "types": list(choices.types),
        "districts": len(choices.districts),
        "bound": choices.bound,
    }
    for record in read_records(keep.path):
        if record.key == ("about", name, "table", "") and record.facts != facts:
            raise SystemExit(f"{keep.path} holds figures of another table {name!r}: use another file.")
    keep.add(Record("about", name, "table", "", facts=facts))


def _listed(text: str, known: tuple[str, ...], what: str) -> list[str]:
    names = text.split(",") if text else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"There is no {what} {unknown[0]}; there are {', '.join(known)}.")
    return names


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds crimes.parquet")
    parser.add_argument("--work", type=Path, required=True, help="a folder for the generated table; it is reused")
    parser.add_argument("--keep", type=Path, required=True, help="the file of figures, a line for each run")
    parser.add_argument("--only", default="", help=f"sections, with commas between: {', '.join(_ALL)}")
    parser.add_argument("--tables", default="", help=f"tables, with commas between: {', '.join(_TABLES)}")
    parser.add_argument("--instances", type=int, help="of each query; by default as many as the section has")
    parser.add_argument("--rows", type=int, default=FULL_ROWS, help="of the generated table")
    parser.add_argument("--scale", type=float, default=1.0, help="a share of these rows, for a quick look")
    parser.add_argument("--seed", type=int, default=SEED, help="of the generated table")
    parser.add_argument("--bound", type=float, default=BOUND, help="the least share of reports that a type has")
    parser.add_argument("--runs", type=int, default=3, help="of each case of the section `cores`")
    parser.add_argument("--write", type=Path, help="write the page and its plots; otherwise the page is printed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
