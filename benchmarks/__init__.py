"""Measurements: ratios of two things timed side by side in one run, and best laps. `make bench` runs them all."""
