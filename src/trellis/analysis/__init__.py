"""What a query means for a given input: names, types, and which rows each condition looks at."""
