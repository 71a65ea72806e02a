"""Searches over rows that keep coming: what is kept between micro-batches, and one step with new rows."""
