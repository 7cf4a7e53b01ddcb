"""The lab world of chunking and the attacks on it."""
