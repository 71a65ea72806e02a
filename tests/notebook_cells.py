"""Run the cells of a notebook as Python, in one namespace, and give what each would show. No kernel is started."""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import vl_convert

from trellis.plots.picture import Picture

Output = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    """The notebook as it is on disk."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def run(notebook: dict[str, Any], name: str, namespace: dict[str, Any]) -> list[list[Output]]:
    """The outputs of each cell with code, in order; an error says which cell it is in."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [run_cell("".join(cell["source"]), f"{name}[{n}]", n, namespace) for n, cell in enumerate(cells, start=1)]


def run_cell(source: str, name: str, number: int, namespace: dict[str, Any]) -> list[Output]:
    """What a cell prints, and the value of its last line if that is an expression."""
    body = ast.parse(source, name)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(body, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs: list[Output] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        data = {kind: text.splitlines(keepends=True) for kind, text in shown(value).items()}
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def shown(value: Any) -> dict[str, str]:
    """A value as a notebook keeps it here: as words, and as a few pixels if it is a picture."""
    if isinstance(value, Picture):
        png = vl_convert.vegalite_to_png(value.spec, scale=0.8)
        return {"image/png": base64.b64encode(png).decode("ascii"), "text/plain": repr(value)}
    return {"text/plain": repr(value)}


def words(outputs: list[Output]) -> list[str]:
    """The lines of outputs, without pixels and without what nobody can see."""
    texts = ["".join(output["text"] if "text" in output else output["data"]["text/plain"]) for output in outputs]
    return [line.rstrip() for text in texts for line in text.splitlines()]
