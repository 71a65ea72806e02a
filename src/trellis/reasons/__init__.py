"""Why nothing matched: a report of how far a search came, and what ended it."""
