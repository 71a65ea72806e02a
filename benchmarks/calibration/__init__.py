"""The constants of the cost models, fitted to measured times."""
