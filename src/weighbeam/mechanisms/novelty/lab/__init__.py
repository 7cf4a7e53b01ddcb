"""The lab world of novelty and the attacks on it."""
