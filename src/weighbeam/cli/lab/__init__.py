"""The commands of `weighbeam lab` and `weighbeam mechanism`."""
