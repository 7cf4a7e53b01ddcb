"""One TOML file plus the environment: what a validator or a miner is run with, and where each value came from."""
