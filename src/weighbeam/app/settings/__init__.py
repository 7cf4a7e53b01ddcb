"""Settings: their sections, sources, origins and secrets."""
