"""What a journal says, page by page, for people and programs that only read."""
