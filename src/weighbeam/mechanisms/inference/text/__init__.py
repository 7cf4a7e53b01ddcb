"""Measurements of one text: words, counts, quality, and cosines between texts."""
