"""Seasons of simulated rounds: worlds, populations, and what is measured of them."""
