"""The composition root: settings become a validator, a miner or a service, and run."""
