"""List the benchmarks, or run one."""

from __future__ import annotations

import sys

from benchmarks.catalogue import find, listing

_USAGE = """
Run one:         make bench BENCH=rows                or  python -m benchmarks rows
In some seconds: make bench BENCH="rows --quick"      on a few made-up rows
All its options: make bench BENCH="rows --help"
"""


def main(words: list[str]) -> None:
    """The first word is a benchmark, the others are its options."""
    if not words or words[0] in ("-h", "--help"):
        print(f"{listing()}\n{_USAGE}", end="")
        return
    find(words[0]).run(words[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
