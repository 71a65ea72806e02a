"""Segment trees over chunks of rows."""
