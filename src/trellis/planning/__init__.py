"""From a bound query to a plan: what Spark computes, what kernels compute, and with which instructions."""
