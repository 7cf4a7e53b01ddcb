"""The senses on a Ray cluster: a broker, its workers, and the client that falls back to this machine."""
