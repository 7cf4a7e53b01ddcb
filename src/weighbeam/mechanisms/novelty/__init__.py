"""Mechanism `novelty`: pay for text by its distance from everything contributed before (docs/spec/novelty.md)."""
