"""The HTTP service: the API, the dashboard, and what both share."""
