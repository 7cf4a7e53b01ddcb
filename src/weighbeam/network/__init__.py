"""Signed HTTP between validator and miners (docs/spec/network.md)."""
