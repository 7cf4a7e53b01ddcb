"""The command line: one file per command group. Heavy imports stay inside the commands, so that help is instant."""
