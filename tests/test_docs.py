"""Every Python example in README.md and docs/ runs, page by page, and prints what the page says it prints.

The ```python blocks of a page share one namespace and run in order, in a folder of their own. A ```text block right
after a ```python block (nothing but blank lines between) is what that block must print. A picture (`.svg`) of the page
that its code draws, too, says the same: draw it anew with `python tools/draw_pictures.py`. A block below the line
`<!-- no-run -->` is left out; that is for blocks that are no Python (shell commands in them start with `$` or `%`) and
for those that need something that a test cannot have, and then the comment says what: `<!-- no-run: a cluster -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from doc_pages import blocks, run_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page.read_text("utf-8"))], ids=lambda page: page.name
)
def test_page(page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text("utf-8")
    run_page(str(page.relative_to(ROOT)), text, {"__name__": "__main__", "spark": spark})
    for name in re.findall(r"!\[[^\]]*\]\(([^)]+\.svg)\)", text):
        if Path(name).exists():
            assert words(Path(name)) == words(page.parent / name), f"the code of {page.name} draws another {name}"


def words(picture: Path) -> list[str]:
    """The texts in a picture; where exactly they and the marks stand is the business of the package that draws."""
    return re.findall(r">([^<]+)</text>", picture.read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(broken_links(page))


def broken_links(page: Path) -> Iterator[str]:
    """The links of a page to files that are not there, and to headings that no page has."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", text):
        if ":" in target:
            continue
        file = page.parent / target if target else page
        if not file.exists():
            yield target
        elif anchor and anchor not in anchors(file.read_text("utf-8")):
            yield f"{target}#{anchor}"


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as repositories and the site make them."""
    found: list[str] = []
    for heading in re.findall(r"^#+ +(.+?) *$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.append(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return set(found)


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    (tmp_path / "other.md").write_text("# One & two: `x`\n```\n# no heading\n```\n")
    page.write_text("[a](other.md#one--two-x) [b](#here) [c](none.md) [d](other.md#no-heading) [e](x://y#z)\n## Here\n")
    assert list(broken_links(page)) == ["none.md", "other.md#no-heading"]


# ---- the runner itself ----


def test_blocks_share_a_namespace_and_compare_output() -> None:
    page = "a\n```python\nn = 20\n```\n\n  ```python\n  print(n + 1)\n  ```\n\n  ```text\n  21\n  ```\n"
    assert run_page("page.md", page, {}) == 2
    with pytest.raises(AssertionError, match=r"page.md:6 prints something else"):
        run_page("page.md", page.replace("21", "22"), {})


def test_errors_name_the_line_of_the_page() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("page.md", "one\ntwo\n```python\n1 / 0\n```\n", {})
    assert (Path(caught.traceback[-1].path).name, caught.traceback[-1].lineno + 1) == ("page.md", 4)


def test_only_shell_or_a_reason_excuses_a_block() -> None:
    assert run_page("p.md", "<!-- no-run -->\n```python\n$ pip install trellis-spark\n```\n", {}) == 0
    assert run_page("p.md", "<!-- no-run: a cluster -->\n```python\n1 / 0\n```\n", {}) == 0
    with pytest.raises(AssertionError, match="say why"):
        run_page("p.md", "<!-- no-run -->\n```python\n1 / 0\n```\n", {})


def test_other_text_between_blocks_is_no_output() -> None:
    (first,) = blocks("```python\nprint(1)\n```\nThis is a file:\n```text\n2\n```\n")
    assert first.printed is None
