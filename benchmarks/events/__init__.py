"""Event patterns: the stock stream and the query template of the SASE+ paper, its section 6."""
