"""The search for events in a worker."""
