"""Rounds: where their tasks come from, how one is played, and how one is recovered."""
