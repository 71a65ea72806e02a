"""Segment patterns: the logical tree, its conditions, and the choice of a physical tree by cost."""
