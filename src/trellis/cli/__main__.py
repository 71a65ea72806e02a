"""`python -m trellis.cli` is `trellis`."""

from __future__ import annotations

import sys

from trellis.cli.command import main

if __name__ == "__main__":
    sys.exit(main())
