"""How novelty is shown to people."""
