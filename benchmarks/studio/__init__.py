"""How quick the studio is, in a real browser."""
