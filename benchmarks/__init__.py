"""Measurements, each a ratio of two things timed side by side in one run. `make bench` runs them all."""
