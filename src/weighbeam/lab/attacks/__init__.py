"""The catalogue: one attack a file."""
