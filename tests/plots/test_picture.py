"""What `plot` gives: notebooks draw it, and it can be saved."""

from __future__ import annotations

import base64
import html
import os
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from plots.pictures import browse, count_of, pixels_of
from trellis.errors import UnsupportedError
from trellis.plots import Picture, plot
from trellis.plots.chart import ACCENT

pytest.importorskip("vl_convert")


@pytest.fixture
def picture() -> Picture:
    days = pd.DataFrame({"day": range(8), "price": [5.0, 4, 3, 2, 3, 4, 5, 5]})
    return plot(pd.DataFrame({"start": [0], "end": [6]}), days, x="day", y="price", title='A "dip" </iframe>')


def test_nothing_is_written_unless_asked(picture: Picture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert picture.path is None and not list(tmp_path.iterdir())
    assert 'Save it: .save("matches.html")' in str(picture)
    with pytest.raises(TypeError, match="in no file yet"):
        os.fspath(picture)
    assert picture.save() == Path("matches.html")
    assert str(picture) == os.fspath(picture) == "matches.html"
    assert repr(picture) == '<Picture: A "dip" </iframe>: 1 match. In matches.html>'


@pytest.mark.parametrize(
    ("suffix", "start"), [("html", b"<!DOCTYPE html>"), ("png", b"\x89PNG"), ("svg", b"<svg"), ("json", b"{")]
)
def test_the_suffix_says_what_to_save(picture: Picture, suffix: str, start: bytes, tmp_path: Path) -> None:
    assert picture.save(tmp_path / f"m.{suffix}").read_bytes().startswith(start)
    with pytest.raises(UnsupportedError, match=r"\.html, \.png, \.svg or \.json"):
        picture.save(tmp_path / "m.doc")


def test_notebooks_get_a_page_a_png_and_words(picture: Picture) -> None:
    bundle = picture._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/html"] == picture._repr_html_()
    found = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" style="[^"]*height:(\d+)px[^"]*" title="[^"]*"></iframe>', bundle["text/html"]
    )
    assert found and 300 < int(found[2]) < 600
    assert html.unescape(found[1]).startswith("<!DOCTYPE html>")


def test_notebooks_without_the_package_get_words(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bundle = picture._repr_mimebundle_()
    assert list(bundle) == ["text/plain"] and "trellis-spark[plot]" in bundle["text/plain"]


@pytest.mark.slow
def test_a_real_browser_draws_two_in_one_notebook(picture: Picture, tmp_path: Path) -> None:
    page = tmp_path / "notebook.html"
    page.write_text(f"<html><body>{picture._repr_html_() * 2}</body></html>", encoding="utf-8")
    browse(page, f"--screenshot={tmp_path / 'm.png'}", "--window-size=1200,1100", "--hide-scrollbars")
    pixels = pixels_of((tmp_path / "m.png").read_bytes())
    height = len(pixels)
    assert count_of(ACCENT, pixels[: height // 2]) > 50
    assert count_of(ACCENT, pixels[height // 2 :]) > 50
