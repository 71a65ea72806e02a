"""Plans as text, for people."""
