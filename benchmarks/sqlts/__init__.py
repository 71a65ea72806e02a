"""SQL-TS: how much a search that skips saves."""
