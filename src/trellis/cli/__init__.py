"""The command line: `trellis run`, `trellis explain`, `trellis warmup`, `trellis version`."""

from __future__ import annotations

from trellis.cli.command import main

__all__ = ["main"]
