"""Draw the map of the packages into docs/how_it_works.md, from the import table of tests/test_layering.py."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how_it_works.md"
_BLOCK = re.compile(r"(`python tools/draw_map\.py`\):\n\n```\n).*?(\n```)", re.DOTALL)


def draw(table: dict[str, set[str]]) -> str:
    """The parts of a table, each above all parts that it uses, with what it uses."""
    used = {part: {target.split(".")[0] for target in targets} for part, targets in table.items()}
    order: list[str] = []
    while len(order) < len(used):
        free = [part for part in used if part not in order and used[part] <= set(order)]
        if not free:
            raise ValueError(f"no row, or a cycle: {sorted(set().union(*used.values()) - set(order))}")
        order.extend(sorted(free, key=lambda part: (len(used[part]), part)))
    order.reverse()
    width = max(map(len, order))
    lines = []
    for part in order:
        names = [name for name in order if name in used[part]]
        lines.append(f"{part:<{width}}  {'-> ' + ', '.join(names) if names else ''}".rstrip())
    return "\n".join(lines)


def redrawn(page: str, table: dict[str, set[str]]) -> str:
    """The page with the map of the table."""
    return _BLOCK.sub(lambda found: found[1] + draw(table) + found[2], page)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from test_layering import MAY_USE

    PAGE.write_text(redrawn(PAGE.read_text(encoding="utf-8"), MAY_USE), encoding="utf-8")
