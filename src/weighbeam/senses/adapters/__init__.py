"""Implementations of the senses; mechanisms may not import them."""
