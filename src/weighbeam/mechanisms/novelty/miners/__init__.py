"""Reference contributors, honest and hostile."""
