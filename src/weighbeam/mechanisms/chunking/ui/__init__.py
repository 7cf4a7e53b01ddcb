"""How chunking is shown to people."""
