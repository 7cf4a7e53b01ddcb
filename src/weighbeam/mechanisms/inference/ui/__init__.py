"""How inference is shown to people."""
