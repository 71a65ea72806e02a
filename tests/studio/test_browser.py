"""The studio as a user has it: `trellis studio` in a process of its own, and its page in a real browser."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[2]
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
SECRET = "a value that no log may hold"
QUERY = """SELECT * FROM ticks MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY day
    MEASURES A.day AS start, count(DOWN.*) AS falls
    PATTERN (A DOWN{2,})
    DEFINE DOWN AS price < prev(price)
)"""
PRICES = {f"s{p}": [(day * 7 + p) % 11 for day in range(60)] for p in range(4)}
FAILING = QUERY.replace("price < prev(price)", f"price < prev(price) AND raise_error('{SECRET}') IS NULL")


def falls(prices: list[int]) -> int:
    """How often a price falls twice or more in a row."""
    down = "".join("d" if one > other else " " for one, other in pairwise(prices))
    return sum(len(run) > 1 for run in down.split())


@dataclass
class Started:
    """A studio that runs."""

    process: subprocess.Popen[str]
    address: str
    output: IO[str]

    @property
    def port(self) -> int:
        found = re.search(r":(\d+)/", self.address)
        assert found is not None
        return int(found[1])


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    from trellis.java import require_java

    require_java()
    folder = tmp_path_factory.mktemp("studio")
    lines = [f"{symbol},{day},{price}" for symbol, prices in PRICES.items() for day, price in enumerate(prices)]
    (folder / "ticks.csv").write_text("\n".join(["symbol,day,price", *lines]) + "\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "trellis.cli", "studio", "--table", f"ticks={folder / 'ticks.csv'}"]
    command += ["--no-browser", "--sample", "120", "--conf", "spark.python.daemon.module=trellis.spark.daemon"]
    with open(folder / "output", "w+") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output, text=True)
        try:
            yield Started(process, _address(process, folder / "output"), output)
        finally:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[str], output: Path) -> str:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", output.read_text())
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(output.read_text())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    if not Path(CHROMIUM).exists() and shutil.which("chromium") is None:
        pytest.skip("there is no Chromium on this machine")
    with sync.sync_playwright() as playwright:
        path = CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """A tab in a browser of its own, in which nothing may go wrong unseen."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(300_000)  # on a busy machine, too
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("body[data-ran]")  # the first example, or the query in the address
    yield page
    context.close()
    assert not wrong


def write(page: Page, text: str) -> None:
    """Replace the query by typing the last letter, the others at once."""
    page.fill("#query", text[:-1])
    page.focus("#query")
    page.keyboard.press("Control+End")
    page.keyboard.type(text[-1])
    page.wait_for_function("text => document.body.dataset.checked === text", arg=text)


def run(page: Page, keys: str = "Control+Enter") -> str:
    """Run what is written; how that ended."""
    before = page.evaluate("document.body.dataset.ran")
    page.focus("#query")
    page.keyboard.press(keys)
    page.wait_for_function("before => document.body.dataset.ran !== before", arg=before)
    return str(page.evaluate("document.body.dataset.outcome"))


def pixels(page: Page) -> int:
    """How many pixels of the picture are drawn."""
    return int(
        page.evaluate(
            """() => {
                const canvas = document.querySelector("#picture canvas");
                const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                let drawn = 0;
                for (let at = 3; at < data.length; at += 4) drawn += data[at] > 0;
                return drawn;
            }"""
        )
    )


@pytest.mark.spark
def test_mistakes_are_shown_while_one_types(browser: Browser, started: Started) -> None:
    with opened(browser, started.address) as page:
        write(page, QUERY.replace("prev(price)", "prev(prise)"))
        assert page.inner_text(".under .wrong") == "prise"
        assert "no column prise" in page.inner_text(".under .lens")
        problem = page.inner_text("#problem")
        line, carets = problem.splitlines()[1:3]
        assert line[carets.index("^") : carets.rindex("^") + 1] == "prise"
        assert "Did you mean price?" in problem
        assert page.inner_text(".gutter .wrong-line") == "5"
        page.click("#problem .where")
        assert page.evaluate(
            "[query.selectionStart, query.selectionEnd].map(at => at - query.value.indexOf('prise'))"
        ) == [0, 5]
        write(page, QUERY)
        assert page.is_hidden("#problem") and not page.query_selector(".under .wrong")
        write(page, "PATTERN SEQ(A a, B b")
        assert page.is_visible("#problem")


@pytest.mark.spark
def test_a_query_runs_on_a_sample_and_then_on_all_rows(browser: Browser, started: Started) -> None:
    with opened(browser, started.address) as page:
        write(page, QUERY)
        assert run(page) == "done"
        told = page.inner_text("#told")
        assert "a sample: 120 of 240 rows of ticks, whole partitions by symbol" in told
        sampled = int(page.inner_text("#rows"))
        page.wait_for_selector("#picture canvas")
        assert pixels(page) > 2_000
        page.click("[data-tab=table]")
        assert page.locator("#table tbody tr").count() == sampled
        symbols = {row.split()[0] for row in page.locator("#table tbody tr").all_inner_texts()}
        assert len(symbols) == 2 and sampled == sum(falls(PRICES[symbol]) for symbol in symbols)
        assert page.inner_text("#table thead").split() == ["symbol", "start", "falls"]
        assert run(page, "Control+Shift+Enter") == "done"
        assert "all 240 rows of ticks" in page.inner_text("#told")
        assert int(page.inner_text("#rows")) == sum(map(falls, PRICES.values()))
        page.click("[data-tab=explain]")
        page.wait_for_selector("#explain .counts")
        assert "240\nrows in" in page.inner_text("#explain .counts")


@pytest.mark.spark
def test_a_failing_query_shows_its_error_and_the_next_one_runs(browser: Browser, started: Started) -> None:
    with opened(browser, started.address) as page:
        write(page, FAILING)
        assert run(page) == "failed"
        assert "failed" in (page.get_attribute("#told", "class") or "")
        assert SECRET in page.inner_text("#told")
        write(page, QUERY)
        assert run(page) == "done"
    started.output.seek(0)
    said = started.output.read()
    assert SECRET not in said
    assert "Traceback" not in said


@pytest.mark.spark
def test_two_tabs_do_not_disturb_each_other(browser: Browser, started: Started) -> None:
    long = "SELECT sum(a.id * b.id % 7) FROM range(0, 10000000, 1, 1) a CROSS JOIN range(0, 10000000, 1, 1) b"
    with opened(browser, started.address) as one, opened(browser, started.address) as other:
        write(one, long)
        before = one.evaluate("document.body.dataset.ran")
        one.keyboard.press("Control+Enter")
        one.wait_for_selector("#progress:not([hidden])")
        write(other, QUERY)
        assert run(other) == "done"
        assert one.is_visible("#progress")
        one.click("#cancel")
        one.wait_for_function("before => document.body.dataset.ran !== before", arg=before)
        assert one.evaluate("document.body.dataset.outcome") == "cancelled"
        assert other.inner_text("#rows") != ""
        # A newer run of a tab ends the older one.
        one.keyboard.press("Control+Enter")
        one.wait_for_selector("#progress:not([hidden])")
        write(one, QUERY)
        assert run(one) == "done"


@pytest.mark.spark
def test_the_query_stays_in_the_address_and_events_choose_their_columns(browser: Browser, started: Started) -> None:
    with opened(browser, started.address) as page:
        write(page, "PATTERN SEQ(view v, cart c) WHERE skip_till_next_match { [session] } WITHIN 1 hour")
        assert page.is_visible("#event-options")
        page.select_option("#events", "visits")
        page.wait_for_function("() => document.querySelector('#type').value === 'event'")
        assert page.is_hidden("#problem")
        assert run(page) == "done"
        page.wait_for_selector("#picture canvas")
        address = page.evaluate("location.href")
    with opened(browser, address) as page:
        assert page.input_value("#query").startswith("PATTERN SEQ(view v")


@pytest.mark.spark
def test_without_the_token_a_browser_sees_nothing(browser: Browser, started: Started) -> None:
    page = browser.new_page()
    answer = page.goto(re.sub(r"/[^/]+/$", "/another-token/", started.address))
    assert answer is not None and answer.status == 404
    assert "trellis studio" not in page.content().lower()
    page.close()


@pytest.mark.spark
def test_ctrl_c_ends_it_cleanly(started: Started) -> None:
    token = started.address.split("/")[3]
    connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=60)
    until = time.monotonic() + 120
    body = b""
    while b'"ready":true' not in body and time.monotonic() < until:
        connection.request("GET", f"/{token}/api/state")
        body = connection.getresponse().read()
        time.sleep(0.2)
    connection.close()
    assert b'"ready":true' in body
    started.process.send_signal(signal.SIGINT)
    assert started.process.wait(60) == 0
    started.output.seek(0)
    said: Any = started.output.read()
    assert "Traceback" not in said and "interrupted" not in said
    with pytest.raises(OSError):
        http.client.HTTPConnection("127.0.0.1", started.port, timeout=2).request("GET", "/")
