"""The loops of a validator that runs unattended, with health, watchdog and retention."""
