"""Rounds logged to Weights & Biases, by a subprocess that is the only one to import its client."""
