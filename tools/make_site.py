"""Build the documentation as a site: `make site`. Pages and their links are laid out in build/pages first.

On the site the README is the first page, and pages that lie outside of docs/ have a place, too. What the site does not
have (source code, programs) is named there without a link.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "pages"
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^[ ]*```.*?^[ ]*```[ ]*$", re.MULTILINE | re.DOTALL)

NAV: dict[str, tuple[str, ...]] = {
    "Start": ("index.md", "quickstart.md", "platforms.md", "cli.md", "studio.md", "contents.md"),
    "Cookbook": ("cookbook/README.md",),
    "Languages": ("language.md", "segments.md", "events.md", "workloads.md", "sqlts.md", "streaming.md"),
    "When something is wrong": ("debugging.md", "why.md", "errors.md"),
    "Running": ("cluster.md", "kafka.md", "prefilter.md"),
    "Reference": ("api.md", "words.md"),
    "Inside": ("how_it_works.md", "peers.md", "contributing.md", "changelog.md", "samples.md"),
    "Measurements": ("benchmarks/README.md",),
}
"""The order of the pages. A page that is not named comes last in the section of its folder, or in the last one."""

REFERENCE: dict[str, tuple[str, ...]] = {
    "SQL and row patterns": ("sql", "pattern", "RowPattern", "explain", "why"),
    "Events and sequences": ("sase", "event_pattern", "EventPattern", "sqlts", "decompress", "progress"),
    "Workloads": ("match_all", "workload", "Workload"),
    "Streams": ("stream_progress", "watch"),
    "Pictures": ("plot", "plot_plan", "show"),
    "Progress": ("progress_bar", "on_progress"),
    "Everything else": (),
    "Errors": ("errors",),
}
"""The pages of the reference, made from docstrings. A public name that is not named is on the page before the last."""


def main() -> int:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    lay_out(PAGES)
    if not build(PAGES, ROOT / "site"):
        print("The site was not built: see the warnings above.", file=sys.stderr)
        return 1
    print(f"The site is in {ROOT / 'site'}: open index.html.")
    return 0


def build(pages: Path, site: Path) -> bool:
    """Build the site of the pages that are laid out; whether that went without a warning."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    options: dict[str, Any] = {"docs_dir": str(pages), "site_dir": str(site), "nav": nav(pages)}
    config = load_config(str(ROOT / "mkdocs.yml"), strict=True, **options)
    config.plugins.on_startup(command="build", dirty=False)
    try:
        build_site(config)
    except Abort:
        return False
    finally:
        config.plugins.on_shutdown()
    return True


# ---- the pages ----


def places() -> dict[Path, str]:
    """Where each page and picture of the repository is on the site."""
    files = [path for kind in ("*.md", "*.svg", "*.png") for path in (ROOT / "docs").rglob(kind)]
    found = {path: str(path.relative_to(ROOT / "docs")) for path in sorted(files)}
    found[ROOT / "docs" / "README.md"] = "contents.md"
    found[ROOT / "README.md"] = "index.md"
    found[ROOT / "CHANGELOG.md"] = "changelog.md"
    found[ROOT / "CONTRIBUTING.md"] = "contributing.md"
    found[ROOT / "src" / "trellis" / "samples" / "README.md"] = "samples.md"
    return found


def lay_out(pages: Path) -> None:
    """Write all pages into a folder, as the site wants them."""
    shutil.rmtree(pages, ignore_errors=True)
    known = places()
    for path, place in known.items():
        target = pages / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(page(path.read_text(encoding="utf-8"), path, known), encoding="utf-8")
        else:
            shutil.copy(path, target)
    (pages / "assets").mkdir()
    shutil.copy(ROOT / "tools" / "iframe-worker.js", pages / "assets")
    for title, names in reference().items():
        (pages / reference_place(title)).parent.mkdir(exist_ok=True)
        listed = "\n\n".join(f"::: trellis.{name}" for name in names)
        (pages / reference_place(title)).write_text(f"# {title}\n\n{listed}\n", encoding="utf-8")


def page(text: str, path: Path, known: dict[Path, str]) -> str:
    """A page of the repository as a page of the site: its links lead to pages of the site."""
    text = re.sub(r"<!--\s*no-run.*?-->\s*\n", "", text)
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [prose(text[end : fence.start()], path, known), fence.group()]
        end = fence.end()
    return "".join([*parts, prose(text[end:], path, known)])


def prose(text: str, path: Path, known: dict[Path, str]) -> str:
    """What stands between blocks of code."""

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return found.group()
        place = known.get((path.parent / target).resolve()) or known.get((path.parent / target / "README.md").resolve())
        if place is None:
            return found["text"] if (path.parent / target).exists() else found.group()  # what is nowhere is told
        way = os.path.relpath(place, Path(known[path]).parent)
        return f"{found['image']}[{found['text']}]({way}{'#' + anchor if anchor else ''})"

    lines = []
    for line in LINK.sub(link, text).splitlines(keepends=True):
        # In tables of a repository's pages a bar in code is escaped; here it is not.
        in_table = line.lstrip().startswith("|")
        lines.append(re.sub(r"`[^`]*`", lambda code: code.group().replace("\\|", "|"), line) if in_table else line)
    return "".join(lines)


# ---- their order ----


def nav(pages: Path) -> list[dict[str, list[Any]]]:
    """The sections of the site with their pages."""
    there = {str(path.relative_to(pages)) for path in pages.rglob("*.md")}
    sections = {title: [place for place in named if place in there] for title, named in NAV.items()}
    sections["Reference"] += [reference_place(title) for title in reference()]
    listed = {place for places in sections.values() for place in places}
    for place in sorted(there - listed):
        sections[_section(place)].append(place)
    return [{title: [*places]} for title, places in sections.items() if places]


def _section(place: str) -> str:
    folder = f"{Path(place).parent}/README.md"
    return next((title for title, named in NAV.items() if folder in named), list(NAV)[-2])


def reference() -> dict[str, list[str]]:
    """The public names on the pages of the reference."""
    pages = {title: [name for name in names if name in public()] for title, names in REFERENCE.items()}
    listed = {name for names in pages.values() for name in names}
    pages[list(REFERENCE)[-2]] += [name for name in public() if name not in listed]
    return pages


def reference_place(title: str) -> str:
    return f"reference/{title.lower().replace(' ', '_')}.md"


def public() -> list[str]:
    sys.path.insert(0, str(ROOT / "src"))
    try:
        import trellis
    finally:
        sys.path.pop(0)
    return [*trellis.__all__]


if __name__ == "__main__":
    raise SystemExit(main())
