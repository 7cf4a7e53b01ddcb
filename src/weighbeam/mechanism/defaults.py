"""The mechanisms that defaults of settings and commands mean: the only place outside their folders that names any."""

DEFAULT_MECHANISM = "chunking"
"""What is run, answered, planned for or simulated where nothing else is named."""
CHALLENGED_MECHANISM = "inference"
"""What challenges of another program are put to where nothing else is named."""
