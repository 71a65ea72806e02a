"""Pictures as tests see them: their specifications, their pixels, and how their colours look."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trellis.plots


def plot(*frames: Any, **wanted: Any) -> Path:
    """Draw, and give the file."""
    picture = trellis.plots.plot(*frames, **wanted)
    assert picture.path is not None
    return picture.path


def plot_plan(*args: Any, **wanted: Any) -> Path:
    """Draw a plan, and give the file."""
    picture = trellis.plots.plot_plan(*args, **wanted)
    assert picture.path is not None
    return picture.path


def spec_of(page: Path) -> dict[str, Any]:
    """The chart specification inside an HTML page."""
    found = re.search(r'vegaEmbed\("#chart", (\{.*\}), \{mode', page.read_text(encoding="utf-8"))
    assert found
    return json.loads(found.group(1))


def rows_of(chart: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    """The rows behind the first layer of a panel that has this mark."""
    for layer in chart["layer"]:
        if layer["mark"]["type"] == mark:
            return layer.get("data", chart["data"])["values"]
    return []


def layers_of(chart: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [layer for layer in chart["layer"] if layer["mark"]["type"] == mark]


def pixels_of(png: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The red, green and blue of each pixel of a PNG with 8 bits a channel, as (height, width, 3)."""
    width, height, bits, kind = struct.unpack(">IIBB", png[16:26])
    assert bits == 8 and kind in (2, 6)  # with alpha or without
    depth = {2: 3, 6: 4}[kind]
    data, place = b"", 8
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + size]
        place += size + 12
    assert width > 500 and height > 200
    lines = np.frombuffer(zlib.decompress(data), dtype=np.uint8).reshape(height, 1 + width * depth)
    found = np.zeros((height, width * depth), dtype=np.uint8)
    above = np.zeros(width * depth, dtype=np.uint8)
    for number, line in enumerate(lines):
        above = found[number] = _unfiltered(int(line[0]), line[1:], above, depth)
    return found.reshape(height, width, depth)[:, :, :3]


def _unfiltered(
    kind: int, line: np.ndarray[Any, np.dtype[np.uint8]], above: np.ndarray[Any, np.dtype[np.uint8]], depth: int
) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A line of a PNG without its filter: none, left, above, their mean, or the nearest of three (Paeth)."""
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line.reshape(-1, depth), axis=0, dtype=np.uint8).ravel()
    if kind == 2:
        return line + above
    out, up = [0] * depth, [0] * depth + above.tolist()
    for place, value in enumerate(line.tolist()):
        left, over, corner = out[place], up[place + depth], up[place]
        if kind == 3:
            guess = (left + over) // 2
        else:
            guess = min((left, over, corner), key=lambda near: abs(left + over - corner - near))
        out.append((value + guess) % 256)
    return np.array(out[depth:], dtype=np.uint8)


def count_of(colour: str, pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> int:
    """How many pixels have exactly this colour."""
    return int((pixels == [int(colour[n : n + 2], 16) for n in (1, 3, 5)]).all(axis=2).sum())


def browse(page: Path, *wanted: str) -> str:
    """What a real browser says of a page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no browser is installed")
    quiet = "--disable-background-networking --disable-component-update --disable-sync --no-first-run --disable-quic"
    sandbox = f"--headless --no-sandbox --disable-gpu --virtual-time-budget=8000 --user-data-dir={page.parent / 'user'}"
    command = [browser, *quiet.split(), *sandbox.split(), *wanted, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


# How colours look to readers without long, medium or short cones: Machado, Oliveira and Fernandes, TVCG 2009.
SIGHT = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no medium": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def difference(one: str, other: str, sight: str) -> float:
    """How different two colours look (CIE 1976); about 2 is the least that can be seen."""
    return float(np.linalg.norm(_lab(one, sight) - _lab(other, sight)))


def _lab(colour: str, sight: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    rgb = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    light = np.clip(np.array(SIGHT[sight]) @ light, 0, 1)
    # CIE XYZ, as shares of those of white
    xyz = np.array([[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]]) @ light
    a, b, c = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * b - 16, 500 * (a - b), 200 * (b - c)])
