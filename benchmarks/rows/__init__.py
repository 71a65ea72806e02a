"""Row patterns against what Spark itself needs for the same rows."""
