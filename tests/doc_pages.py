"""Run the Python examples of a page of documentation, and compare what they print with what the page says.

The standard library is enough: `make matrix` does this in environments that hold what a user installs, and no more.
"""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass
from typing import Any

FENCE = re.compile(
    r"(?P<skip><!--\s*no-run(?P<reason>:[^>]*?)?\s*-->\s*\n)?"
    r"^(?P<indent>[ ]*)```python[^\n]*\n(?P<code>.*?)^(?P=indent)```[ ]*$"
    r"(?:\s*?\n+(?P=indent)```text\n(?P<printed>.*?)^(?P=indent)```[ ]*$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    line: int
    code: str
    printed: str | None
    left_out: bool
    reason: str | None


def blocks(text: str) -> list[Block]:
    """The Python blocks of a page, in order."""
    return [
        Block(
            line=text.count("\n", 0, found.start("code")),
            code=_dedent(found["code"], found["indent"]),
            printed=None if found["printed"] is None else _dedent(found["printed"], found["indent"]),
            left_out=found["skip"] is not None,
            reason=found["reason"],
        )
        for found in FENCE.finditer(text)
    ]


def _dedent(text: str, indent: str) -> str:
    return "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))


def run_page(page: str, text: str, namespace: dict[str, Any]) -> int:
    """Run the blocks of a page; the answer is how many ran. Errors name the line of the page."""
    count = 0
    for block in blocks(text):
        if block.left_out:
            shell = re.search(r"^\s*[$%]", block.code, re.MULTILINE)
            assert shell or block.reason, f"{page}:{block.line}: say why this block is left out: <!-- no-run: why -->"
            continue
        printed = io.StringIO()
        code = compile("\n" * block.line + block.code, page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        count += 1
        if block.printed is not None:
            said, wanted = _tidy(printed.getvalue()), _tidy(block.printed)
            assert said == wanted, f"{page}:{block.line} prints something else:\n" + "\n".join(said)
    return count


def _tidy(text: str) -> list[str]:
    """The lines of an output, without what nobody can see."""
    return [line.rstrip() for line in text.strip().splitlines()]
