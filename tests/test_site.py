"""The documentation as a site: where its pages lie, what becomes of their links, and that it builds."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "tools" / "make_site.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_site"] = module
    spec.loader.exec_module(module)
    return module


def test_links_lead_to_pages_of_the_site(site: Any) -> None:
    known = site.places()
    assert site.page("![x](docs/nowhere.png)", ROOT / "README.md", known) == "![x](docs/nowhere.png)"
    text = "[a](docs/events.md#windows) [b](LICENSE) [c](https://x.org/y) [`d`](docs/benchmarks/README.md) [e](#here)\n"
    assert site.page(text, ROOT / "README.md", known) == (
        "[a](events.md#windows) b [c](https://x.org/y) [`d`](benchmarks/README.md) [e](#here)\n"
    )
    back = "![p](../pictures/plan.svg) [r](../../README.md) [s](../../src/trellis/errors.py)\n"
    assert site.page(
        back,
        ROOT / "docs" / "benchmarks" / "rows.md",
        {**known, ROOT / "docs/benchmarks/rows.md": "benchmarks/rows.md"},
    ) == ("![p](../pictures/plan.svg) [r](../index.md) s\n")


def test_code_is_left_as_it_is_and_bars_in_tables_are_bars(site: Any) -> None:
    text = "| `A \\| B` | x \\| y |\n<!-- no-run: why -->\n```python\nx = '[a](docs/events.md) | `a \\| b`'\n```\n"
    laid = site.page(text, ROOT / "README.md", site.places())
    assert laid == "| `A | B` | x \\| y |\n```python\nx = '[a](docs/events.md) | `a \\| b`'\n```\n"


def test_every_page_and_every_public_name_has_a_place(site: Any, tmp_path: Path) -> None:
    site.lay_out(tmp_path)
    (tmp_path / "cookbook").mkdir(exist_ok=True)
    (tmp_path / "cookbook" / "new.md").write_text("# New\n")
    (tmp_path / "another.md").write_text("# Another\n")
    sections = {title: places for section in site.nav(tmp_path) for title, places in section.items()}
    listed = [place for places in sections.values() for place in places]
    assert sorted(listed) == sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md"))
    assert "another.md" in sections["Inside"]
    texts = "".join(path.read_text() for path in (tmp_path / "reference").glob("*.md"))
    assert sorted(re.findall(r"^::: trellis\.(\w+)$", texts, re.MULTILINE)) == sorted(site.public())


@pytest.fixture(scope="module")
def built(site: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the site."""
    for library in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(library, reason="the site needs the extra docs: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    site.lay_out(folder / "pages")
    assert site.build(folder / "pages", folder / "site")
    return folder / "site"


@pytest.mark.thorough
def test_it_builds_and_asks_nobody_else(built: Path) -> None:
    assert (built / "index.html").exists() and (built / "search" / "search_index.json").exists()
    assert 'id="trellis.sql"' in (built / "reference" / "sql_and_row_patterns.html").read_text("utf-8")
    fetched = re.compile(
        r"""<(?:script|img|iframe)[^>]*\bsrc=["']?(?:https?:)?//|<link[^>]*rel=["']?(?:stylesheet|preconnect)[^>]*//"""
    )
    for path in built.rglob("*.html"):
        assert not fetched.search(path.read_text("utf-8")), path
    for path in built.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", path.read_text("utf-8")), path


@pytest.mark.thorough
def test_a_broken_link_stops_it(site: Any, tmp_path: Path, built: Path) -> None:
    site.lay_out(tmp_path / "pages")
    (tmp_path / "pages" / "cli.md").write_text("# The command line\n\n[nowhere](segments.md#nowhere)\n")
    assert not site.build(tmp_path / "pages", tmp_path / "site")


@pytest.mark.thorough
def test_the_search_works_from_a_folder(built: Path) -> None:
    """In a real browser, which asks for files of the folder alone."""
    playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by Playwright")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium")
    asked: list[str] = []
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 800})
        page.on("request", lambda request: asked.append(request.url))
        page.goto((built / "index.html").as_uri())
        page.keyboard.press("f")
        page.keyboard.type("stuck sensors")
        found = page.locator(".md-search-result__item").first
        found.wait_for(timeout=60_000)
        assert "Stuck sensors" in found.inner_text()
        page.goto((built / "cookbook" / "stuck_sensors.html").as_uri())
        assert page.locator("img").first.evaluate("image => image.naturalWidth") > 100
        browser.close()
    assert len(asked) > 5
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
