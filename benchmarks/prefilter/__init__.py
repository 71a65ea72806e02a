"""Less work before the match: the queries of the paper on row pattern joins."""
