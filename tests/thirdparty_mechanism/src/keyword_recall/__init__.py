"""A mechanism that lives outside weighbeam and plugs into it."""
