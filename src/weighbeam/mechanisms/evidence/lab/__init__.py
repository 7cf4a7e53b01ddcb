"""The lab world of evidence and the attacks on it."""
