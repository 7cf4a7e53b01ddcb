"""Sentence splitters, word pieces and sentiment."""
