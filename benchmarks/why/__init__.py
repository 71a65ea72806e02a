"""Why nothing matched: what asking costs."""
