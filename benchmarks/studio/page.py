"""The studio in a process of its own, its page in Chromium, and a clock in the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.processes import let_others_import

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["Bench", "Studio"]

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
SERIES, LENGTH, SAMPLE = 1_000, 1_000, 50_000

_CLOCK = """
    window.clock = { pressed: 0, shown: 0, drawn: 0, begun: {}, took: {} };
    const painted = (what) => requestAnimationFrame(() => setTimeout(() => { clock[what] = performance.now(); }));
    const begin = () => Object.assign(clock, { pressed: performance.now(), shown: 0, drawn: 0 });
    addEventListener("keydown", begin, true);
    new MutationObserver(() => { if (!document.querySelector("#problem").hidden) painted("shown"); })
        .observe(document.querySelector("#problem"), { attributes: true, childList: true });
    new MutationObserver(() => painted("drawn")).observe(document.body, { attributeFilter: ["data-drawn"] });
    const ask = window.fetch;
    window.fetch = async (path, ...rest) => {
        const began = performance.now();
        const answer = await ask(path, ...rest);
        clock.took[path] = performance.now() - began;
        clock.begun[path] = began;
        return answer;
    };
"""
"""Times are taken where a user would see them: when the key goes down, and when the next frame has been painted."""


@dataclass(slots=True)
class Studio:
    """A page that is open, and where the studio writes."""

    page: Page

    def write(self, text: str) -> None:
        """Have a text in the editor, and checked."""
        self.page.fill("#query", text)
        self.page.wait_for_function("text => document.body.dataset.checked === text", arg=text)

    def mistake(self, after: int) -> dict[str, float]:
        """Type a letter, and wait for its error: seconds until it is seen, and until the server had answered."""
        self.page.evaluate("at => { query.focus(); query.setSelectionRange(at, at); }", after)
        self.page.keyboard.press("x")
        self.page.wait_for_function("() => clock.shown > 0")
        times: dict[str, Any] = self.page.evaluate("clock")
        asked = times["begun"]["api/check"] - times["pressed"]
        return _seconds(
            seen=times["shown"] - times["pressed"],
            waited=asked,
            checked=times["took"]["api/check"],
        )

    def run(self) -> dict[str, float]:
        """Run by Ctrl-Enter: seconds until the picture is seen, and until the server had rows and picture."""
        before = self.page.evaluate("document.body.dataset.ran")
        self.page.focus("#query")
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function("before => document.body.dataset.ran !== before && clock.drawn > 0", arg=before)
        outcome = self.page.evaluate("document.body.dataset.outcome")
        if outcome != "done":
            raise SystemExit(f"The query {outcome}: {self.page.inner_text('#told')}")
        times: dict[str, Any] = self.page.evaluate("({ ...document.body.dataset, ...clock })")
        return {
            **_seconds(seen=times["drawn"] - times["pressed"]),
            "rows": float(times["rowsSeconds"]),
            "picture": float(times["pictureSeconds"]),
        }

    @property
    def matches(self) -> str:
        """How many rows the page says there are."""
        return self.page.inner_text("#rows")

    @property
    def told(self) -> str:
        """What the page says that it ran on."""
        return " ".join(self.page.inner_text("#told").split())


@dataclass(slots=True)
class Bench:
    """A run: where its data lies, how large and how often."""

    spark: SparkSession
    folder: Path
    scale: float
    repeats: int

    @property
    def sample(self) -> int:
        """How many rows a sample has."""
        return max(500, round(SAMPLE * self.scale))

    @property
    def series(self) -> int:
        """How many series there are, of `LENGTH` rows each, or fewer in a small run."""
        return max(20, round(SERIES * self.scale))

    @property
    def length(self) -> int:
        """How many rows a series has."""
        return LENGTH if self.scale == 1 else 100

    @contextmanager
    def opened(self) -> Iterator[Studio]:
        """The studio with its table, and its page, ready."""
        table = self.folder / "ticks.parquet"
        if not table.exists():
            _write_ticks(table, self.series, self.length)
        let_others_import()
        command = [sys.executable, "-m", "trellis.cli", "studio", "--table", f"ticks={table}", "--no-browser"]
        output = self.folder / "studio.txt"
        with output.open("w") as file:
            process = subprocess.Popen(
                [*command, "--sample", str(self.sample)], cwd=self.folder, stdout=file, stderr=file, env=os.environ
            )
        try:
            with _page(_address(process, output)) as page:
                yield Studio(page)
        finally:
            process.terminate()
            process.wait()


def _write_ticks(path: Path, series: int, length: int) -> None:
    """So many series of one length, in order of time, as data arrives; prices are noise, so there is much to find."""
    random = np.random.default_rng(1)
    count = series * length
    types = np.array(["buy", "sell", "halt"])[random.choice(3, count, p=[0.48, 0.48, 0.04])]
    columns = {
        "sym": np.arange(count, dtype=np.int32) % series,
        "ts": np.arange(count, dtype=np.int64) // series,
        "price": random.random(count) * 100,
        "type": types,
    }
    pq.write_table(pa.table(columns), path)


def _seconds(**milliseconds: float) -> dict[str, float]:
    return {name: value / 1000 for name, value in milliseconds.items()}


def _address(process: subprocess.Popen[bytes], output: Path) -> str:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", output.read_text())
        if found:
            return found[0]
        time.sleep(0.1)
    raise SystemExit(f"The studio did not start: {output.read_text()}")


@contextmanager
def _page(address: str) -> Iterator[Page]:
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("This benchmark drives Chromium, and there is none: install the package of the system.")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit("This benchmark needs the package playwright: pip install playwright") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        page.wait_for_selector("body[data-ran]")  # of the first example, which the page runs by itself
        page.wait_for_function("fetch('api/state').then(answer => answer.json()).then(state => state.awake)")
        page.evaluate(_CLOCK)
        yield page
        browser.close()
