"""The options that benchmarks share, so that one word means the same to all."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["add_data", "add_only", "add_page", "add_run", "announce", "check", "is_quick"]

_QUICK = "TRELLIS_BENCHMARK_QUICK"


def add_run(parser: argparse.ArgumentParser, repeats: int, which: str) -> None:
    """`--quick` and `--repeats`."""
    quick = "some seconds on a few made-up rows: shows that the benchmark works, its figures mean nothing"
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--repeats", type=int, default=repeats, help=f"{which} (default: {repeats})")


def add_only(
    parser: argparse.ArgumentParser, what: str, known: Iterable[str], option: str = "--only", *, default: str = "all"
) -> None:
    """Some parts instead of all."""
    names = list(known)
    chosen = names if default == "all" else []
    parser.add_argument(
        option,
        type=_listed(what, names),
        default=chosen,
        metavar="NAME,NAME",
        help=f"some of: {', '.join(names)} (default: {default})",
    )


def _listed(what: str, known: list[str]) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"there is no {what} {unknown[0]}; there are {', '.join(known)}")
        return names

    return read


def announce(words: Iterable[str]) -> None:
    """Tell modules that are imported later, here and in other processes, whether the run is a quick one."""
    if "--quick" in words:
        os.environ[_QUICK] = "1"


def is_quick() -> bool:
    """Whether the run is a quick one."""
    return _QUICK in os.environ


def add_data(parser: argparse.ArgumentParser) -> None:
    """`--data`."""
    text = "the folder of the Parquet files (default: the environment variable TRELLIS_DATA)"
    parser.add_argument("--data", type=Path, metavar="FOLDER", help=text)


def add_page(parser: argparse.ArgumentParser, page: str) -> None:
    """`--keep`, `--report` and `--write`."""
    parser.set_defaults(page=page)
    keep = "keep every figure in this file at once: a run that is broken off goes on where it stopped"
    parser.add_argument("--keep", type=Path, metavar="FILE", help=keep)
    report = "measure nothing: make the page of the figures that --keep holds"
    parser.add_argument("--report", action="store_true", help=report)
    parser.add_argument("--write", type=Path, metavar="PAGE", help=f"write the page, {page}, instead of printing it")


def check(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> argparse.Namespace:
    """What options mean together: a quick run is short, and mixes its figures with no others."""
    keep = getattr(asked, "keep", None)
    if getattr(asked, "report", False) and (keep is None or not keep.exists()):
        parser.error("--report needs a file of figures: --keep FILE")
    if asked.quick:
        asked.repeats = 1
        if keep is not None and keep.exists() and not asked.report:
            parser.error(f"a quick run needs a file of its own, and {keep} exists")
        if getattr(asked, "data", None) is not None:
            parser.error("a quick run makes up its rows: leave out --data")
    return asked
