"""Plans on Spark: projection, exchange and sort, Arrow batches through the kernels, and the finish."""
