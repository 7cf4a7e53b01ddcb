"""Options, overrides, progress bars, errors and output that all commands share."""
