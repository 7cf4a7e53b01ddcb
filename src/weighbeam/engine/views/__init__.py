"""Read models of the journal for commands, pages and the reading API; nothing here writes."""
