"""Commands that run something or prepare for it: validator, miner, serve, demo, setup, ask."""
