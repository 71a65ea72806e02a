"""Trellis beside a real Trino: random queries and tables, and every difference explained. See docs/peers.md."""
