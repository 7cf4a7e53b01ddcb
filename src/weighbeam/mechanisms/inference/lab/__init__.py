"""The lab world of inference and the attacks on it."""
