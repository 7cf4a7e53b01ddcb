"""Reference inference miners, honest and hostile."""
