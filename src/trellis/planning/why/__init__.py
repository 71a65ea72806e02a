"""Why nothing matched: the plan of a search that follows every partial match."""
