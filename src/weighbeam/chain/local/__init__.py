"""The embedded chain: one SQLite file that any number of processes open; no server, no block producer."""
