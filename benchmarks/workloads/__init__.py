"""Hundreds of event patterns at once, on a plan that they share."""
