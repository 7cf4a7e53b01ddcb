"""Pages: fetched from the web or read from an archive, parsed or rendered to visible text."""
