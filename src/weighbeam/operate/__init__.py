"""From settings to a running validator or miner."""
