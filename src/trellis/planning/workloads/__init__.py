"""One plan for many event patterns: what they share, and in which order each is put together."""
