"""Saved pages: folders and WARC files, read and recorded."""
