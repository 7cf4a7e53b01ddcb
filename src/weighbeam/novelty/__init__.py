"""Pay for what is new, with or without a chain."""
