"""Row patterns over chunks of rows."""
