"""Run the notebooks in examples/ and keep what their cells show: `python tools/run_notebooks.py [FILE ...]`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from pyspark.sql import SparkSession

    import notebook_cells

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or sorted((ROOT / "examples").glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in chosen:
            notebook = notebook_cells.read(path)
            cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
            shown = notebook_cells.run(notebook, path.name, {"__name__": "__main__"})
            for number, (cell, outputs) in enumerate(zip(cells, shown, strict=True), start=1):
                cell["execution_count"], cell["outputs"] = number, outputs
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{path.name}: {len(cells)} cells, {path.stat().st_size / 1e3:.0f} KB")
        os.chdir(ROOT)
    SparkSession.active().stop()
