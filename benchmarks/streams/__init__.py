"""Patterns on streams: beside the same query on a table, and what is kept."""
