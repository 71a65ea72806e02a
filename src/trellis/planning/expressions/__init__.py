"""Expressions between rows: what Spark computes as columns, what becomes a program of the kernel."""
