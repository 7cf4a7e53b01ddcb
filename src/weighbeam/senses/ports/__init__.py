"""Protocols and plain records of the senses: all that a mechanism may import."""
