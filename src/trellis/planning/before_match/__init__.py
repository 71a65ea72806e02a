"""What is taken away before the match: prefilters, rows that nobody sees, slices of long series."""
