"""Mechanism `chunking`: cut a document so that each chunk is about one thing (docs/spec/chunking.md)."""
