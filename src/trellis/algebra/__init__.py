"""What a query is: patterns, expressions, queries and plans, as frozen values with a text form."""
