"""A validator from its settings: check, build, run."""
