"""Web pages, read as a stranger's: guarded at every connection, capped in every way, parsed in another process."""
