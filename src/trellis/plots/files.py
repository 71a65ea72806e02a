"""A picture in a file: HTML, PNG or SVG. No network and no browser is needed for any of them."""

from __future__ import annotations

import html
import json
import os
from functools import cache
from pathlib import Path

from trellis.errors import ResourceError, UnsupportedError
from trellis.plots.chart import Spec

__all__ = ["check_target", "write"]

SUFFIXES = (".html", ".png", ".svg")


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path, if its suffix says what to write."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UnsupportedError(
            f"Cannot tell from {target.name!r} what kind of picture to write.",
            cure=f"Let the path end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.",
        )
    return target


def write(spec: Spec, target: Path) -> Path:
    """Write the picture, in the form that the suffix names."""
    try:
        import vl_convert
    except ImportError:
        raise ResourceError(
            "Drawing needs the package vl-convert-python, which is not installed.",
            cure="Install it with: pip install 'trellis-spark[plot]'",
        ) from None
    target.parent.mkdir(parents=True, exist_ok=True)
    match target.suffix.lower():
        case ".png":
            target.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
        case ".svg":
            target.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
        case _:
            target.write_text(_page(spec, _library()), encoding="utf-8")
    return target


@cache
def _library() -> str:
    """The JavaScript that draws, bundled with all that it needs."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def _page(spec: Spec, library: str) -> str:
    """A page that holds everything it needs. `<` is escaped, so that no value can end the script."""
    data = json.dumps(spec, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{html.escape(spec["title"]["text"].strip() or "Matches")}</title>
<style>body {{ margin: 0; }} #chart {{ display: flex; justify-content: center; }}</style>
<script>{library}</script>
</head>
<body>
<div id="chart"></div>
<script>
vegaEmbed("#chart", {data}, {{mode: "vega-lite", renderer: "canvas"}}).catch(console.error);
</script>
</body>
</html>
"""
