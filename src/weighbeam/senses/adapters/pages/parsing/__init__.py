"""Bodies to visible text, in a process that can be stopped."""
