"""Mechanism `evidence`: quotes from web pages that support or contradict a statement (docs/spec/evidence.md)."""
