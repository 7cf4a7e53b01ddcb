"""Reading the pages of a round's snippets within the deadline."""
