"""How evidence is shown to people."""
