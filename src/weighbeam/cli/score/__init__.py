"""The `weighbeam score` commands and their tables."""
