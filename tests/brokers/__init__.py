"""Trellis between two topics of a real Kafka broker. See docs/kafka.md."""
