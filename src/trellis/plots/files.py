"""A picture in a file: HTML, PNG, SVG, or its specification. No network and no browser is needed for any of them."""

from __future__ import annotations

import html
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from trellis.errors import ResourceError, UnsupportedError
from trellis.plots.chart import Spec

__all__ = ["check_target", "page_of", "png_of", "write"]

SUFFIXES = (".html", ".png", ".svg", ".json")


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
    content = _content(spec, target.suffix.lower())
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def png_of(spec: Spec) -> bytes:
    """The picture in pixels, two for each of its own in both directions."""
    pixels: bytes = _converter().vegalite_to_png(spec, scale=2)
    return pixels


def page_of(spec: Spec) -> str:
    """The picture as a page."""
    _converter()  # the library may be known from before
    return _page(spec, _library())


def _content(spec: Spec, suffix: str) -> bytes:
    match suffix:
        case ".json":
            return _text(spec).encode()
        case ".png":
            return png_of(spec)
        case ".svg":
            picture: str = _converter().vegalite_to_svg(spec)
            return picture.encode()
        case _:
            return page_of(spec).encode()


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise ResourceError(
            "Drawing needs the package vl-convert-python, which is not installed.",
            cure="Install it with: pip install 'trellis-spark[plot]'",
        ) from None
    return vl_convert


def _text(spec: Spec) -> str:
    return json.dumps(spec, ensure_ascii=False, allow_nan=False)


@cache
def _library() -> str:
    """The JavaScript that draws, bundled with all that it needs."""
    library: str = _converter().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return library


def _page(spec: Spec, library: str) -> str:
    """A page that holds everything it needs. `<` is escaped, so that no value can end the script."""
    data = _text(spec).replace("<", "\\u003c")
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
