"""Trellis finds patterns in ordered rows, on Apache Spark."""

from trellis.api import sql

__all__ = ["sql"]
