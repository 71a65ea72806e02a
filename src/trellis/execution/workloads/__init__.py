"""Many event patterns at once: joins of events along a shared tree, matches out."""
