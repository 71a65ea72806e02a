"""Segment trees over arrays: what a plan asks for, computed with kernels. Knows nothing of Spark, nor of query text."""
