"""Segment patterns: the templates of the T-ReX paper, kernels only."""
