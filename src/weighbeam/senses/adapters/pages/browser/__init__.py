"""Pages rendered by a confined Chromium."""
