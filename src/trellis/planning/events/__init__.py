"""Plans of event patterns."""
