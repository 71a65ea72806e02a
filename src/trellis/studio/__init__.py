"""The studio: a page on this machine where queries are written, run and looked at."""

from __future__ import annotations

from trellis.studio.desk import Desk
from trellis.studio.serving import serve

__all__ = ["Desk", "serve"]
