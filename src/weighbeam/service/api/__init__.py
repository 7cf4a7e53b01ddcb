"""The HTTP API: routes, models of bodies and replies, and handlers."""
