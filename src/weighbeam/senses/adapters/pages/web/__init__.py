"""Guarded HTTP: URLs, connections, fetching, turns, robots.txt."""
