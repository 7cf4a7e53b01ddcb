"""Served over HTTP: the API of the desk, and its page on the dashboard."""
