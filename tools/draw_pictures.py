"""Draw the pictures in docs/ anew that the code of their pages draws: run the pages, and copy what they drew.

`python tools/draw_pictures.py gaps.md bursts.md` runs these pages alone.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+\.svg)\)")

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from pyspark.sql import SparkSession

    from doc_pages import blocks, run_page

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    wanted = sys.argv[1:]
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        if not PICTURE.search(text) or not blocks(text) or (wanted and page.name not in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            run_page(page.name, text, {"__name__": "__main__", "spark": spark})
            for name in PICTURE.findall(text):
                if Path(name).exists():
                    (page.parent / name).parent.mkdir(exist_ok=True)
                    shutil.copy(name, page.parent / name)
            os.chdir(ROOT)
    spark.stop()
