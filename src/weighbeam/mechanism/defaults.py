"""The mechanisms that defaults of settings and commands mean: the only place outside their folders that names any."""

DEFAULT_MECHANISM = "chunking"
"""Mechanism of every command where none is named."""
CHALLENGED_MECHANISM = "inference"
"""Mechanism of challenges where none is named."""
