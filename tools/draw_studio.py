"""Draw the picture of the studio in docs/studio.md anew: a screenshot of an example."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "studio.png"
EXAMPLE = "From the first view to the payment"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    from playwright.sync_api import sync_playwright

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "trellis.cli", "studio", "--no-browser"]
    with tempfile.TemporaryFile("w+") as output, subprocess.Popen(command, env=environment, stdout=output) as process:
        address = None
        while address is None and process.poll() is None:
            time.sleep(0.2)
            output.seek(0)
            found = re.search(r"http://\S+/", output.read())
            address = found[0] if found else None
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(viewport={"width": 1360, "height": 800}, device_scale_factor=1.5)
            page.set_default_timeout(240_000)
            page.goto(str(address))
            page.wait_for_selector("body[data-ran]")
            page.wait_for_selector(".dot.ready")
            before = page.evaluate("document.body.dataset.ran")
            page.select_option("#examples", label=EXAMPLE)
            page.wait_for_function("before => document.body.dataset.ran !== before", arg=before)
            page.wait_for_timeout(1_000)
            PICTURE.parent.mkdir(exist_ok=True)
            page.screenshot(path=PICTURE)
            browser.close()
        process.terminate()


if __name__ == "__main__":
    main()
