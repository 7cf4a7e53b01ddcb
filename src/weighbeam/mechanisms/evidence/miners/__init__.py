"""Reference evidence miners, honest and hostile."""
